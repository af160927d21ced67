package simulation

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// TestRun checks the order of writes against the rules of package plan, which
// internal/execute keeps. Actions are deletes of pods a, b, c, …; those in fails
// fail; each list is what is open at the same time.
func TestRun(t *testing.T) {
	lanes := func(words ...string) (lanes []plan.Lane) {
		for _, word := range words {
			var lane plan.Lane
			for _, name := range word {
				lane = append(lane, plan.DeletePod{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string(name)}}})
			}
			lanes = append(lanes, lane)
		}
		return lanes
	}
	tests := map[string]struct {
		steps []plan.Step
		fails string
		want  []string
	}{
		"in turn":                     {[]plan.Step{{Pace: plan.InTurn, Lanes: lanes("ab", "c")}}, "", []string{"a", "b", "c", "status"}},
		"in turn, a failure":          {[]plan.Step{{Pace: plan.InTurn, Lanes: lanes("ab", "c")}}, "a", []string{"a", "status"}},
		"slow start":                  {[]plan.Step{{Pace: plan.SlowStart, Lanes: lanes("a", "b", "c", "d")}}, "", []string{"a", "bc", "c", "d", "status"}},
		"slow start, a failure":       {[]plan.Step{{Pace: plan.SlowStart, Lanes: lanes("a", "b", "c", "d")}}, "b", []string{"a", "bc", "c", "status"}},
		"independent":                 {[]plan.Step{{Pace: plan.Independent, Lanes: lanes("ab", "c")}}, "a", []string{"ac", "c", "status"}},
		"a failure goes on":           {[]plan.Step{{Pace: plan.InTurn, Lanes: lanes("a")}, {Pace: plan.InTurn, Lanes: lanes("b")}}, "a", []string{"a", "b", "status"}},
		"a failure of the essential":  {[]plan.Step{{Pace: plan.InTurn, Essential: true, Lanes: lanes("a")}, {Pace: plan.InTurn, Lanes: lanes("b")}}, "a", []string{"a", "status"}},
		"the status first":            {[]plan.Step{{Pace: plan.InTurn, Lanes: lanes("a")}, {Pace: plan.InTurn, StatusFirst: true, Lanes: lanes("b")}}, "", []string{"a", "status", "b", "status"}},
		"the status first, a failure": {[]plan.Step{{Pace: plan.InTurn, StatusFirst: true, Lanes: lanes("a")}}, "s", []string{"status"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run := begin(&Decision{Plan: plan.Plan{Steps: test.steps}})
			var got []string
			for !run.isDone {
				got = append(got, proceedWith(run, test.fails))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what is open (-want +got):\n%s", diff)
			}
		})
	}
}

// proceedWith makes the first open write and returns what was open.
func proceedWith(run *Run, fails string) string {
	open := run.open()
	failure := func(name string) error {
		for _, failing := range fails {
			if string(failing) == name[:1] {
				return errors.New("no")
			}
		}
		return nil
	}
	if open[0] == statusLane {
		run.noteStatus(nil, failure("status"))
		return "status"
	}
	names := ""
	for _, lane := range open {
		names += run.lane(lane)[run.next[lane]].Object().GetName()
	}
	action := run.lane(open[0])[run.next[open[0]]]
	run.note(open[0], action, failure(action.Object().GetName()))
	return names
}
