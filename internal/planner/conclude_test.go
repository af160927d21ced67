package planner_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

var (
	pods      = schema.GroupResource{Resource: "pods"}
	overQuota = apierrors.NewForbidden(pods, "web-0", errors.New("exceeded quota: small"))
)

// failAll fails every action of a plan.
func failAll(p plan.Plan, err error) []plan.Failure {
	var failures []plan.Failure
	for action := range p.Actions() {
		failures = append(failures, plan.Failure{Action: action, Err: err})
	}
	return failures
}

func TestConcludeRefusals(t *testing.T) {
	tests := map[string]struct {
		fleet      string
		err        error
		wantReason string
	}{
		"quota":                   {"", overQuota, v1.ReasonFailedCreate},
		"invalid":                 {"", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "web-0", nil), v1.ReasonFailedCreate},
		"a delete":                {"0:a/failed", overQuota, v1.ReasonFailedDelete},
		"server overloaded":       {"", apierrors.NewTooManyRequestsError("later"), ""},
		"server broken":           {"", apierrors.NewInternalError(errors.New("etcd")), ""},
		"no answer":               {"", errors.New("connection refused"), ""},
		"the name is taken":       {"", apierrors.NewAlreadyExists(pods, "web-0"), v1.ReasonFailedCreate},
		"changed in the meantime": {"0:a/failed", apierrors.NewConflict(pods, "web-0", errors.New("resourceVersion")), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(web(1).Current("a").Obj(), "a", test.fleet)
			p := planner.Compute(o)
			status := planner.Conclude(o, p, failAll(p, test.err))
			if test.wantReason == "" {
				if diff := cmp.Diff(p.Status, status); diff != "" {
					t.Errorf("the status mentions it (-plan +concluded):\n%s", diff)
				}
				return
			}
			wantCondition(t, status, v1.ConditionReplicaFailure, "True", test.wantReason)
			wantCondition(t, status, v1.ConditionStalled, "True", test.wantReason)
			wantCondition(t, status, v1.ConditionReconciling, "", "")
			wantCondition(t, status, v1.ConditionReady, "False", v1.ReasonUnavailable)
			if got := status.Replicas; got != p.Status.Replicas {
				t.Errorf("replicas = %d, want the %d observed", got, p.Status.Replicas)
			}
		})
	}
}

// TestRefusalDoesNotFlap: the same refusal again changes nothing, and a success
// takes it back.
func TestRefusalDoesNotFlap(t *testing.T) {
	o := testkit.Observe(web(1).Current("a").Obj(), "a", "")
	p := planner.Compute(o)
	o.Set.Status = planner.Conclude(o, p, failAll(p, overQuota))

	o.Now = o.Now.Add(time.Minute)
	p = planner.Compute(o)
	again := planner.Conclude(o, p, failAll(p, overQuota))
	if planner.StatusChanged(o.Set, again) {
		t.Errorf("the status changed (-before +after):\n%s", cmp.Diff(o.Set.Status, again))
	}
	after := planner.Conclude(o, p, nil)
	if meta.FindStatusCondition(after.Conditions, v1.ConditionReplicaFailure) != nil {
		t.Error("ReplicaFailure stays after the create succeeded")
	}
}

// TestUnrecordedRevisionIsNotClaimed: a target that is not recorded must not be
// called observed, or clients take the old state for the new one.
func TestUnrecordedRevisionIsNotClaimed(t *testing.T) {
	set := web(1).Current("a").Obj()
	o := testkit.Observe(set, "a", "0:a/available")
	set.Status = planner.Compute(o).Status
	set.Generation, set.Spec.Template.Spec.Containers[0].Image = 2, "b"
	testkit.SetState(o.Pods[0], "crashing", testkit.Now)
	o = withTemplates(t, o)
	p := planner.Compute(o)
	create := failAll(p, errors.New("connection refused"))[:1]
	if _, ok := create[0].Action.(plan.CreateRevision); !ok {
		t.Fatalf("the first action is %s", create[0].Action)
	}
	got := planner.Conclude(o, p, create)
	want := *set.Status.DeepCopy()
	want.ReadyReplicas, want.AvailableReplicas = 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestClaimThatExistsIsNoRefusal: the next observation shows it.
func TestClaimThatExistsIsNoRefusal(t *testing.T) {
	o := testkit.Observe(web(1).Current("a").Claims("data").Obj(), "a", "")
	p := planner.Compute(o)
	exists := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data-web-0")
	status := planner.Conclude(o, p, failAll(p, exists)[:1])
	if diff := cmp.Diff(p.Status, status); diff != "" {
		t.Errorf("the status mentions it (-plan +concluded):\n%s", diff)
	}
}

func TestCollisionIsCounted(t *testing.T) {
	o := testkit.Observe(web(1).Obj(), "", "")
	p := planner.Compute(o)
	taken := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "controllerrevisions"}, "web-1")
	o.Set.Status = planner.Conclude(o, p, failAll(p, taken)[:1])
	if got := o.Set.Status.CollisionCount; got == nil || *got != 1 {
		t.Fatalf("collisionCount = %v, want 1", got)
	}
	if again := planner.Compute(o); again.Status.UpdateRevision == p.Status.UpdateRevision {
		t.Errorf("the name %s is tried again", again.Status.UpdateRevision)
	}
}

func TestActionEvents(t *testing.T) {
	o := testkit.Observe(web(1).Obj(), "a", "")
	p := planner.Compute(o)
	for action := range p.Actions() {
		got, ok := plan.ActionEvent(action, nil)
		name := action.Object().GetLabels()[v1.RevisionLabel]
		want := plan.Event{
			Type: corev1.EventTypeNormal, Reason: "SuccessfulCreate",
			Message: "create pod web-0 at revision " + name + " (slot 0 has no pod)",
		}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		got, _ = plan.ActionEvent(action, overQuota)
		if got.Reason != "FailedCreate" || got.Type != corev1.EventTypeWarning {
			t.Errorf("the event about a failure is %+v", got)
		}
	}
	if _, ok := plan.ActionEvent(plan.DeleteRevision{}, nil); ok {
		t.Error("the deletion of a revision makes an event")
	}
}

// TestTargetNotTried: when adoption fails, no revision is recorded after it, so
// the status must claim none.
func TestTargetNotTried(t *testing.T) {
	set := web(1).Current("a").Template("b").Obj()
	o := testkit.Observe(set, "a", "0:a/available")
	o.Pods[0].OwnerReferences = nil
	o.Live.Set = true
	o = withTemplates(t, o)
	p := planner.Compute(o)
	adopt := failAll(p, errors.New("connection refused"))[:1]
	if _, ok := adopt[0].Action.(plan.AdoptPod); !ok {
		t.Fatalf("the first action is %s", adopt[0].Action)
	}
	status := planner.Conclude(o, p, adopt)
	if status.UpdateRevision != set.Status.UpdateRevision || status.ObservedGeneration != set.Status.ObservedGeneration {
		t.Errorf("the status claims revision %s and generation %d", status.UpdateRevision, status.ObservedGeneration)
	}
}
