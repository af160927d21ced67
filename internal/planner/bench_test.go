package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// fleetOf notes n pods in the same state.
func fleetOf(n int, state string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d:%s ", i, state)
	}
	return b.String()
}

// benchmarks are the situations a set of a size may be in.
func benchmarks(size int) map[string]plan.Observation {
	n := int32(size)
	quarter := web(n).Claims("data").Parallel().Template("b").Current("a").MaxUnavailable("25%").Obj()
	return map[string]plan.Observation{
		"at-rest":         testkit.Observe(web(n).Claims("data").Obj(), "a", fleetOf(size, "a/available")),
		"update-ordered":  testkit.Observe(updating(n).Claims("data").Obj(), "ab", fleetOf(size, "a/available")),
		"update-parallel": testkit.Observe(quarter, "ab", fleetOf(size, "a/available")),
		"create-parallel": testkit.Observe(web(n).Claims("data").Parallel().Obj(), "a", ""),
	}
}

// BenchmarkCompute shows what a decision costs: below 1 ms for 1,000 pods, and
// ten times that for 10,000.
func BenchmarkCompute(b *testing.B) {
	for _, size := range []int{10, 1000, 10000} {
		for name, observation := range benchmarks(size) {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					planner.Compute(observation)
				}
			})
		}
	}
}

// TestComputeGrowsLinearly counts allocations, which unlike times are the same
// on every machine: ten times the pods may cost ten times as much, give or take.
func TestComputeGrowsLinearly(t *testing.T) {
	small, large := benchmarks(1000), benchmarks(10000)
	for name := range small {
		t.Run(name, func(t *testing.T) {
			few := testing.AllocsPerRun(1, func() { planner.Compute(small[name]) })
			many := testing.AllocsPerRun(1, func() { planner.Compute(large[name]) })
			if many > 11*few {
				t.Errorf("1,000 pods cost %.0f allocations, 10,000 cost %.0f", few, many)
			}
		})
	}
}
