package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// scenario is a set, its history and pods, and what is to be done about them.
type scenario struct {
	set     *testkit.SetBuilder
	history string
	fleet   string
	want    []string
}

func (s scenario) run(t *testing.T) {
	t.Helper()
	set := s.set.Obj()
	p := planner.Compute(testkit.Observe(set, s.history, s.fleet))
	if p.NeedsLiveRead.Any() {
		t.Fatalf("the plan needs a live read: %+v", p.NeedsLiveRead)
	}
	if diff := cmp.Diff(s.want, testkit.Actions(set, p)); diff != "" {
		t.Errorf("actions (-want +got):\n%s\nplan:\n%s", diff, p)
	}
}

func runAll(t *testing.T, scenarios map[string]scenario) {
	t.Helper()
	for name, s := range scenarios {
		t.Run(name, s.run)
	}
}

func web(replicas int32) *testkit.SetBuilder { return testkit.MakeSet("web").Replicas(replicas) }

func TestFillOrdered(t *testing.T) {
	runAll(t, map[string]scenario{
		"nothing there: the lowest first": {web(3), "a", "", []string{"create pod web-0 at revision a"}},
		"next when the last is available": {web(3), "a", "0:a/available", []string{"create pod web-1 at revision a"}},
		"wait for one that starts":        {web(3), "a", "0:a/pending", nil},
		"wait for one that crashes":       {web(3), "a", "0:a/crashing 1:-", nil},
		"wait for minReadySeconds":        {web(3).MinReady(10), "a", "0:a/ready", nil},
		"wait for one that leaves":        {web(3), "a", "0:a/leaving", nil},
		"a gap is filled":                 {web(3), "a", "0:a/available 1:- 2:a/available", []string{"create pod web-1 at revision a"}},
		"an unready pod above is no obstacle": {
			web(3), "a", "0:- 1:a/crashing 2:a/available", []string{"create pod web-0 at revision a"},
		},
		"a failed pod goes":           {web(2), "a", "0:a/failed 1:a/available", []string{"delete pod web-0"}},
		"a succeeded pod goes":        {web(2), "a", "0:a/available 1:a/succeeded", []string{"delete pod web-1"}},
		"a failed pod waits its turn": {web(2), "a", "0:a/crashing 1:a/failed", nil},
		"one failed pod at a time":    {web(2), "a", "0:a/failed 1:a/failed", []string{"delete pod web-0"}},
		"complete: nothing to do":     {web(2), "a", "0:a/available 1:a/available", nil},
		"budget does not matter at rest": {
			web(3).MaxUnavailable("3"), "a", "", []string{"create pod web-0 at revision a"},
		},
		"numbers start where asked": {web(2).Start(5), "a", "5:a/available", []string{"create pod web-6 at revision a"}},
		"no replicas":               {web(0), "a", "", nil},
	})
}

func TestFillParallel(t *testing.T) {
	all := []string{"create pod web-0 at revision a", "create pod web-1 at revision a", "create pod web-2 at revision a"}
	runAll(t, map[string]scenario{
		"all at once":                     {web(3).Parallel(), "a", "", all},
		"whatever the others do":          {web(3).Parallel(), "a", "0:a/crashing 1:a/leaving", all[2:]},
		"all failed pods go":              {web(2).Parallel(), "a", "0:a/failed 1:a/succeeded", []string{"delete pod web-0", "delete pod web-1"}},
		"no pod while one is terminating": {web(1).Parallel(), "a", "0:a/terminating", nil},
	})
}

func TestScaleDownOrdered(t *testing.T) {
	runAll(t, map[string]scenario{
		"the highest goes":                    {web(1), "a", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-2"}},
		"one at a time":                       {web(1), "a", "0:a/available 1:a/available 2:a/leaving", nil},
		"not before the slots are available":  {web(1), "a", "0:a/crashing 1:a/available", nil},
		"nor before they exist":               {web(1), "a", "0:- 1:a/available", []string{"create pod web-0 at revision a"}},
		"the first unhealthy may go":          {web(1), "a", "0:a/available 1:a/crashing", []string{"delete pod web-1"}},
		"but the highest must be it":          {web(1), "a", "0:a/available 1:a/crashing 2:a/crashing", nil},
		"a healthy one above it goes first":   {web(1), "a", "0:a/available 1:a/crashing 2:a/available", []string{"delete pod web-2"}},
		"one not yet available is unhealthy":  {web(1).MinReady(10), "a", "0:a/available 1:a/ready 2:a/ready", nil},
		"start raised: those below go":        {web(1).Start(2), "a", "0:a/available 1:a/available 2:a/available", []string{"delete pod web-1"}},
		"to zero":                             {web(0), "a", "0:a/available 1:a/available", []string{"delete pod web-1"}},
		"scaling goes before updating":        {web(1).Template("b").Current("a"), "ab", "0:a/available 1:a/available", []string{"delete pod web-1"}},
		"and still does while the pod leaves": {web(1).Template("b").Current("a"), "ab", "0:a/available 1:a/leaving", nil},
	})
}

func TestScaleDownParallel(t *testing.T) {
	runAll(t, map[string]scenario{
		"all at once, healthy or not": {
			web(1).Parallel(), "a", "0:a/crashing 1:a/available 2:a/crashing 3:a/leaving", []string{"delete pod web-2", "delete pod web-1"},
		},
		"before the update, in one plan": {
			web(1).Parallel().Template("b").Current("a"), "ab", "0:a/available 1:a/available", []string{"delete pod web-1", "delete pod web-0"},
		},
	})
}

// TestFailedCreateStopsNoScaleDown is k/k 140858: creates refused for want of
// quota must not keep pods outside the range from going.
func TestFailedCreateStopsNoScaleDown(t *testing.T) {
	set := web(2).Start(1).Parallel().Obj()
	p := planner.Compute(testkit.Observe(set, "a", "0:a/available 1:a/available"))
	purposes := map[plan.Purpose]plan.Step{}
	var order []plan.Purpose
	for _, step := range p.Steps {
		purposes[step.Purpose] = step
		order = append(order, step.Purpose)
	}
	if diff := cmp.Diff([]plan.Purpose{plan.PurposeScaleDown, plan.PurposeFill}, order); diff != "" {
		t.Fatalf("steps (-want +got):\n%s", diff)
	}
	if purposes[plan.PurposeFill].Essential {
		t.Error("a failed create would end the plan")
	}
}

func TestPace(t *testing.T) {
	for policy, want := range map[v1.PodManagementPolicyType]plan.Pace{v1.OrderedReady: plan.InTurn, v1.Parallel: plan.SlowStart} {
		set := web(3).Obj()
		set.Spec.PodManagementPolicy = policy
		p := planner.Compute(testkit.Observe(set, "a", ""))
		if got := p.Steps[0].Pace; got != want {
			t.Errorf("pods of a set with policy %s are created %s, want %s", policy, got, want)
		}
	}
}

// TestSetBeingDeletedOnlyGetsItsStatus is invariant G4.
func TestSetBeingDeletedOnlyGetsItsStatus(t *testing.T) {
	set := web(3).Parallel().Template("b").Current("a").Deleting().Obj()
	o := testkit.Observe(set, "a", "0:a/failed 1:a/available 7:a/available")
	o.Pods[1].OwnerReferences = nil
	p := planner.Compute(o)
	if !p.IsEmpty() {
		t.Errorf("a set that is being deleted gets a plan:\n%s", p)
	}
	if p.Status.Replicas != 2 {
		t.Errorf("status.replicas = %d, want the 2 pods that are its own", p.Status.Replicas)
	}
}
