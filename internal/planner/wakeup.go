package planner

import "time"

// recheckInterval is how long a slot that waits for somebody else's object is
// left alone: the removal of that object need not reach us as an event.
const recheckInterval = 30 * time.Second

// wakeAt is the earliest time at which something changes by itself: a pod
// becomes available or may be replaced, the strategy loses patience, a foreign
// object may be gone.
func (d *decision) wakeAt(verdict verdict) time.Time {
	at := verdict.wakeAt
	for i := range d.fleet.slots {
		s := &d.fleet.slots[i]
		at = earlier(at, s.state.AvailableAt)
		if s.state.HasEnded() && s.replaceableAt().After(d.now) {
			at = earlier(at, s.replaceableAt())
		}
	}
	for i := range d.fleet.condemned {
		at = earlier(at, d.fleet.condemned[i].state.AvailableAt)
	}
	if d.blockers.any() {
		at = earlier(at, d.now.Add(recheckInterval))
	}
	return at
}

// earlier returns the earlier of two times, zero meaning never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
