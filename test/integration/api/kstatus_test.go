package api

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

// A set that no controller has seen yet is in progress to whoever waits for it, not done. What kstatus makes of it from
// then on is shown with the planner's roll-outs.
func TestUnseenSetIsInProgress(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	set := minimalSet(space.Name)
	if err := space.Client.Create(space.Context, set); err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(set)
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != status.InProgressStatus {
		t.Errorf("the set is %s (%s): %v", result.Status, result.Message, set.Object["status"])
	}
}
