package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func enforcing(replicas int32) *testkit.SetBuilder {
	return updating(replicas).Strategy(v1.EnforcedRollingUpdateStrategy)
}

func TestEnforcedOrdered(t *testing.T) {
	runAll(t, map[string]scenario{
		"the highest first":                  {enforcing(3), "ab", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"broken ones are taken, too":         {enforcing(3), "ab", "0:a/available 1:a/available 2:a/crashing", []string{"delete pod web-2"}},
		"a broken old pod holds nothing up":  {enforcing(3), "ab", "0:a/crashing 1:a/available 2:b/available", []string{"delete pod web-1"}},
		"strictly descending":                {enforcing(3), "ab", "0:a/crashing 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"no more in flight than the budget":  {enforcing(3), "ab", "0:a/available 1:a/available 2:a/leaving", nil},
		"the next while the budget has room": {enforcing(3).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:a/leaving", []string{"delete pod web-1"}},
		"a new pod that starts is in flight": {enforcing(3), "ab", "0:a/available 1:a/available 2:b/pending", nil},
		"a fixed template gets through":      {enforcing(3).Template("c"), "abc", "0:a/available 1:a/available 2:b/crashing", []string{"delete pod web-2"}},
		"in the way of a missing slot":       {enforcing(3), "ab", "0:a/available 1:a/crashing 2:-", []string{"delete pod web-1"}},
		"several in the way":                 {enforcing(4), "ab", "0:a/crashing 1:a/available 2:a/pending 3:-", []string{"delete pod web-2", "delete pod web-0"}},
		"what is in the way uses the budget": {
			enforcing(4).MaxUnavailable("2"), "ab", "0:a/crashing 1:a/available 2:- 3:b/available", []string{"delete pod web-0"},
		},
		"an available one is not in the way":         {enforcing(3), "ab", "0:a/available 1:a/available 2:-", []string{"create pod web-2 at revision b"}},
		"below the partition it stays":               {enforcing(3).Partition(1), "ab", "0:a/crashing 1:a/available 2:-", nil},
		"broken, whatever is below the partition":    {enforcing(3).Partition(2), "ab", "0:a/crashing 1:a/crashing 2:a/crashing", []string{"delete pod web-2"}},
		"available, it waits for what is below it":   {enforcing(3).Partition(2), "ab", "0:a/available 1:a/crashing 2:a/available", nil},
		"broken, it waits for what the update moves": {enforcing(3).Partition(1), "ab", "0:a/crashing 1:a/crashing 2:a/leaving", nil},
		"never a pod at the target":                  {enforcing(2), "ab", "0:b/crashing 1:b/available", nil},
		"partition":                                  {enforcing(3).Partition(2), "ab", "0:a/crashing 1:a/crashing 2:b/available", nil},
		"scale-down despite a broken pod":            {enforcing(1), "ab", "0:a/crashing 1:a/available", []string{"delete pod web-1"}},
		"scale-down of broken pods":                  {enforcing(1), "ab", "0:a/available 1:a/crashing 2:a/crashing", []string{"delete pod web-2"}},
		"scale-down goes first":                      {enforcing(1), "ab", "0:a/available 1:a/leaving", nil},
		"but waits for what is in flight":            {enforcing(1), "ab", "0:b/pending 1:a/available", nil},
		"clears its own way for it":                  {enforcing(2), "ab", "0:a/crashing 1:- 2:a/available", []string{"delete pod web-0"}},
		"paused":                                     {enforcing(2).Paused(), "ab", "0:a/available 1:a/crashing", nil},
	})
}

func TestEnforcedParallel(t *testing.T) {
	runAll(t, map[string]scenario{
		"broken ones first, at no cost": {
			enforcing(4).Parallel(), "ab", "0:a/crashing 1:a/available 2:a/pending 3:a/available", []string{"delete pod web-2", "delete pod web-0"},
		},
		"then others within the budget": {
			enforcing(4).Parallel().MaxUnavailable("2"), "ab", "0:a/crashing 1:a/available 2:a/available 3:a/available",
			[]string{"delete pod web-0", "delete pod web-3"},
		},
		"what is in flight uses the budget": {enforcing(3).Parallel(), "ab", "0:a/available 1:b/pending 2:b/available", nil},
		"low broken pods below the partition do not": {
			enforcing(3).Parallel().Partition(1).Template("c"), "abc", "0:b/crashing 1:a/available 2:a/available", []string{"delete pod web-2"},
		},
	})
}

func TestSafetyHalt(t *testing.T) {
	runAll(t, map[string]scenario{
		"nothing below the batch":          {enforcing(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:b/available 3:b/crashing", nil},
		"the batch itself is completed":    {enforcing(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:a/available 3:b/crashing", []string{"delete pod web-2"}},
		"parallel, not even broken ones":   {enforcing(4).Parallel().MaxUnavailable("2"), "ab", "0:a/crashing 1:a/available 2:b/available 3:b/crashing", nil},
		"ready lifts it":                   {enforcing(4).MaxUnavailable("2").MinReady(10), "ab", "0:a/available 1:a/available 2:b/available 3:b/ready", []string{"delete pod web-1"}},
		"a new template lifts it":          {enforcing(4).Template("c"), "abc", "0:a/available 1:a/available 2:a/available 3:b/crashing", []string{"delete pod web-3"}},
		"only the highest slot can halt":   {enforcing(4).MaxUnavailable("3"), "ab", "0:a/available 1:a/available 2:b/crashing 3:b/available", []string{"delete pod web-1", "delete pod web-0"}},
		"not when it is below a partition": {enforcing(2).Partition(2), "ab", "0:a/available 1:a/crashing", nil},
	})
}

func TestSafetyHaltIsDeclared(t *testing.T) {
	o := testkit.Observe(enforcing(3).Obj(), "ab", "0:a/available 1:a/available 2:b/crashing")
	o.Pods[2].CreationTimestamp.Time = testkit.Now.Add(-10 * time.Second)
	p := planner.Compute(o)
	wantCondition(t, p.Status, v1.ConditionProgressing, "True", v1.ReasonUpdateInProgress)
	wantCondition(t, p.Status, v1.ConditionStalled, "", "")
	if want := testkit.Now.Add(50 * time.Second); !p.WakeAt.Equal(want) {
		t.Errorf("the wake-up is at %v, want %v, when the grace is over", p.WakeAt, want)
	}
	o.Now = p.WakeAt
	p = planner.Compute(o)
	wantCondition(t, p.Status, v1.ConditionProgressing, "False", v1.ReasonSafetyHalt)
	wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonSafetyHalt)
	wantCondition(t, p.Status, v1.ConditionReconciling, "", "")
	if len(p.Events) != 1 || p.Events[0].Reason != "SafetyHalt" {
		t.Errorf("events = %v, want SafetyHalt", p.Events)
	}
	o.Set.Status = p.Status
	if p := planner.Compute(o); len(p.Events) > 0 || planner.StatusChanged(o.Set, p.Status) {
		t.Errorf("the halt is declared again: %v", p.Events)
	}
}

// TestPausedIsNoHalt: what nobody wants to go on is not called halted.
func TestPausedIsNoHalt(t *testing.T) {
	p := planner.Compute(testkit.Observe(enforcing(3).Paused().Obj(), "ab", "0:a/available 1:a/available 2:b/crashing"))
	wantCondition(t, p.Status, v1.ConditionProgressing, "Unknown", v1.ReasonUpdatePaused)
	wantCondition(t, p.Status, v1.ConditionStalled, "", "")
	if len(p.Events) > 0 || !p.WakeAt.IsZero() {
		t.Errorf("events %v, wake-up at %v, want none", p.Events, p.WakeAt)
	}
}

func TestEnforcedEvents(t *testing.T) {
	set := enforcing(2).Obj()
	o := testkit.Observe(set, "ab", "0:a/available 1:a/crashing")
	reasons := func(p plan.Plan) (reasons []string) {
		for _, event := range p.Events {
			reasons = append(reasons, event.Reason)
		}
		return reasons
	}
	p := planner.Compute(o)
	if diff := cmp.Diff([]string{"EnforcedRollingUpdateStarted", "ForcedReplacement"}, reasons(p)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	set.Status = p.Status
	if diff := cmp.Diff([]string{"ForcedReplacement"}, reasons(planner.Compute(o))); diff != "" {
		t.Errorf("events of the second plan (-want +got):\n%s", diff)
	}
	wantCondition(t, p.Status, v1.ConditionUpdateStrategy, "True", "EnforcedRollingUpdate")
}
