package planner_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// TestGatesTold: whoever knows the gates from the status alone decides as the
// controller that wrote it.
func TestGatesTold(t *testing.T) {
	for bits := range 1 << 4 {
		gates := plan.Gates{
			MaxUnavailable: bits&1 > 0, Recreate: bits&2 > 0, EnforcedRollingUpdate: bits&4 > 0, ProgressDeadline: bits&8 > 0,
		}
		for name, set := range map[string]*testkit.SetBuilder{
			"plain":    updating(4),
			"budget":   updating(4).MaxUnavailable("2"),
			"timeout":  updating(4).ProgressTimeout(60),
			"recreate": updating(4).Strategy(v1.RecreateStrategy),
			"enforced": updating(4).Strategy(v1.EnforcedRollingUpdateStrategy).MaxUnavailable("3"),
		} {
			t.Run(fmt.Sprintf("%s %+v", name, gates), func(t *testing.T) {
				o := testkit.Observe(set.Obj(), "ab", "0:a/available 1:a/available 2:a/available 3:b/pulling")
				o.Gates = gates
				o.Live.Pods = true
				o.Set.Status = planner.Compute(o).Status
				want := planner.Compute(o)
				o.Gates = planner.GatesTold(o.Set)
				if diff := cmp.Diff(want, planner.Compute(o)); diff != "" {
					t.Errorf("the plan differs from the controller's (-controller +told):\n%s", diff)
				}
			})
		}
	}
}
