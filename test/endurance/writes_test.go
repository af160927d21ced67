package endurance

import (
	"testing"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// TestStatusWritesAreFew counts the dearest request of all during a rolling update, ours and the built-in controller's.
func TestStatusWritesAreFew(t *testing.T) {
	const pods = 10
	edits := []scenario.Edit{scenario.Replicas(pods), scenario.Parallel(), scenario.MaxUnavailable("3")}

	builtIn := scenario.PrepareUnattended(t, scenario.BuiltIn)
	theirs := countStatusWrites(t, builtIn, "apps", pods, edits)

	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	process.Start(t, story.Space)
	ours := countStatusWrites(t, story, v1.GroupName, pods, edits)

	t.Logf("status writes per updated pod: %.1f of ours, %.1f of the built-in controller", ours/pods, theirs/pods)
	if ours > theirs/2 {
		t.Errorf("%.0f status writes for %d pods, want at most half of the built-in controller's %.0f", ours, pods, theirs)
	}
}

// countStatusWrites returns how many status writes an update of a set costs.
func countStatusWrites(t *testing.T, story *scenario.Story, group string, pods int32, edits []scenario.Edit) float64 {
	t.Helper()
	story.Create(edits...)
	story.ThenUpdated(pods)
	story.ThenSettled()
	before := countWrites(t, story)
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(pods)
	story.ThenSettled()
	after := countWrites(t, story)
	writes := 0.0
	for _, verb := range []string{"PUT", "PATCH"} {
		key := verb + " " + group + " statefulsets/status"
		writes += after[key] - before[key]
	}
	return writes
}
