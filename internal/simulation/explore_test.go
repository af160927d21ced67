package simulation

import (
	"testing"
	"time"
)

func TestExplore(t *testing.T) {
	s := &Scenario{Setup: "replicas=3 history=1", Edits: []string{"template=x", "template=b"}, Lags: []Kind{Pods},
		Mishaps: []Verb{Unready, Evict}, MaxMishaps: 1, Faults: []Verb{Crash, Blur}, MaxFaults: 1}
	start := time.Now()
	report, err := Explore(s, 50000)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states %d transitions depth %d complete %t in %s", report.States, report.Transitions, report.Depth, report.IsComplete, time.Since(start))
	if c := report.Counterexample; c != nil {
		short := Shrink(*c)
		t.Logf("%v\n%s", short.Violation, short.Trace)
		Replay(short.Trace, func(tr *Transition) { t.Log(tr.Tell()) })
		t.Fail()
	}
}
