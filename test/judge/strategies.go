package judge

import (
	"fmt"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// safetyHaltHolds: the highest pod counts from the first status write after its
// creation on. Until then it may belong to the very plan that is judged, which
// was made when the highest slot was still empty.
func safetyHaltHolds(a act) error {
	if a.strategy != v1.EnforcedRollingUpdateStrategy || !a.isForUpdate() || len(a.places) == 0 {
		return nil
	}
	top := a.places[len(a.places)-1]
	isHalted := top.isUpdated && !top.isMissing() && !top.isTerminating() && !top.isOutdated() && !top.state.Ready
	if isHalted && top.pod.createdAt < a.family.statusAt && a.pod.ordinal < a.slots.End()-a.budget {
		return fmt.Errorf("%s is taken while %s is not ready at the target revision", a.pod.Name, top.pod.Name)
	}
	return nil
}

// updatedIsKept is F3 for Enforced, and true of all strategies: a pod that is what
// its slot wants is deleted by nothing but the timeout.
func updatedIsKept(a act) error {
	if a.why == noReason {
		return fmt.Errorf("%s is deleted although it is what its slot wants", a.pod.Name)
	}
	return nil
}

func sparesWhatWasReady(a act) error {
	if a.why == timedOut && a.pod.wasReady {
		return fmt.Errorf("%s is deleted by the timeout although it was ready", a.pod.Name)
	}
	return nil
}

// maxTimeouts is how many pods in a row the timeout may take at one revision.
const maxTimeouts = 3

// timeoutIsBounded: creation times are cut to whole seconds, so an age is up to a
// second less than it seems, in favour of the accused.
func timeoutIsBounded(a act) error {
	if a.why != timedOut {
		return nil
	}
	if !a.isUpdating() || !a.own().isUpdated {
		return fmt.Errorf("%s is deleted by the timeout out of turn", a.pod.Name)
	}
	if age := a.now.Sub(a.pod.CreationTimestamp.Time); age < a.timeout {
		return fmt.Errorf("%s is deleted after %s, and the timeout is %s", a.pod.Name, age, a.timeout)
	}
	if count := a.family.ledger.replacements(a.pod.ordinal, a.image); count >= maxTimeouts {
		return fmt.Errorf("%s is deleted by the timeout for the %dth time", a.pod.Name, count+1)
	}
	return nil
}

func onDeleteDeletesNothing(a act) error {
	if a.strategy == v1.OnDeleteStrategy && a.isForUpdate() {
		return fmt.Errorf("%s is deleted for an update", a.pod.Name)
	}
	return nil
}

func pausedMeansNoUpdate(a act) error {
	if a.isPaused && a.isForUpdate() {
		return fmt.Errorf("%s is deleted for an update while paused", a.pod.Name)
	}
	return nil
}
