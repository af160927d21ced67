package execute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func labelled(pod *corev1.Pod, labels map[string]string) *corev1.Pod {
	pod.Labels = labels
	return pod
}

func ownedBy(pod *corev1.Pod, set *v1.StatefulSet) *corev1.Pod {
	pod.OwnerReferences = nil
	if set != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, v1.Kind)}
	}
	return pod
}

// A create that meets a pod of that name looks at it: it may be ours.
func TestCreatePodThatExists(t *testing.T) {
	identity := map[string]string{v1.PodNameLabel: "web-0", v1.PodIndexLabel: "0"}
	tests := map[string]struct {
		existing *corev1.Pod
		wantErr  string
		// wantDone is the action that was really done; "" for none.
		wantDone string
	}{
		"ours, not seen yet": {
			existing: labelled(pod("web-0"), identity),
		},
		"ours, lost its label": {
			existing: labelled(pod("web-0"), map[string]string{"app": "web"}),
			wantDone: "repair the identity of pod web-0",
		},
		"somebody else's": {
			existing: ownedBy(labelled(pod("web-0"), identity), testkit.MakeSet("other").Obj()),
			wantErr:  "pod web-0 exists and does not belong to this set",
		},
		"nobody's": {
			existing: ownedBy(pod("web-0"), nil),
			wantErr:  "pod web-0 exists and does not belong to this set",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, test.existing)
			done, err := b.perform(t.Context(), plan.CreatePod{Pod: labelled(pod("web-0"), identity)})
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) || !apierrors.IsForbidden(err) {
					t.Fatalf("error %v, want a refusal with %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if done.action != nil {
				got = done.action.String()
			}
			if got != test.wantDone {
				t.Errorf("did %q, want %q", got, test.wantDone)
			}
			after := &corev1.Pod{}
			if err := b.Get(t.Context(), client.ObjectKeyFromObject(test.existing), after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("web-0", after.Labels[v1.PodNameLabel]); diff != "" || done.object.GetResourceVersion() != after.ResourceVersion {
				t.Errorf("the pod has label %q and version %s, the effect version %s",
					after.Labels[v1.PodNameLabel], after.ResourceVersion, done.object.GetResourceVersion())
			}
		})
	}
}

// A revision of the name is the one wanted if it is ours and has the same data; otherwise the names collide.
func TestCreateRevisionThatExists(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	wanted := testkit.Revision(set, "b", 2)
	tests := map[string]struct {
		change  func(*appsv1.ControllerRevision)
		wantErr bool
	}{
		"the same":        {change: func(*appsv1.ControllerRevision) {}},
		"other data":      {change: func(r *appsv1.ControllerRevision) { r.Data.Raw = []byte(`{}`) }, wantErr: true},
		"somebody else's": {change: func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "other" }, wantErr: true},
		"nobody's":        {change: func(r *appsv1.ControllerRevision) { r.OwnerReferences = nil }, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			existing := wanted.DeepCopy()
			test.change(existing)
			b := newBench(t, nil, existing)
			done, err := b.perform(t.Context(), plan.CreateRevision{Revision: wanted})
			if apierrors.IsAlreadyExists(err) != test.wantErr {
				t.Errorf("error %v, want \"already exists\": %v", err, test.wantErr)
			}
			if err == nil && (done.action != nil || done.object == nil) {
				t.Errorf("effect %+v, want the revision that exists and no action", done)
			}
		})
	}
}

// That the pod observed is gone is what a delete is for; that it changed is not.
func TestDeletePodAnswers(t *testing.T) {
	observed := pod("web-0")
	observed.UID, observed.ResourceVersion = "observed", "7"
	successor := pod("web-0")
	successor.UID = "successor"
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", nil)
	tests := map[string]struct {
		there    *corev1.Pod
		answer   error
		wantErr  bool
		wantDone bool
	}{
		"deleted":             {there: observed, wantDone: true},
		"gone":                {},
		"successor":           {there: successor, answer: conflict},
		"changed in between":  {there: observed, answer: conflict, wantErr: true},
		"gone after conflict": {answer: conflict},
		"refused":             {there: observed, answer: errQuota, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.there != nil {
				there := test.there.DeepCopy()
				there.ResourceVersion = ""
				objects = append(objects, there)
			}
			b := newBench(t, func(string) error { return test.answer }, objects...)
			done, err := b.perform(t.Context(), plan.DeletePod{Pod: observed})
			if (err != nil) != test.wantErr {
				t.Fatalf("error %v, want one: %v", err, test.wantErr)
			}
			if (done.action != nil) != test.wantDone {
				t.Errorf("effect %+v, want an action: %v", done, test.wantDone)
			}
			if err == nil && !done.isDelete {
				t.Error("the pod is not noted as deleted")
			}
		})
	}
}

// Patches hold the change alone and name the object they are meant for.
func TestPatches(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	owner := *metav1.NewControllerRef(set, v1.Kind)
	observed := pod("web-0")
	observed.UID = "pod"
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", UID: "claim", ResourceVersion: "7"}}
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-b", UID: "revision"}}
	const ownerJSON = `{"apiVersion":"apps.rollcall.dev/v1","kind":"StatefulSet","name":"web","uid":"web-uid","controller":true,"blockOwnerDeletion":true}`
	tests := map[string]struct {
		action   plan.Action
		wantKind types.PatchType
		want     string
	}{
		"adopt a pod": {
			plan.AdoptPod{Pod: observed, Owner: owner},
			types.StrategicMergePatchType,
			`{"metadata":{"ownerReferences":[` + ownerJSON + `],"uid":"pod"}}`,
		},
		"release a pod": {
			plan.ReleasePod{Pod: observed},
			types.StrategicMergePatchType,
			`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"web-uid"}],"uid":"pod"}}`,
		},
		"adopt a revision": {
			plan.AdoptRevision{Revision: revision, Owner: owner},
			types.StrategicMergePatchType,
			`{"metadata":{"ownerReferences":[` + ownerJSON + `],"uid":"revision"}}`,
		},
		"repair a pod": {
			plan.UpdatePod{Pod: observed, Labels: map[string]string{v1.PodNameLabel: "web-0"}},
			types.MergePatchType,
			`{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":"web-0"},"uid":"pod"}}`,
		},
		"own a claim": {
			plan.UpdateClaimOwner{Claim: claim, Owners: []metav1.OwnerReference{owner}},
			types.MergePatchType,
			`{"metadata":{"ownerReferences":[` + ownerJSON + `],"resourceVersion":"7","uid":"claim"}}`,
		},
		"disown a claim": {
			plan.UpdateClaimOwner{Claim: claim},
			types.MergePatchType,
			`{"metadata":{"ownerReferences":[],"resourceVersion":"7","uid":"claim"}}`,
		},
		"renumber a revision": {
			plan.BumpRevision{Revision: revision, Number: 9},
			types.MergePatchType,
			`{"metadata":{"uid":"revision"},"revision":9}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := changeFor(test.action)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got.data)); diff != "" || got.kind != test.wantKind {
				t.Errorf("%s, want %s (-want +got):\n%s", got.kind, test.wantKind, diff)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	tests := map[string]struct {
		text string
		most int
		want string
	}{
		"fits":                {"pod", 3, "pod"},
		"cut":                 {"a long text", 6, "a l..."},
		"never half a letter": {"ääää", 6, "ä..."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := shorten(test.text, test.most); got != test.want {
				t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
			}
		})
	}
}
