package planner

import (
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Summarize returns the state of a set in numbers. It reads the set and its pods
// and nothing else of the observation, so that it can be asked about every set
// at any time. It fails for a spec that can't be acted on.
func Summarize(observation plan.Observation) (plan.Summary, error) {
	d := &decision{observation: observation, set: observation.Set, now: observation.Now}
	var err error
	if d.settings, err = readSettings(d.set, observation.Gates); err != nil {
		return plan.Summary{}, err
	}
	d.ownership = sortByOwner(d)
	return d.summary(), nil
}

func (d *decision) summary() plan.Summary {
	summary := plan.Summary{
		Strategy:       d.settings.strategy,
		Unavailable:    int32(d.settings.slots.Count),
		MaxUnavailable: int32(d.settings.budget),
	}
	for _, member := range d.ownership.pods {
		if d.settings.slots.Contains(member.ordinal) && podstate.Classify(member.pod, d.settings.minReady, d.now).IsAvailable() {
			summary.Unavailable--
		}
	}
	return summary
}
