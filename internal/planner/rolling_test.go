package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// updating is a set in the middle of an update from a to b.
func updating(replicas int32) *testkit.SetBuilder { return web(replicas).Template("b").Current("a") }

func TestRollingOrdered(t *testing.T) {
	runAll(t, map[string]scenario{
		"the highest first":              {updating(3), "ab", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"then the next":                  {updating(3), "ab", "0:a/available 1:a/available 2:b/available", []string{"delete pod web-1"}},
		"not while one leaves":           {updating(3), "ab", "0:a/available 1:a/available 2:a/leaving", nil},
		"recreate at the target":         {updating(3), "ab", "0:a/available 1:a/available 2:-", []string{"create pod web-2 at revision b"}},
		"not while one starts":           {updating(3), "ab", "0:a/available 1:a/available 2:b/pending", nil},
		"not before minReadySeconds":     {updating(3).MinReady(10), "ab", "0:a/available 1:a/available 2:b/ready", nil},
		"a broken new pod halts it":      {updating(3), "ab", "0:a/available 1:a/available 2:b/crashing", nil},
		"a broken old pod halts it":      {updating(3), "ab", "0:a/crashing 1:a/available 2:a/available", nil},
		"a fixed template does not help": {updating(2).Template("c"), "abc", "0:a/available 1:b/crashing", nil},
		"paused":                         {updating(2).Paused(), "ab", "0:a/available 1:a/available", nil},
		"paused, still healing":          {updating(2).Paused(), "ab", "0:a/available 1:-", []string{"create pod web-1 at revision b"}},
		"paused, still scaling":          {updating(1).Paused(), "ab", "0:a/available 1:a/available", []string{"delete pod web-1"}},
		"back in mid-flight":             {web(3).Current("a"), "ba", "0:a/available 1:b/available 2:b/available", []string{"delete pod web-2"}},
		"done":                           {updating(2), "ab", "0:b/available 1:b/available", nil},
		"start ordinal":                  {updating(2).Start(3), "ab", "3:a/available 4:a/available", []string{"delete pod web-4"}},
		"a failed pod comes back new":    {updating(2), "ab", "0:a/available 1:a/failed", []string{"delete pod web-1"}},
	})
}

func TestRollingOrderedWithBudget(t *testing.T) {
	both := []string{"delete pod web-3", "delete pod web-2"}
	runAll(t, map[string]scenario{
		"up to the budget":           {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:a/available 3:a/available", both},
		"percent, rounded down":      {updating(4).MaxUnavailable("74%"), "ab", "0:a/available 1:a/available 2:a/available 3:a/available", both},
		"never below one":            {updating(4).MaxUnavailable("1%"), "ab", "0:a/available 1:a/available 2:a/available 3:a/available", both[:1]},
		"more than there are":        {updating(2).MaxUnavailable("9"), "ab", "0:a/available 1:a/available", []string{"delete pod web-1", "delete pod web-0"}},
		"only when all are back":     {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:b/available 3:b/pending", nil},
		"the batch comes up at once": {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:- 3:-", []string{"create pod web-2 at revision b", "create pod web-3 at revision b"}},
		"also when half is there":    {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:b/pending 3:-", []string{"create pod web-3 at revision b"}},
		"or still leaves":            {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:a/leaving 3:-", []string{"create pod web-3 at revision b"}},
		"no more than the budget":    {updating(4).MaxUnavailable("2"), "ab", "0:a/available 1:b/pending 2:b/pending 3:-", nil},
		"not above a broken old pod": {updating(4).MaxUnavailable("3"), "ab", "0:a/available 1:a/crashing 2:- 3:-", nil},
		"back in mid-flight, too":    {web(4).Current("a").MaxUnavailable("2"), "ba", "0:b/available 1:b/available 2:- 3:-", []string{"create pod web-2 at revision a", "create pod web-3 at revision a"}},
		"one by one without update":  {web(4).MaxUnavailable("2"), "a", "0:a/available 1:a/available 2:- 3:-", []string{"create pod web-2 at revision a"}},
	})
}

func TestRollingParallel(t *testing.T) {
	runAll(t, map[string]scenario{
		"the highest first": {updating(3).Parallel(), "ab", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"a budget": {
			updating(3).Parallel().MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2", "delete pod web-1"},
		},
		"broken old pods cost nothing": {
			updating(3).Parallel(), "ab", "0:a/crashing 1:a/pending 2:a/available", []string{"delete pod web-1", "delete pod web-0"},
		},
		"but they are counted": {
			updating(4).Parallel().MaxUnavailable("2"), "ab", "0:a/crashing 1:a/available 2:a/available 3:a/available",
			[]string{"delete pod web-0", "delete pod web-3"},
		},
		"low ordinals are counted, below the partition too": {
			updating(3).Parallel().Partition(1), "ab", "0:a/crashing 1:a/available 2:a/available", nil,
		},
		"readiness is not availability":        {updating(3).Parallel().MinReady(10), "ab", "0:a/available 1:a/available 2:b/ready", nil},
		"a leaving pod uses the budget":        {updating(2).Parallel(), "ab", "0:a/available 1:a/leaving", nil},
		"a leaving pod blocks only itself":     {updating(3).Parallel().MaxUnavailable("2"), "ab", "0:a/available 1:a/available 2:b/terminating", []string{"delete pod web-1"}},
		"a missing slot is filled and counted": {updating(2).Parallel(), "ab", "0:a/available 1:-", []string{"create pod web-1 at revision b"}},
		"a broken new pod halts it":            {updating(3).Parallel(), "ab", "0:a/available 1:a/available 2:b/crashing", nil},
		"a failed old pod is deleted once":     {updating(2).Parallel(), "ab", "0:a/available 1:a/failed", []string{"delete pod web-1"}},
		"paused":                               {updating(2).Parallel().Paused(), "ab", "0:a/crashing 1:a/available", nil},
		"a fixed template replaces a broken pod": {
			updating(3).Parallel().Template("c"), "abc", "0:a/available 1:a/available 2:b/crashing", []string{"delete pod web-2"},
		},
	})
}

func TestPartition(t *testing.T) {
	runAll(t, map[string]scenario{
		"canary":                      {updating(3).Partition(2), "ab", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"stops at the partition":      {updating(3).Partition(2), "ab", "0:a/available 1:a/available 2:b/available", nil},
		"goes on when lowered":        {updating(3).Partition(1), "ab", "0:a/available 1:a/available 2:b/available", []string{"delete pod web-1"}},
		"above replicas means nobody": {updating(3).Partition(9), "ab", "0:a/available 1:a/available 2:a/available", nil},
		"below it pods come back old": {updating(3).Partition(2), "ab", "0:a/available 1:- 2:b/available", []string{"create pod web-1 at revision a"}},
		"counted from the start":      {updating(2).Start(4).Partition(1), "ab", "4:a/available 5:a/available", []string{"delete pod web-5"}},
		"old below it after a loss": {
			updating(2).Start(4).Partition(1), "ab", "4:- 5:b/available", []string{"create pod web-4 at revision a"},
		},
		"raised again: nothing goes back":   {updating(3).Partition(3), "ab", "0:a/available 1:a/available 2:b/available", nil},
		"parallel leaves broken ones below": {updating(2).Parallel().Partition(1), "ab", "0:a/crashing 1:b/available", nil},
	})
}

func TestOnDelete(t *testing.T) {
	ondelete := func(replicas int32) *testkit.SetBuilder { return updating(replicas).Strategy(v1.OnDeleteStrategy) }
	runAll(t, map[string]scenario{
		"never deletes":            {ondelete(2), "ab", "0:a/available 1:a/crashing", nil},
		"parallel, neither":        {ondelete(2).Parallel(), "ab", "0:a/available 1:a/crashing", nil},
		"brings back at target":    {ondelete(2), "ab", "0:- 1:a/available", []string{"create pod web-0 at revision b"}},
		"a failed pod still heals": {ondelete(1), "ab", "0:a/failed", []string{"delete pod web-0"}},
	})
}

// TestGateOff: a gate that is off makes the controller act as RollingUpdate with
// a budget of one.
func TestGateOff(t *testing.T) {
	fleet := "0:a/available 1:a/available 2:a/available"
	tests := map[string]*testkit.SetBuilder{
		"maxUnavailable":        updating(3).MaxUnavailable("3"),
		"Recreate":              updating(3).Strategy(v1.RecreateStrategy),
		"EnforcedRollingUpdate": updating(3).Strategy(v1.EnforcedRollingUpdateStrategy).MaxUnavailable("3"),
	}
	for name, builder := range tests {
		t.Run(name, func(t *testing.T) {
			set := builder.Obj()
			o := testkit.Observe(set, "ab", fleet)
			o.Gates = plan.Gates{}
			p := planner.Compute(o)
			if diff := cmp.Diff([]string{"delete pod web-2"}, testkit.Actions(set, p)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if p.Summary.MaxUnavailable != 1 || p.Summary.Strategy != v1.RollingUpdateStrategy {
				t.Errorf("summary = %+v, want RollingUpdate with a budget of 1", p.Summary)
			}
		})
	}
}

// TestGateOffIsTold: what a gate makes the controller ignore is told in the
// condition, unless it makes no difference.
func TestGateOffIsTold(t *testing.T) {
	const (
		budget  = "; maxUnavailable is ignored: the feature gate MaxUnavailableStatefulSet is off"
		timeout = "; podProgressTimeoutSeconds is ignored: the feature gate StatefulSetProgressDeadline is off"
	)
	rolling := "RollingUpdate: updates are made with RollingUpdate"
	tests := map[string]struct {
		set  *testkit.SetBuilder
		want string
	}{
		"nothing":             {updating(3), rolling},
		"a budget":            {updating(3).MaxUnavailable("2"), rolling + budget},
		"a budget of one":     {updating(3).MaxUnavailable("1"), rolling},
		"a percentage of one": {updating(3).MaxUnavailable("50%"), rolling},
		"no budget at all":    {updating(3).MaxUnavailable("many"), rolling + budget},
		"a timeout":           {updating(3).ProgressTimeout(60), rolling + timeout},
		"both":                {updating(3).ProgressTimeout(60).MaxUnavailable("2"), rolling + timeout + budget},
		"with the strategy": {
			updating(3).Strategy(v1.EnforcedRollingUpdateStrategy).MaxUnavailable("2"),
			"FeatureGateDisabled: the feature gate of EnforcedRollingUpdate is off, so updates are made with RollingUpdate" + budget,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(test.set.Obj(), "ab", "0:a/available 1:a/available 2:a/available")
			o.Gates = plan.Gates{}
			said := meta.FindStatusCondition(planner.Compute(o).Status.Conditions, v1.ConditionUpdateStrategy)
			if got := said.Reason + ": " + said.Message; got != test.want {
				t.Errorf("condition %q, want %q", got, test.want)
			}
		})
	}
}

// TestGateOffKeepsThePartition: a gate must not overrun what somebody held back.
func TestGateOffKeepsThePartition(t *testing.T) {
	set := updating(2).Strategy(v1.EnforcedRollingUpdateStrategy).Partition(2).Obj()
	o := testkit.Observe(set, "ab", "0:a/available 1:a/available")
	o.Gates = plan.Gates{}
	if p := planner.Compute(o); !p.IsEmpty() {
		t.Errorf("the update overran the partition:\n%s", p)
	}
}
