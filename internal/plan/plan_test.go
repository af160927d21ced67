package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	meta     = metav1.ObjectMeta{Name: "web-2"}
	pod      = &corev1.Pod{ObjectMeta: meta}
	claim    = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-2"}}
	revision = &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-7d9c"}}
	why      = Because(SlotMissing, "slot %d has no pod", 2)
)

// every lists one action of each kind with its name and the event it makes.
var every = []struct {
	action              Action
	wantName, wantEvent string
}{
	{AdoptPod{Pod: pod, Reason: why}, "adopt pod web-2", ""},
	{ReleasePod{Pod: pod, Reason: why}, "release pod web-2", ""},
	{AdoptRevision{Revision: revision, Reason: why}, "adopt revision web-7d9c", ""},
	{UpdatePod{Pod: pod, Reason: why}, "repair the identity of pod web-2", "Update"},
	{UpdateClaimOwner{Claim: claim, Reason: why}, "set the owner of claim data-web-2", ""},
	{CreateClaim{Claim: claim, Reason: why}, "create claim data-web-2", "Create"},
	{CreatePod{Pod: pod, Revision: "web-7d9c", Reason: why}, "create pod web-2 at revision web-7d9c", "Create"},
	{DeletePod{Pod: pod, Reason: why}, "delete pod web-2", "Delete"},
	{CreateRevision{Revision: revision, Reason: why}, "create revision web-7d9c", ""},
	{BumpRevision{Revision: revision, Number: 4, Reason: why}, "renumber revision web-7d9c to 4", ""},
	{DeleteRevision{Revision: revision, Reason: why}, "delete revision web-7d9c", ""},
}

func TestActions(t *testing.T) {
	for _, test := range every {
		t.Run(test.wantName, func(t *testing.T) {
			if got := test.action.String(); got != test.wantName {
				t.Errorf("String() = %q", got)
			}
			if got := test.action.Why(); got != why {
				t.Errorf("Why() = %v", got)
			}
			if got := test.action.Object().GetName(); got == "" {
				t.Error("Object() has no name")
			}
		})
	}
}

func TestActionEvent(t *testing.T) {
	for _, test := range every {
		t.Run(test.wantName, func(t *testing.T) {
			done, ok := ActionEvent(test.action, nil)
			failed, _ := ActionEvent(test.action, errors.New("no quota"))
			if !ok && test.wantEvent == "" {
				return
			}
			wantDone := Event{corev1.EventTypeNormal, "Successful" + test.wantEvent, test.wantName + " (slot 2 has no pod)"}
			wantFailed := Event{corev1.EventTypeWarning, "Failed" + test.wantEvent, "could not " + test.wantName + " (slot 2 has no pod): no quota"}
			if diff := cmp.Diff([]Event{wantDone, wantFailed}, []Event{done, failed}); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	p := Plan{Steps: []Step{
		{Lanes: []Lane{{every[5].action, every[6].action}, {every[7].action}}},
		{Lanes: []Lane{{every[10].action}}},
	}}
	want := "create claim data-web-2 (slot 2 has no pod)\n" +
		"create pod web-2 at revision web-7d9c (slot 2 has no pod)\n" +
		"delete pod web-2 (slot 2 has no pod)\n" +
		"delete revision web-7d9c (slot 2 has no pod)\n"
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("String (-want +got):\n%s", diff)
	}
	if p.IsEmpty() {
		t.Error("a plan with actions is empty")
	}
	for action := range p.Actions() {
		if action.String() != every[5].wantName {
			t.Errorf("the first action is %s", action)
		}
		break
	}
}

func TestIsEmpty(t *testing.T) {
	if p := (Plan{Steps: []Step{{}}}); !p.IsEmpty() {
		t.Error("a plan without actions is not empty")
	}
	if p := (Plan{NeedsLiveRead: LiveReads{Pods: true}}); p.IsEmpty() {
		t.Error("a plan that is yet to be made is empty")
	}
}

// TestSuccessEvents: what was done to many objects alike is one event, in the order of their ordinals.
func TestSuccessEvents(t *testing.T) {
	create := func(name, revision string) Action {
		return CreatePod{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, Revision: revision, Reason: why}
	}
	remove := func(name string, code ReasonCode) Action {
		return DeletePod{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, Reason: Because(code, "so it is")}
	}
	tests := map[string]struct {
		actions []Action
		want    []string
	}{
		"none":                {nil, nil},
		"without an event":    {[]Action{DeleteRevision{Revision: revision, Reason: why}}, nil},
		"one":                 {[]Action{create("web-2", "a")}, []string{"create pod web-2 at revision a (slot 2 has no pod)"}},
		"three alike":         {[]Action{create("web-10", "a"), create("web-2", "a"), create("web-9", "a")}, []string{"create pod web-2 at revision a (slot 2 has no pod), and likewise 2 more: web-9, web-10"}},
		"different revisions": {[]Action{create("web-2", "a"), create("web-3", "b")}, []string{"create pod web-2 at revision a (slot 2 has no pod)", "create pod web-3 at revision b (slot 2 has no pod)"}},
		"different reasons":   {[]Action{remove("web-1", Outdated), remove("web-0", PodEnded)}, []string{"delete pod web-1 (so it is)", "delete pod web-0 (so it is)"}},
		"creates and deletes": {[]Action{create("web-2", "a"), remove("web-1", Outdated), remove("web-0", Outdated)}, []string{"create pod web-2 at revision a (slot 2 has no pod)", "delete pod web-0 (so it is), and likewise 1 more: web-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, event := range SuccessEvents(test.actions) {
				got = append(got, event.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	tests := map[string]metav1.Object{
		KindPod: pod, KindClaim: claim, KindRevision: revision, "": &corev1.Secret{},
		"Known": &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Known"}},
	}
	for want, object := range tests {
		if got := KindOf(object); got != want {
			t.Errorf("the kind of a %T is %q, want %q", object, got, want)
		}
	}
}
