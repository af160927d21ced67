package execute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
