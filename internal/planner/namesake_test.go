package planner_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// handTo makes the set of apps/v1 with the name of ours the controller of an object.
func handTo(name string, object metav1.Object) {
	owner := &metav1.ObjectMeta{Name: name, UID: "of-apps-v1"}
	object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))})
}

// TestNamesakeIsWaitedFor: as long as a set of apps/v1 has anything of what ours
// will take over, and ours has nothing, nothing is touched; not even a pod that
// is missing, a claim, or the history.
func TestNamesakeIsWaitedFor(t *testing.T) {
	for name, given := range map[string]func(o *plan.Observation){
		"all of it": func(*plan.Observation) {},
		"a pod is missing": func(o *plan.Observation) {
			o.Pods = o.Pods[1:]
		},
		"no pods": func(o *plan.Observation) { o.Pods = nil },
		"it has let go of the pods, not of the history": func(o *plan.Observation) {
			for _, pod := range o.Pods {
				pod.OwnerReferences = nil
			}
		},
		"it has let go of the history and of a pod": func(o *plan.Observation) {
			o.Revisions[0].OwnerReferences = nil
			o.Pods[0].OwnerReferences = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := web(2).Parallel().Claims("data").Obj()
			set.Status.CurrentRevision, set.Status.UpdateRevision = "web-before", "web-after"
			o := testkit.Observe(set, "a", "0:a/available 1:a/failed")
			handTo("web", o.Revisions[0])
			for _, pod := range o.Pods {
				handTo("web", pod)
			}
			given(&o)
			p := planner.Compute(o)
			if !p.IsEmpty() || p.NeedsLiveRead.Any() || p.WakeAt.IsZero() {
				t.Errorf("the plan is %q, reads %+v, the wake-up at %v", p, p.NeedsLiveRead, p.WakeAt)
			}
			wantCondition(t, p.Status, v1.ConditionReady, "False", v1.ReasonNamesakeInCharge)
			wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonNamesakeInCharge)
			if p.Status.CurrentRevision != "web-before" || p.Status.UpdateRevision != "web-after" {
				t.Errorf("the revisions handed over are lost: %+v", p.Status)
			}
		})
	}
}

// TestNamesakeIsNotWaitedFor: a set that has begun goes on, whoever has its name,
// and neither other owners nor what was let go make one wait.
func TestNamesakeIsNotWaitedFor(t *testing.T) {
	for name, given := range map[string]func(o *plan.Observation){
		"the set has a pod":     func(o *plan.Observation) { handTo("web", o.Revisions[0]); handTo("web", o.Pods[0]) },
		"the set has a history": func(o *plan.Observation) { handTo("web", o.Pods[0]); handTo("web", o.Pods[1]) },
		"another name": func(o *plan.Observation) {
			handTo("other", o.Revisions[0])
			handTo("other", o.Pods[0])
			handTo("other", o.Pods[1])
		},
		"all is let go": func(o *plan.Observation) {
			o.Revisions[0].OwnerReferences, o.Pods[0].OwnerReferences, o.Pods[1].OwnerReferences = nil, nil, nil
			o.Live.Set = true
		},
		"the set is being deleted": func(o *plan.Observation) {
			handTo("web", o.Pods[0])
			handTo("web", o.Pods[1])
			o.Set.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(web(2).Parallel().Obj(), "a", "0:a/available 1:a/available")
			given(&o)
			for _, condition := range planner.Compute(o).Status.Conditions {
				if condition.Reason == v1.ReasonNamesakeInCharge {
					t.Errorf("%s is %s: %s", condition.Type, condition.Status, condition.Message)
				}
			}
		})
	}
}

// TestTakeOver: once let go, pods and history become ours as they are; the
// revisions of a staged update stay what they were.
func TestTakeOver(t *testing.T) {
	set := web(3).Template("b").Partition(2).Obj()
	set.Status.CurrentRevision = testkit.RevisionName(set, "a")
	o := testkit.Observe(set, "ab", "0:a/available 1:a/available 2:b/available")
	for _, revision := range o.Revisions {
		revision.OwnerReferences = nil
	}
	for _, pod := range o.Pods {
		pod.OwnerReferences = nil
	}
	o.Live.Set = true
	p := planner.Compute(o)
	for action := range p.Actions() {
		switch action.(type) {
		case plan.AdoptPod, plan.AdoptRevision:
		default:
			t.Errorf("beyond adopting, the plan would %s", action)
		}
	}
	if p.Status.CurrentRevision != testkit.RevisionName(set, "a") || p.Status.UpdateRevision != testkit.RevisionName(set, "b") {
		t.Errorf("revisions %s and %s", p.Status.CurrentRevision, p.Status.UpdateRevision)
	}
	wantCondition(t, p.Status, v1.ConditionProgressing, "True", v1.ReasonUpdateStaged)
}
