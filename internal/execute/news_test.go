package execute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// TestAReplacementIsOnePieceOfNews: who reads that a pod is replaced need not read that another came. Anything else is
// told: what was taken away, what came for the first time, and what came after its set was forgotten.
func TestAReplacementIsOnePieceOfNews(t *testing.T) {
	remove := func(reason plan.ReasonCode) []plan.Lane {
		return []plan.Lane{{plan.DeletePod{Pod: pod("web-0"), Reason: plan.Because(reason, "test")}}}
	}
	tests := map[string]struct {
		removal  []plan.Lane
		isForgot bool
		want     string
	}{
		"first pod":            {want: "SuccessfulCreate"},
		"outdated":             {removal: remove(plan.Outdated), want: "SuccessfulDelete"},
		"outdated, broken":     {removal: remove(plan.OutdatedUnavailable), want: "SuccessfulDelete"},
		"ended":                {removal: remove(plan.PodEnded), want: "SuccessfulDelete"},
		"scaled down, then up": {removal: remove(plan.ScaledDown), want: "SuccessfulDelete SuccessfulCreate"},
		"forgotten":            {removal: remove(plan.Outdated), isForgot: true, want: "SuccessfulDelete SuccessfulCreate"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b *bench
			if test.removal == nil {
				b = newBench(t, nil)
			} else {
				b = newBench(t, nil, pod("web-0"))
				b.run(t, plan.Plan{Steps: []plan.Step{{Pace: plan.InTurn, Lanes: test.removal}}})
			}
			if test.isForgot {
				b.Forget(client.ObjectKeyFromObject(b.set))
			}
			b.run(t, plan.Plan{Steps: []plan.Step{{Pace: plan.InTurn, Lanes: creates("web-0")}}})
			if diff := cmp.Diff(test.want, strings.Join(b.reasons(), " ")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// reasons returns those of the events so far.
func (b *bench) reasons() []string {
	var reasons []string
	for len(b.events.Events) > 0 {
		reasons = append(reasons, strings.Fields(<-b.events.Events)[1])
	}
	return reasons
}

// TestNewsGoWithTheStatus: while counters wait, so do the events about what changed them.
func TestNewsGoWithTheStatus(t *testing.T) {
	b := newBench(t, nil)
	steps := []struct {
		name string
		want string
	}{
		{"web-0", "Normal SuccessfulCreate create pod web-0 at revision  (test)"},
		{"web-1", ""},
		{"web-2", ""},
		{"", "Normal SuccessfulCreate create pod web-1 at revision  (test), and likewise 1 more: web-2"},
	}
	for i, step := range steps {
		todo := plan.Plan{Status: v1.StatefulSetStatus{Replicas: min(int32(i)+1, 3)}}
		if step.name != "" {
			todo.Steps = []plan.Step{{Pace: plan.InTurn, Lanes: creates(step.name)}}
		}
		b.run(t, todo)
		got := ""
		if len(b.events.Events) > 0 {
			got = <-b.events.Events
		}
		if diff := cmp.Diff(step.want, got); diff != "" || len(b.events.Events) > 0 {
			t.Errorf("step %d: event (-want +got):\n%s and %d more", i, diff, len(b.events.Events))
		}
		b.clock.Time = b.clock.Add(CounterInterval/3 + 1)
		b.observe(t)
	}
}

// TestReasonsThatCount: a reason that says no more than counters do is no news, others are.
func TestReasonsThatCount(t *testing.T) {
	status := func(reason string) v1.StatefulSetStatus {
		return v1.StatefulSetStatus{Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}}
	}
	if !haveSameMeaning(status(v1.ReasonOutdated), status(v1.ReasonUnavailable)) {
		t.Error("that a pod of an update is down is news")
	}
	if haveSameMeaning(status(v1.ReasonOutdated), status(v1.ReasonInvalidSpec)) {
		t.Error("that the spec is invalid is no news")
	}
}
