package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// wantCondition checks one condition by status and reason; status "" means that
// it should be absent.
func wantCondition(t *testing.T, status v1.StatefulSetStatus, kind string, want metav1.ConditionStatus, reason string) {
	t.Helper()
	got := meta.FindStatusCondition(status.Conditions, kind)
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("there is no condition %s, want %s with reason %s", kind, want, reason)
	case got.Status != want || got.Reason != reason:
		t.Errorf("condition %s is %s with reason %s (%s), want %s with reason %s", kind, got.Status, got.Reason, got.Message, want, reason)
	}
}

func TestCounts(t *testing.T) {
	type counts struct{ Replicas, Ready, Available, Current, Updated int32 }
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		want  counts
	}{
		"none":                          {updating(3), "", counts{}},
		"all old":                       {updating(2), "0:a/available 1:a/available", counts{2, 2, 2, 2, 0}},
		"half way":                      {updating(2), "0:a/available 1:b/available", counts{2, 2, 2, 1, 1}},
		"ready is not available":        {updating(2).MinReady(10), "0:a/available 1:b/ready", counts{2, 2, 1, 1, 1}},
		"leaving is ready, not counted": {updating(2), "0:a/available 1:a/leaving", counts{2, 2, 1, 1, 0}},
		"broken ones exist":             {updating(3), "0:a/pending 1:a/crashing 2:a/failed", counts{3, 0, 0, 3, 0}},
		"outside the range counts":      {updating(1), "0:a/available 1:a/available", counts{2, 2, 2, 2, 0}},
		"a third revision counts nowhere": {
			updating(1), "0:c/available", counts{1, 1, 1, 0, 0},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := planner.Compute(testkit.Observe(test.set.Obj(), "cab", test.fleet)).Status
			got := counts{s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentReplicas, s.UpdatedReplicas}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		want  string
	}{
		"not before all are updated":          {updating(2), "0:a/available 1:b/available", "a"},
		"not before all are available":        {updating(2), "0:b/crashing 1:b/available", "a"},
		"not before minReadySeconds":          {updating(2).MinReady(10), "0:b/ready 1:b/available", "a"},
		"not while a slot is missing":         {updating(2), "0:b/available", "a"},
		"not while pods are outside":          {updating(1), "0:b/available 1:b/leaving", "a"},
		"not while it is staged":              {updating(2).Partition(1), "0:b/available 1:b/available", "a"},
		"all updated and available":           {updating(2), "0:b/available 1:b/available", "b"},
		"OnDelete, too":                       {updating(2).Strategy(v1.OnDeleteStrategy), "0:b/available 1:b/available", "b"},
		"OnDelete, not before":                {updating(2).Strategy(v1.OnDeleteStrategy), "0:a/available 1:b/available", "a"},
		"a set without pods has none to wait": {updating(0), "", "b"},
		"while paused, when somebody did it":  {updating(1).Paused(), "0:b/available", "b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Obj()
			s := planner.Compute(testkit.Observe(set, "ab", test.fleet)).Status
			if got := testkit.Letters(set, s.CurrentRevision, "ab"); got != test.want {
				t.Errorf("currentRevision = %s, want %s", got, test.want)
			}
			if got := testkit.Letters(set, s.UpdateRevision, "ab"); got != "b" {
				t.Errorf("updateRevision = %s, want b", got)
			}
			if test.want == "b" && s.CurrentReplicas != s.UpdatedReplicas {
				t.Errorf("complete, but currentReplicas = %d and updatedReplicas = %d", s.CurrentReplicas, s.UpdatedReplicas)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	type want struct {
		ready, readyReason             string
		reconciling                    string // reason; "" for absent
		progressing, progressingReason string
	}
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		want  want
	}{
		"starting":        {web(2).Template("b").Current("b"), "0:b/pending", want{"False", "Unavailable", "Scaling", "True", "UpdateInProgress"}},
		"at rest":         {web(2).Template("b").Current("b"), "0:b/available 1:b/available", want{"True", "AllAvailable", "", "True", "UpdateComplete"}},
		"scaling down":    {web(1).Template("b").Current("b"), "0:b/available 1:b/leaving", want{"False", "Scaling", "Scaling", "True", "UpdateInProgress"}},
		"healing":         {web(2).Template("b").Current("b"), "0:- 1:b/available", want{"False", "Unavailable", "Healing", "True", "UpdateInProgress"}},
		"about to update": {updating(2), "0:a/available 1:a/available", want{"False", "Outdated", "Updating", "True", "UpdateInProgress"}},
		"updating":        {updating(2), "0:a/available 1:b/pending", want{"False", "Outdated", "Updating", "True", "UpdateInProgress"}},
		"updated":         {updating(2), "0:b/available 1:b/available", want{"True", "AllAvailable", "", "True", "UpdateComplete"}},
		"staged":          {updating(2).Partition(1), "0:a/available 1:b/available", want{"True", "AllAvailable", "", "True", "UpdateStaged"}},
		"paused":          {updating(2).Paused(), "0:a/available 1:a/available", want{"True", "AllAvailable", "", "Unknown", "UpdatePaused"}},
		"paused, healing": {updating(2).Paused(), "0:- 1:a/available", want{"False", "Unavailable", "Healing", "Unknown", "UpdatePaused"}},
		"on delete": {
			updating(2).Strategy(v1.OnDeleteStrategy), "0:a/available 1:a/available", want{"True", "AllAvailable", "", "Unknown", "UpdateWaiting"},
		},
		"partition raised over updated pods": {
			updating(2).Partition(2), "0:a/available 1:b/available", want{"True", "AllAvailable", "", "True", "UpdateStaged"},
		},
		"nothing wanted, nothing there": {web(0).Template("b").Current("b"), "", want{"True", "AllAvailable", "", "True", "UpdateComplete"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := planner.Compute(testkit.Observe(test.set.Obj(), "ab", test.fleet)).Status
			w := test.want
			wantCondition(t, s, v1.ConditionReady, metav1.ConditionStatus(w.ready), w.readyReason)
			reconciling := metav1.ConditionTrue
			if w.reconciling == "" {
				reconciling = ""
			}
			wantCondition(t, s, v1.ConditionReconciling, reconciling, w.reconciling)
			wantCondition(t, s, v1.ConditionProgressing, metav1.ConditionStatus(w.progressing), w.progressingReason)
			wantCondition(t, s, v1.ConditionStalled, "", "")
			wantCondition(t, s, v1.ConditionReplicaFailure, "", "")
		})
	}
}

// TestCompleteStaysComplete: losing a pod later is no update.
func TestCompleteStaysComplete(t *testing.T) {
	set := web(2).Current("a").Obj()
	set.Status = planner.Compute(testkit.Observe(set, "a", "0:a/available 1:a/available")).Status
	s := planner.Compute(testkit.Observe(set, "a", "0:a/crashing 1:-")).Status
	wantCondition(t, s, v1.ConditionProgressing, "True", v1.ReasonUpdateComplete)
	wantCondition(t, s, v1.ConditionReady, "False", v1.ReasonUnavailable)
}

func TestTransitionTimes(t *testing.T) {
	set := web(1).Current("a").Obj()
	o := testkit.Observe(set, "a", "0:a/available")
	o.Set.Status = planner.Compute(o).Status
	foreign := metav1.Condition{Type: "Audited", Status: "True", Reason: "Nightly", LastTransitionTime: metav1.NewTime(testkit.Now)}
	o.Set.Status.Conditions = append(o.Set.Status.Conditions, foreign)

	o.Now = o.Now.Add(time.Hour)
	if diff := cmp.Diff(o.Set.Status, planner.Compute(o).Status); diff != "" {
		t.Errorf("the status changes with nothing but the time (-before +after):\n%s", diff)
	}

	testkit.SetState(o.Pods[0], "crashing", o.Now)
	after := planner.Compute(o).Status
	times := map[string]time.Duration{}
	for _, c := range after.Conditions {
		times[c.Type] = c.LastTransitionTime.Sub(testkit.Now)
	}
	want := map[string]time.Duration{"Ready": time.Hour, "Reconciling": time.Hour, "Progressing": 0, "StatefulSetUpdateStrategy": 0, "Audited": 0}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Errorf("transition times (-want +got):\n%s", diff)
	}
}

func TestObservedGenerationNeverFalls(t *testing.T) {
	set := web(1).Obj()
	set.Generation, set.Status.ObservedGeneration = 3, 5
	if got := planner.Compute(testkit.Observe(set, "a", "")).Status.ObservedGeneration; got != 5 {
		t.Errorf("observedGeneration went from 5 to %d", got)
	}
}

func TestSelectorForTheScaleSubresource(t *testing.T) {
	if got := planner.Compute(testkit.Observe(web(1).Obj(), "a", "")).Status.Selector; got != "app=web" {
		t.Errorf("selector = %q", got)
	}
}

func TestWakeUp(t *testing.T) {
	set := web(3).MinReady(60).Obj()
	o := testkit.Observe(set, "a", "0:a/ready 1:a/ready 2:a/ready")
	o.Pods[1].Status.Conditions[0].LastTransitionTime = metav1.NewTime(testkit.Now.Add(-50 * time.Second))
	if got, want := planner.Compute(o).WakeAt, testkit.Now.Add(10*time.Second); !got.Equal(want) {
		t.Errorf("the wake-up is at %v, want %v, when the first pod becomes available", got, want)
	}
	o = testkit.Observe(web(1).Obj(), "a", "0:a/available")
	if got := planner.Compute(o).WakeAt; !got.IsZero() {
		t.Errorf("there is a wake-up at %v with nothing to wait for", got)
	}
}

func TestSummary(t *testing.T) {
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		want  plan.Summary
	}{
		"slots without an available pod": {
			updating(4).MaxUnavailable("50%"), "0:a/available 1:a/crashing 2:b/available",
			plan.Summary{Strategy: v1.RollingUpdateStrategy, Unavailable: 2, MaxUnavailable: 2},
		},
		"pods outside the range do not make up for them": {
			recreating(2), "0:a/available 5:a/available 6:a/available",
			plan.Summary{Strategy: v1.RecreateStrategy, Unavailable: 1, MaxUnavailable: 1},
		},
		"ready is not available": {
			enforcing(1).MinReady(60), "0:b/ready",
			plan.Summary{Strategy: v1.EnforcedRollingUpdateStrategy, Unavailable: 1, MaxUnavailable: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(test.set.Obj(), "ab", test.fleet)
			if diff := cmp.Diff(test.want, planner.Compute(o).Summary); diff != "" {
				t.Errorf("summary of the plan (-want +got):\n%s", diff)
			}
			got, err := planner.Summarize(o)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("summary of the set (-want +got, error %v):\n%s", err, diff)
			}
		})
	}
	broken := web(1).Obj()
	broken.Spec.Selector = nil
	if _, err := planner.Summarize(testkit.Observe(broken, "a", "")); err == nil {
		t.Error("a set without a selector is summarized")
	}
}

// TestPodThatFailsAtOnceIsNotReplacedAtOnce is k/k 89067: a pod that no node
// admits must not be recreated as fast as the API server answers.
func TestPodThatFailsAtOnceIsNotReplacedAtOnce(t *testing.T) {
	o := testkit.Observe(web(1).Current("a").Obj(), "a", "0:a/failed")
	o.Pods[0].CreationTimestamp = metav1.NewTime(testkit.Now.Add(-time.Second))
	p := planner.Compute(o)
	if want := testkit.Now.Add(9 * time.Second); !p.IsEmpty() || !p.WakeAt.Equal(want) {
		t.Errorf("the wake-up is at %v, want %v; the plan is %q", p.WakeAt, want, p)
	}
	o.Now = p.WakeAt
	if p := planner.Compute(o); p.IsEmpty() || !p.WakeAt.IsZero() {
		t.Errorf("at the wake-up the plan is %q, the next wake-up at %v", p, p.WakeAt)
	}
}
