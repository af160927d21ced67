package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
	"github.com/rollcall-dev/rollcall/test/performance/stage"
)

// smoke is small enough for every test run. Its targets are counts, which do not depend on how busy the machine is.
var smoke = scenarios.Scenario{
	Name: "2 x 4 OrderedReady, maxUnavailable 2", Group: "update", Sets: 2, Pods: 4, PodManagementPolicy: "OrderedReady",
	Terms: scenarios.Terms{MaxUnavailable: "2"}, Rounds: 1, FloorRounds: 1, Contestants: []scenarios.Contestant{scenarios.BuiltIn, scenarios.Rollcall, scenarios.Floor},
	Acts: []scenarios.Act{
		{Kind: scenarios.Create},
		{Kind: scenarios.Update, Targets: []scenarios.Target{
			{Figure: result.EventsPerPod, Most: 1},
			{Figure: result.ReadsPerPod, Most: 0},
			{Figure: result.StatusWritesPerPod, Over: string(scenarios.BuiltIn), Most: 0.8},
			{Figure: result.RequestsPerPod, Over: string(scenarios.BuiltIn), Most: 0.9},
			{Figure: result.RequestsPerPod, Over: string(scenarios.Floor), Most: 2.5},
		}},
	},
}

// TestSmoke plays one small scenario with everybody: order and budget are kept, what an update costs stays in its bounds,
// and the table tells of all who played.
func TestSmoke(t *testing.T) {
	run, err := playAll(t.Context(), []scenarios.Scenario{smoke}, stage.Settings{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run.Print(&out); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	for _, verdict := range run.Verdicts() {
		if verdict.Standing != result.Met {
			t.Error(verdict)
		}
	}
	for _, violation := range run.Violations() {
		t.Error(violation)
	}
	if err := check(run); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"built-in", "rollcall", "floor", "1.00 create pods", "1.00 delete pods"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not tell of %q", want)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := choose(options{suite: "comparison"})
	if err != nil || len(all) < 5 {
		t.Fatalf("%d scenarios, error %v; want all of them", len(all), err)
	}
	some, err := choose(options{suite: "comparison", only: "^1 x 10", rounds: 7})
	if err != nil || len(some) == 0 || len(some) >= len(all) || some[0].Rounds != 7 {
		t.Errorf("%d of %d scenarios, error %v; want some, with 7 rounds", len(some), len(all), err)
	}
	if curve, err := choose(options{suite: "curve"}); err != nil || len(curve) == 0 || curve[0].Suite != scenarios.Curve {
		t.Errorf("%d scenarios of the curve, error %v", len(curve), err)
	}
	for _, only := range []string{"no such scenario", "("} {
		if _, err := choose(options{suite: "comparison", only: only}); err == nil {
			t.Errorf("-only %q finds something", only)
		}
	}
}
