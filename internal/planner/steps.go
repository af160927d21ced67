package planner

import (
	"cmp"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// steps lays the work out so that every prefix of it is safe; plan.Purpose says
// why each step stands where it does.
func (d *decision) steps(verdict verdict) []plan.Step {
	steps := []plan.Step{
		{Purpose: plan.PurposeOwnership, Pace: plan.Independent, Essential: true, Lanes: d.ownership.lanes(d.set)},
		{Purpose: plan.PurposeUpkeep, Pace: plan.Independent, Lanes: d.upkeep()},
		{Purpose: plan.PurposeScaleDown, Pace: d.pace(), Lanes: d.scaleDown()},
		{Purpose: plan.PurposeHistory, Pace: plan.InTurn, Lanes: d.truncation()},
		{Purpose: plan.PurposeRevision, Pace: plan.InTurn, Essential: true, Lanes: d.history.lanes()},
		{Purpose: plan.PurposeFill, Pace: d.pace(), Lanes: d.fill(verdict)},
		{Purpose: plan.PurposeUpdate, Pace: cmp.Or(verdict.pace, d.pace()), StatusFirst: verdict.statusFirst, Lanes: verdict.lanes()},
	}
	return withoutEmpty(steps)
}

func withoutEmpty(steps []plan.Step) []plan.Step {
	var kept []plan.Step
	for _, step := range steps {
		if len(step.Lanes) > 0 {
			kept = append(kept, step)
		}
	}
	return kept
}

// pace is how pods follow each other under the set's management policy.
func (d *decision) pace() plan.Pace {
	if d.settings.isParallel {
		return plan.SlowStart
	}
	return plan.InTurn
}
