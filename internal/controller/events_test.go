package controller

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func pod(name string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: testkit.Namespace, Name: name, OwnerReferences: owners}}
}

func terminatingPod(name string) *corev1.Pod {
	terminating := pod(name)
	terminating.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	return terminating
}

// Whom an event wakes.
func TestRouting(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	web, gone := testkit.MakeSet("web").Obj(), testkit.MakeSet("gone").Obj()
	route := &router{sets: fake.NewClientBuilder().WithScheme(scheme).WithObjects(web).Build(), claims: claimUsers{}}
	ours := func(set *v1.StatefulSet) metav1.OwnerReference { return *metav1.NewControllerRef(set, v1.Kind) }
	builtIn := *metav1.NewControllerRef(web, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	tests := map[string]struct {
		object client.Object
		want   []string
	}{
		"a pod of ours":                   {object: pod("web-0", ours(web)), want: []string{"web"}},
		"a pod of ours with an odd name":  {object: pod("odd", ours(web)), want: []string{"web"}},
		"a pod of a set that is gone":     {object: pod("gone-0", ours(gone)), want: []string{"gone"}},
		"an orphan with a name of ours":   {object: pod("web-0"), want: []string{"web"}},
		"an orphan of nobody":             {object: pod("db-0")},
		"a name without an ordinal":       {object: pod("web")},
		"apps/v1's pod in the way of us":  {object: pod("web-0", builtIn), want: []string{"web"}},
		"apps/v1's pod in nobody's way":   {object: pod("db-0", builtIn)},
		"a revision of ours":              {object: testkit.Revision(web, "a", 1), want: []string{"web"}},
		"a claim that two sets would use": {object: &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}, want: []string{"one", "two"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			find := route.owner
			if _, isClaim := test.object.(*corev1.PersistentVolumeClaim); isClaim {
				find = route.users
			}
			var got []string
			for _, request := range find(t.Context(), test.object) {
				got = append(got, request.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
		})
	}
}

// claimUsers says that two sets use every claim.
type claimUsers struct{}

func (claimUsers) SetsOfClaim(context.Context, types.NamespacedName) ([]types.NamespacedName, error) {
	return []types.NamespacedName{{Name: "one"}, {Name: "two"}}, nil
}

// Which changes wake anybody at all.
func TestChangesThatMatter(t *testing.T) {
	tests := map[string]struct {
		filter predicate.Predicate
		object client.Object
		change func(client.Object)
		want   bool
	}{
		"set: spec": {
			specChanged(), testkit.MakeSet("web").Obj(),
			func(o client.Object) { o.SetGeneration(2) }, true,
		},
		"set: our own status write": {
			specChanged(), testkit.MakeSet("web").Obj(),
			func(o client.Object) { o.(*v1.StatefulSet).Status.Replicas = 3; o.SetResourceVersion("2") }, false,
		},
		"set: replaced by a namesake": {
			specChanged(), testkit.MakeSet("web").Obj(),
			func(o client.Object) { o.SetUID("another") }, true,
		},
		"pod: phase": {
			podChanged(), pod("web-0"),
			func(o client.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodRunning }, true,
		},
		"pod: readiness": {
			podChanged(), pod("web-0"),
			func(o client.Object) {
				o.(*corev1.Pod).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}}
			}, true,
		},
		"pod: deletion": {
			podChanged(), pod("web-0"),
			func(o client.Object) { o.SetDeletionTimestamp(&metav1.Time{Time: testkit.Now}) }, true,
		},
		"pod: deletion brought forward": {
			podChanged(), terminatingPod("web-0"),
			func(o client.Object) {
				o.SetDeletionTimestamp(&metav1.Time{Time: testkit.Now.Add(-time.Second)})
				o.SetDeletionGracePeriodSeconds(new(int64))
			}, false,
		},
		"pod: labels": {
			podChanged(), pod("web-0"),
			func(o client.Object) { o.SetLabels(map[string]string{"app": "web"}) }, true,
		},
		"pod: owners": {
			podChanged(), pod("web-0"),
			func(o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{{Name: "web"}}) }, true,
		},
		"pod: only its version": {
			podChanged(), pod("web-0"),
			func(o client.Object) { o.SetResourceVersion("2") }, false,
		},
		"claim: bound": {
			metaChanged(), &corev1.PersistentVolumeClaim{},
			func(o client.Object) { o.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimBound }, false,
		},
		"claim: owners": {
			metaChanged(), &corev1.PersistentVolumeClaim{},
			func(o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{{Name: "web"}}) }, true,
		},
		"revision: number": {
			metaChanged(), &appsv1.ControllerRevision{},
			func(o client.Object) { o.(*appsv1.ControllerRevision).Revision = 2 }, true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after := test.object.DeepCopyObject().(client.Object)
			test.change(after)
			if got := test.filter.Update(event.UpdateEvent{ObjectOld: test.object, ObjectNew: after}); got != test.want {
				t.Errorf("passes: %v, want %v", got, test.want)
			}
			if !test.filter.Create(event.CreateEvent{Object: test.object}) || !test.filter.Delete(event.DeleteEvent{Object: test.object}) {
				t.Error("creations and deletions must always pass")
			}
		})
	}
}
