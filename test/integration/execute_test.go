package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// perform has the executor carry out one action at the API server.
func perform(t *testing.T, ns *cluster.Space, action plan.Action) execute.Outcome {
	t.Helper()
	executor := execute.New(execute.Targets{
		Writer: ns.Client, Live: ns.Client, Events: events.NewFakeRecorder(10), Now: time.Now,
	})
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "web"}}
	todo := plan.Plan{Steps: []plan.Step{{Pace: plan.InTurn, Lanes: []plan.Lane{{action}}}}}
	return executor.Run(ns.Context, set, todo, func([]plan.Failure) v1.StatefulSetStatus { return set.Status })
}

// running creates a pod and waits until it runs, so that a deletion takes its time.
func running(t *testing.T, ns *cluster.Space, name string, owners ...metav1.OwnerReference) *corev1.Pod {
	t.Helper()
	pod := newPod(ns, name)
	pod.OwnerReferences = owners
	pod.Annotations = map[string]string{"sim.rollcall.dev/stop-delay": "never"}
	create(t, ns, pod)
	ns.Eventually(t, name+" is ready", func(ctx context.Context) error {
		if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil || !isReady(pod) {
			return fmt.Errorf("ready %v: %w", isReady(pod), err)
		}
		return nil
	})
	return pod
}

// A delete hits exactly the pod observed, in the version observed if that is asked for, and leaves it its time to stop.
func TestDeleteHitsThePodObserved(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change      func(observed *corev1.Pod)
		ifUnchanged bool
		wantDeleted bool
		wantErr     bool
	}{
		"the one observed":               {wantDeleted: true},
		"the version observed":           {ifUnchanged: true, wantDeleted: true},
		"an older version, whatever":     {change: func(pod *corev1.Pod) { pod.ResourceVersion = "1" }, wantDeleted: true},
		"an older version, if unchanged": {change: func(pod *corev1.Pod) { pod.ResourceVersion = "1" }, ifUnchanged: true, wantErr: true},
		"its predecessor":                {change: func(pod *corev1.Pod) { pod.UID = "predecessor" }},
		"its predecessor, if unchanged":  {change: func(pod *corev1.Pod) { pod.UID = "predecessor" }, ifUnchanged: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := cluster.Namespace(t, cluster.Nodes)
			observed := running(t, ns, "web-0")
			if test.change != nil {
				test.change(observed)
			}
			outcome := perform(t, ns, plan.DeletePod{Pod: observed, IfUnchanged: test.ifUnchanged})
			if (outcome.Err() != nil) != test.wantErr {
				t.Errorf("error %v, want one: %v", outcome.Err(), test.wantErr)
			}
			current := &corev1.Pod{}
			if err := ns.Client.Get(ns.Context, client.ObjectKeyFromObject(observed), current); err != nil {
				t.Fatal(err)
			}
			if got := current.DeletionTimestamp != nil; got != test.wantDeleted {
				t.Errorf("deleted: %v, want %v", got, test.wantDeleted)
			}
			if grace := current.DeletionGracePeriodSeconds; grace != nil && *grace != 30 {
				t.Errorf("grace period %d s, want the pod's own of 30", *grace)
			}
		})
	}
}

// Adoption and release leave other owners alone and never hit a namesake.
func TestOwnerPatches(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t, cluster.Nodes)
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web-uid"}}
	owner := *metav1.NewControllerRef(set, v1.Kind)
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "settings", UID: newConfigMap(t, ns, "settings")}
	owner.UID, owner.APIVersion, owner.Kind, owner.Name = newConfigMap(t, ns, "owner"), "v1", "ConfigMap", "owner"
	pod := running(t, ns, "web-0", other)

	namesake := pod.DeepCopy()
	namesake.UID = "another"
	if err := perform(t, ns, plan.AdoptPod{Pod: namesake, Owner: owner}).Err(); !apierrors.IsConflict(err) {
		t.Errorf("adopting a namesake: %v, want a conflict", err)
	}
	if err := perform(t, ns, plan.AdoptPod{Pod: pod, Owner: owner}).Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{other, owner}, ownersOf(t, ns, pod), byName); diff != "" {
		t.Errorf("owners after the adoption (-want +got):\n%s", diff)
	}
	if err := perform(t, ns, plan.ReleasePod{Pod: pod}).Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{other}, ownersOf(t, ns, pod), byName); diff != "" {
		t.Errorf("owners after the release (-want +got):\n%s", diff)
	}
}

var byName = cmpopts.SortSlices(func(a, b metav1.OwnerReference) bool { return a.Name < b.Name })

func newConfigMap(t *testing.T, ns *cluster.Space, name string) types.UID {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: name}}
	create(t, ns, object)
	return object.UID
}

// ownersOf reads a pod anew and returns its owners.
func ownersOf(t *testing.T, ns *cluster.Space, pod *corev1.Pod) []metav1.OwnerReference {
	t.Helper()
	if err := ns.Client.Get(ns.Context, client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	return pod.OwnerReferences
}
