package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func TestOwnership(t *testing.T) {
	tests := map[string]struct {
		given func(o *plan.Observation)
		want  []string
	}{
		"all ours": {func(*plan.Observation) {}, nil},
		"an orphan is adopted": {
			func(o *plan.Observation) { o.Pods[0].OwnerReferences = nil },
			[]string{"adopt pod web-0"},
		},
		"an orphan that leaves is not": {
			func(o *plan.Observation) {
				o.Pods[0].OwnerReferences = nil
				o.Pods[0].DeletionTimestamp = &metav1.Time{Time: testkit.Now}
			},
			nil,
		},
		"an orphan that does not match is not": {
			func(o *plan.Observation) {
				o.Pods[0].OwnerReferences = nil
				o.Pods[0].Labels["app"] = "db"
			},
			nil,
		},
		"a pod that no longer matches is released, its name stays taken": {
			func(o *plan.Observation) { o.Pods[0].Labels["app"] = "db" },
			[]string{"release pod web-0"},
		},
		"a pod with a name that is not ours is released": {
			func(o *plan.Observation) {
				stray := o.Pods[0].DeepCopy()
				stray.Name = "web-00"
				o.Pods = append(o.Pods, stray)
			},
			[]string{"release pod web-00"},
		},
		"somebody else's pod is left alone": {
			func(o *plan.Observation) { o.Pods[0].OwnerReferences[0].UID = "somebody" },
			nil,
		},
		"an orphan revision is adopted before pods are": {
			func(o *plan.Observation) {
				o.Pods[0].OwnerReferences = nil
				o.Revisions[0].OwnerReferences = nil
			},
			[]string{"adopt revision a", "adopt pod web-0"},
		},
		"an orphan that does as a pod is handled as one": {
			func(o *plan.Observation) {
				o.Pods[0].OwnerReferences = nil
				testkit.SetState(o.Pods[0], "failed", testkit.Now)
			},
			[]string{"adopt pod web-0", "delete pod web-0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := web(1).Obj()
			o := testkit.Observe(set, "a", "0:a/available")
			o.Live.Set = true
			test.given(&o)
			if diff := cmp.Diff(test.want, testkit.Actions(set, planner.Compute(o))); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAdoptionNeedsALiveRead is invariant G3 and k/k 42639: a cached set may be
// gone, and adopting for it would race with the garbage collector.
func TestAdoptionNeedsALiveRead(t *testing.T) {
	for name, given := range map[string]func(o *plan.Observation){
		"pod":      func(o *plan.Observation) { o.Pods[0].OwnerReferences = nil },
		"revision": func(o *plan.Observation) { o.Revisions[0].OwnerReferences = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(web(1).Obj(), "a", "0:a/available")
			given(&o)
			if diff := cmp.Diff(plan.Plan{NeedsLiveRead: plan.LiveReads{Set: true}}, planner.Compute(o)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFailedAdoptionEndsThePlan: what is to be adopted is planned for as if it
// were ours, which is only safe once it is.
func TestFailedAdoptionEndsThePlan(t *testing.T) {
	o := testkit.Observe(web(1).Obj(), "a", "0:a/failed")
	o.Pods[0].OwnerReferences = nil
	o.Live.Set = true
	p := planner.Compute(o)
	if first := p.Steps[0]; first.Purpose != plan.PurposeOwnership || !first.Essential {
		t.Errorf("the first step is %+v", first)
	}
}

// TestStranger: a pod that has the name of one of ours is not touched, no create
// is tried in vain, others are created, and the status names it.
func TestStranger(t *testing.T) {
	set := web(2).Parallel().Obj()
	o := testkit.Observe(set, "a", "0:a/available")
	o.Pods[0].OwnerReferences[0].APIVersion = "apps/v1"
	o.Pods[0].OwnerReferences[0].UID = "somebody"
	p := planner.Compute(o)
	if diff := cmp.Diff([]string{"create pod web-1 at revision a"}, testkit.Actions(set, p)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	wantCondition(t, p.Status, v1.ConditionReplicaFailure, "True", v1.ReasonFailedCreate)
	wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonFailedCreate)
	if p.WakeAt.IsZero() {
		t.Error("nothing makes us look again when the stranger is gone")
	}
}

// TestLeftOversAreWaitedFor: a set that was deleted and created again finds the
// pods of its predecessor, which go by themselves.
func TestLeftOversAreWaitedFor(t *testing.T) {
	for name, given := range map[string]func(o *plan.Observation){
		"of an earlier set": func(o *plan.Observation) { o.Pods[0].OwnerReferences[0].UID = "earlier" },
		"an orphan that leaves": func(o *plan.Observation) {
			o.Pods[0].OwnerReferences = nil
			o.Pods[0].DeletionTimestamp = &metav1.Time{Time: testkit.Now}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(web(1).Obj(), "a", "0:a/available")
			given(&o)
			p := planner.Compute(o)
			if !p.IsEmpty() || p.WakeAt.IsZero() {
				t.Errorf("the plan is %q, the wake-up at %v", p, p.WakeAt)
			}
			wantCondition(t, p.Status, v1.ConditionStalled, "", "")
			wantCondition(t, p.Status, v1.ConditionReplicaFailure, "", "")
			wantCondition(t, p.Status, v1.ConditionReconciling, "True", v1.ReasonScaling)
		})
	}
}

// TestForeignRevisionsAreNotOurs: sets with overlapping selectors keep their
// histories apart.
func TestForeignRevisionsAreNotOurs(t *testing.T) {
	set := web(0).HistoryLimit(0).Obj()
	o := testkit.Observe(set, "a", "")
	orphan := testkit.Revision(set, "b", 9)
	orphan.Name, orphan.OwnerReferences = "web-db-66fffb4848", nil
	o.Revisions = append(o.Revisions, orphan)
	if p := planner.Compute(o); !p.IsEmpty() {
		t.Errorf("another set's revision is touched:\n%s", p)
	}
}

func TestUnusableSelector(t *testing.T) {
	for name, selector := range map[string]*metav1.LabelSelector{
		"none":    nil,
		"empty":   {},
		"invalid": {MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}},
	} {
		t.Run(name, func(t *testing.T) {
			set := web(2).Obj()
			o := testkit.Observe(set, "a", "0:a/available")
			set.Spec.Selector = selector
			p := planner.Compute(o)
			if !p.IsEmpty() {
				t.Errorf("pods are touched under a selector that says nothing:\n%s", p)
			}
			wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonInvalidSpec)
			wantCondition(t, p.Status, v1.ConditionReady, "False", v1.ReasonInvalidSpec)
		})
	}
}

func TestUnusableBudget(t *testing.T) {
	set := updating(2).MaxUnavailable("many").Obj()
	p := planner.Compute(testkit.Observe(set, "ab", "0:a/available 1:a/available"))
	if !p.IsEmpty() {
		t.Errorf("pods are taken down under a budget that says nothing:\n%s", p)
	}
	wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonInvalidSpec)
}
