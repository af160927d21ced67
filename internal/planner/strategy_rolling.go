package planner

import "github.com/rollcall-dev/rollcall/internal/plan"

// rolling is the RollingUpdate strategy: from the highest ordinal down to the
// partition, and never more pods down at a time than the budget allows.
//
// OrderedReady takes pods down only while every slot is available and nothing
// is condemned, so one pod that does not come up holds the update: the safe
// default. Parallel replaces outdated pods that are unavailable anyway at no
// cost, and available ones while the budget, from which every unavailable slot
// is taken, lasts.
type rolling struct{ settings settings }

func (r rolling) targets(ordinal int) bool { return ordinal >= r.settings.firstUpdated() }

func (rolling) holdsUp(*slot) bool { return true }

func (r rolling) update(d *decision) verdict {
	v := verdict{takeDowns: r.takeOutdated(d)}
	if r.settings.progressTimeout > 0 {
		return r.withTimeout(d, v)
	}
	return v
}

func (r rolling) takeOutdated(d *decision) []takeDown {
	if r.settings.isParallel {
		return append(takeUnavailable(d), takeAvailable(d)...)
	}
	if d.fleet.tally.unavailable > 0 || len(d.fleet.condemned) > 0 {
		return nil
	}
	return takeAvailable(d)
}

// takeUnavailable takes every outdated pod that serves nobody.
func takeUnavailable(d *decision) []takeDown {
	var taken []takeDown
	for s := range d.candidates() {
		if !s.isAvailable() && !s.isTerminating() {
			why := plan.Because(plan.OutdatedUnavailable, "it is %s at revision %s and the target is %s",
				s.describe(), s.revision, s.wanted)
			taken = append(taken, takeDown{slot: s, reason: why})
		}
	}
	return taken
}

// takeAvailable takes outdated pods that serve, as far as the budget goes.
func takeAvailable(d *decision) []takeDown {
	var taken []takeDown
	budget := newBudget(d.settings.budget, d.fleet.tally.unavailable)
	for s := range d.candidates() {
		if !s.isAvailable() {
			continue
		}
		if !budget.spend() {
			break
		}
		why := plan.Because(plan.Outdated, "it is at revision %s and the target is %s", s.revision, s.wanted)
		taken = append(taken, takeDown{slot: s, reason: why})
	}
	return taken
}
