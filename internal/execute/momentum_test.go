package execute

import (
	"slices"
	"strconv"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// creating is a plan that creates so many pods, from a number on.
func creating(from, count int) plan.Plan {
	var names []string
	for number := range count {
		names = append(names, "web-"+strconv.Itoa(from+number))
	}
	return plan.Plan{Steps: []plan.Step{{Pace: plan.SlowStart, Lanes: creates(names...)}}}
}

// TestMomentum: what went well need not be tried anew, what was refused must be.
func TestMomentum(t *testing.T) {
	refused := false
	b := newBench(t, func(string) error {
		if refused {
			return errQuota
		}
		return nil
	})
	requests := func(todo plan.Plan) int {
		b.log = nil
		b.run(t, todo)
		return len(slices.DeleteFunc(b.log, func(request string) bool { return request == "status web" }))
	}
	if got := requests(creating(0, 100)); got != 100 {
		t.Errorf("%d creates, want 100", got)
	}
	refused = true
	if got := requests(creating(100, 50)); got != mostMomentum {
		t.Errorf("%d creates are refused before the step ends, want %d", got, mostMomentum)
	}
	if got := requests(creating(100, 50)); got != 1 {
		t.Errorf("%d creates are tried after a refusal, want 1", got)
	}
	refused = false
	if got := requests(creating(100, 50)); got != 50 {
		t.Errorf("%d creates once the refusal is over, want 50", got)
	}
}
