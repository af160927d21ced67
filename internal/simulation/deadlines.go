package simulation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// The deadlines of the planner.
const (
	// minLifetime is how long the controller leaves a pod that has ended alone.
	minLifetime = 10 * time.Second
	// haltGrace is how long it waits before it calls a safety halt one.
	haltGrace = time.Minute
	// timeoutDelay is how long after the progress timeout it can be certain of it,
	// because times of creation are whole seconds.
	timeoutDelay = time.Second
)

// deadlines are the ages up to which the age of a pod makes a difference in a
// scenario, whatever is edited in it; zero where it never does.
type deadlines struct {
	// end is for pods that have ended, timeout for those that were never ready.
	end, halt, timeout, minReady time.Duration
}

func deadlinesOf(scenario *Scenario) deadlines {
	var d deadlines
	if slices.Contains(scenario.Mishaps, Fail) || slices.Contains(scenario.Mishaps, Succeed) {
		d.end = minLifetime
	}
	for _, word := range append(strings.Fields(scenario.Setup), scenario.Edits...) {
		key, value, _ := strings.Cut(word, "=")
		number, _ := strconv.Atoi(value) // what is no number is none of these
		seconds := time.Duration(number) * time.Second
		switch {
		case key == "minReady":
			d.minReady = max(d.minReady, seconds)
		case key == "timeout":
			d.timeout = max(d.timeout, seconds+timeoutDelay)
		case key == "strategy" && value == string(v1.EnforcedRollingUpdateStrategy):
			d.halt = haltGrace
		}
	}
	return d
}

// ofPod is the last deadline that the age of a pod is held against.
func (d deadlines) ofPod(wasReady bool) time.Duration {
	if wasReady {
		return max(d.end, d.halt)
	}
	return max(d.end, d.halt, d.timeout)
}
