package chaos

import (
	"math/rand/v2"
	"strconv"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// timeout is longer than a pod takes to get ready on a busy machine, and than clocks differ.
const timeout = 10

// style is how a tenant has its set updated.
type style struct {
	name     string
	strategy v1.UpdateStrategyType
	// isParallel is the management policy.
	isParallel bool
	// hasTimeout: with podProgressTimeoutSeconds.
	hasTimeout bool
}

// styles are one of each kind; every one has a tenant.
var styles = []style{
	{name: "ordered", strategy: v1.RollingUpdateStrategy},
	{name: "staged", strategy: v1.RollingUpdateStrategy},
	{name: "parallel", strategy: v1.RollingUpdateStrategy, isParallel: true},
	{name: "timeout", strategy: v1.RollingUpdateStrategy, hasTimeout: true},
	{name: "timeout-parallel", strategy: v1.RollingUpdateStrategy, isParallel: true, hasTimeout: true},
	{name: "enforced", strategy: v1.EnforcedRollingUpdateStrategy},
	{name: "enforced-parallel", strategy: v1.EnforcedRollingUpdateStrategy, isParallel: true},
	{name: "recreate", strategy: v1.RecreateStrategy},
	{name: "recreate-parallel", strategy: v1.RecreateStrategy, isParallel: true},
	{name: "on-delete", strategy: v1.OnDeleteStrategy},
}

// hasPartition tells whether updates can be staged.
func (s style) hasPartition() bool {
	return s.strategy == v1.RollingUpdateStrategy || s.strategy == v1.EnforcedRollingUpdateStrategy
}

// needsUser tells whether an update gets nowhere unless a user deletes pods: always, or after a broken template.
func (s style) needsUser() bool {
	isPlain := s.strategy == v1.RollingUpdateStrategy && !s.isParallel && !s.hasTimeout
	return isPlain || s.strategy == v1.OnDeleteStrategy
}

// edits draws a set of the style.
func (s style) edits(random *rand.Rand) []scenario.Edit {
	retained := []v1.RetentionPolicyType{v1.Retain, v1.Delete}
	edits := []scenario.Edit{
		scenario.Strategy(s.strategy), scenario.Replicas(2 + random.Int32N(3)), scenario.MinReady(random.Int32N(2)), scenario.HistoryLimit(2),
		scenario.Claims("data"), scenario.Retention(retained[random.IntN(2)], retained[random.IntN(2)]),
	}
	if s.isParallel {
		edits = append(edits, scenario.Parallel())
	}
	if s.hasPartition() {
		edits = append(edits, scenario.MaxUnavailable(strconv.Itoa(1+random.IntN(3))))
	}
	if s.hasTimeout {
		edits = append(edits, scenario.ProgressTimeout(timeout))
	}
	return edits
}
