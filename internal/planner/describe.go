package planner

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// describe says what the slot's pod is doing, and why it gets no further.
func (s *slot) describe() string { return podstate.Describe(s.pod, s.state) }

// waiting goes on, after a text about the whole set, with the one pod or claim
// that somebody who wonders why nothing happens should look at.
func (d *decision) waiting() string {
	if s := d.straggler(); s != nil {
		return fmt.Sprintf("; waiting for pod %s, which is %s", s.pod.Name, s.describe())
	}
	if d.blockers.onItsWayOut != "" {
		return "; waiting for the end of " + d.blockers.onItsWayOut
	}
	return ""
}

// straggler is the lowest slot whose pod says what keeps it from being ready.
// If none does, it is the lowest that an ordered set waits for; in Parallel pods
// come up in any order, and only one that does not go is worth a word.
func (d *decision) straggler() *slot {
	var lowest *slot
	for i := range d.fleet.slots {
		s := &d.fleet.slots[i]
		switch {
		case s.isMissing() || s.isAvailable():
		case podstate.Explain(s.pod) != "":
			return s
		case lowest == nil && (!d.settings.isParallel || s.isTerminating()):
			lowest = s
		}
	}
	return lowest
}

// describeUpdate says how far the update has come, what it waits for, and how
// long that will be borne.
func (d *decision) describeUpdate(target string) string {
	message := fmt.Sprintf("updating to revision %s, %s%s", target, d.describeOutdated(), d.waiting())
	if s := d.straggler(); s != nil && d.isOnTheClock(s) {
		message += ", and has until " + d.deadline(s).UTC().Format(time.RFC3339) + " to become ready"
	}
	return message
}

func (d *decision) describeOutdated() string {
	if d.fleet.tally.outdated == 0 {
		return "no outdated pod is left"
	}
	return pods(d.fleet.tally.outdated) + " to go"
}

// maxNames is how many pods a text names before it counts the rest.
const maxNames = 5

// describeHeldBack says which pods an OnDelete update waits for.
func (d *decision) describeHeldBack(target string) string {
	var names []string
	for s := range d.candidates() {
		names = append(names, s.pod.Name)
	}
	rest := ""
	if len(names) > maxNames {
		rest = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return fmt.Sprintf("waiting for somebody to delete %s%s, for revision %s to take their place", strings.Join(names, ", "), rest, target)
}

// isOnTheClock tells whether the progress timeout applies to the slot's pod.
func (d *decision) isOnTheClock(s *slot) bool {
	hasTimeout := d.settings.strategy == v1.RollingUpdateStrategy && d.settings.progressTimeout > 0
	return hasTimeout && s.isUpdated && !s.isMissing() && !s.isTerminating() && !podstate.WasReady(s.pod)
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
