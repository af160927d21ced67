package planner

import "github.com/rollcall-dev/rollcall/internal/plan"

// scaleDown removes condemned pods, each after its claims know their owner.
// Claims of those that have to wait get their owner now all the same.
func (d *decision) scaleDown() []plan.Lane {
	var lanes []plan.Lane
	for i := range d.fleet.condemned {
		s := &d.fleet.condemned[i]
		lane := plan.Lane(d.claimOwners(s))
		if !s.isTerminating() && (s.isTaken || d.mayRemove(i)) {
			lane = append(lane, plan.DeletePod{Ordinal: s.ordinal, Pod: s.pod, Reason: d.whyRemoved(s)})
		}
		if len(lane) > 0 {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

// mayRemove tells whether the i-th condemned pod may go: all at once in
// Parallel; in OrderedReady only the highest, when every slot is available, and
// if the pod itself is not, it must be the lowest such one. What the strategy
// does not wait for does not count.
func (d *decision) mayRemove(i int) bool {
	if d.settings.isParallel {
		return true
	}
	if i > 0 || d.isHeldUp() {
		return false
	}
	top := &d.fleet.condemned[0]
	return top.isAvailable() || !d.strategy.holdsUp(top) || d.lowestUnavailableCondemned() == 0
}

// isHeldUp tells whether a slot makes the scale-down wait.
func (d *decision) isHeldUp() bool {
	for i := range d.fleet.slots {
		if s := &d.fleet.slots[i]; !s.isAvailable() && d.strategy.holdsUp(s) {
			return true
		}
	}
	return false
}

// lowestUnavailableCondemned returns an index, or -1 if all are available.
func (d *decision) lowestUnavailableCondemned() int {
	for i := len(d.fleet.condemned) - 1; i >= 0; i-- {
		if !d.fleet.condemned[i].isAvailable() {
			return i
		}
	}
	return -1
}

func (d *decision) whyRemoved(s *slot) plan.Reason {
	slots := d.settings.slots
	if slots.Count == 0 {
		return plan.Because(plan.ScaledDown, "the set is scaled to 0 replicas")
	}
	return plan.Because(plan.ScaledDown, "its ordinal %d is outside %d to %d", s.ordinal, slots.Start, slots.End()-1)
}
