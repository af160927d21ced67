package simulation

import (
	"fmt"
	"slices"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// The properties of single strategies (C, F, P, O) and of pausing (A1); see
// invariants.go.

// neverMixesRevisions is judged in truth, at each create, of the pods whose owner
// the set is.
func neverMixesRevisions(t *Transition, s *scene) error {
	for _, write := range t.Writes {
		create, ok := write.Action.(plan.CreatePod)
		if !ok || s.strategy != v1.RecreateStrategy {
			continue
		}
		for _, pod := range write.Before.Pods {
			if isControlledBy(pod, s.set.UID) && pod.Labels[v1.RevisionLabel] != create.Revision {
				return fmt.Errorf("%s while there is %s at revision %s", create, pod.Name, pod.Labels[v1.RevisionLabel])
			}
		}
	}
	return nil
}

func recreateDeletesAll(t *Transition, s *scene) error {
	if s.strategy != v1.RecreateStrategy || s.isPaused || s.set.DeletionTimestamp != nil {
		return nil
	}
	gone := map[int]bool{}
	for _, remove := range deletes(t.Decision.Plan, anyDelete) {
		gone[remove.Ordinal] = true
	}
	for _, p := range slices.Concat(s.places, s.condemned) {
		isOther := !p.isMissing() && p.revision != s.target
		if isOther && !p.isTerminating() && !gone[p.ordinal] {
			return fmt.Errorf("%s at revision %s is left", p.pod.Name, p.revision)
		}
	}
	return nil
}

// waitsForNoBrokenPod: the next pod in turn goes, broken or not, when fewer than
// the budget are in flight; and so does the highest pod outside the range.
func waitsForNoBrokenPod(t *Transition, s *scene) error {
	isInForce := s.strategy == v1.EnforcedRollingUpdateStrategy && !s.isPaused && s.set.DeletionTimestamp == nil
	if !isInForce || s.count(place.isInFlight) > 0 {
		return nil
	}
	next := slices.IndexFunc(s.condemned, func(p place) bool { return !p.isTerminating() })
	if len(s.condemned) == 0 {
		next = -1
		for i, p := range s.places {
			if p.isUpdated && p.isOutdated() {
				next = i
			}
		}
		if next >= 0 && len(updates(t.Decision.Plan)) == 0 {
			return fmt.Errorf("nothing is in flight, and %s is not replaced", s.places[next].pod.Name)
		}
		return nil
	}
	if next == 0 && len(deletes(t.Decision.Plan, anyDelete)) == 0 {
		return fmt.Errorf("nothing is in flight, and %s is not removed", s.condemned[0].pod.Name)
	}
	return nil
}

func safetyHaltHolds(t *Transition, s *scene) error {
	if s.strategy != v1.EnforcedRollingUpdateStrategy || len(s.places) == 0 {
		return nil
	}
	top := s.places[len(s.places)-1]
	isHalted := top.isUpdated && !top.isMissing() && !top.isTerminating() && !top.isOutdated() && !top.state.Ready
	for _, remove := range updates(t.Decision.Plan) {
		if isHalted && remove.Ordinal < s.slots.End()-s.budget {
			return fmt.Errorf("%s while %s is not ready at the target revision", remove, top.pod.Name)
		}
	}
	return nil
}

func keepsWhatIsUpdated(t *Transition, s *scene) error {
	for _, remove := range updates(t.Decision.Plan) {
		if s.strategy == v1.EnforcedRollingUpdateStrategy && remove.Pod.Labels[v1.RevisionLabel] == s.target {
			return fmt.Errorf("%s, which is at the target revision", remove)
		}
	}
	return nil
}

func sparesWhatWasReady(t *Transition, _ *scene) error {
	for _, write := range t.Writes {
		remove, ok := write.Action.(plan.DeletePod)
		wasReady := ok && slices.Contains(t.Before.Ledger.WasReady, remove.Pod.UID)
		if wasReady && remove.Reason.Code == plan.ProgressTimedOut && write.Err == nil && find(write.Before.Pods, remove.Pod.Name) != nil {
			return fmt.Errorf("%s (%s), which was ready", remove, remove.Reason)
		}
	}
	return nil
}

// maxTimeouts is how many pods in a row the timeout may take at one revision.
const maxTimeouts = 3

func timeoutIsBounded(t *Transition, s *scene) error {
	for _, remove := range updates(t.Decision.Plan) {
		p := s.place(remove.Ordinal)
		isDue := s.hasTimeout && s.isUpdating() && p.isUpdated && !p.isTerminating() && remove.IfUnchanged
		if remove.Reason.Code == plan.ProgressTimedOut && !isDue {
			return fmt.Errorf("%s (%s) out of turn", remove, remove.Reason)
		}
	}
	for _, timeouts := range t.After.Ledger.Timeouts {
		if timeouts.Count > maxTimeouts {
			return fmt.Errorf("slot %d was replaced %d times at revision %s", timeouts.Ordinal, timeouts.Count, timeouts.Revision)
		}
	}
	return nil
}

func onDeleteDeletesNothing(t *Transition, s *scene) error {
	for _, remove := range updates(t.Decision.Plan) {
		if s.strategy == v1.OnDeleteStrategy {
			return fmt.Errorf("%s (%s)", remove, remove.Reason)
		}
	}
	return nil
}

func pausedMeansNoUpdate(t *Transition, s *scene) error {
	for _, remove := range deletes(t.Decision.Plan, anyDelete) {
		p := s.place(remove.Ordinal)
		isHealing := remove.Reason.Code == plan.PodEnded && (p.state.Class == podstate.Failed || p.state.Class == podstate.Succeeded)
		if s.isPaused && remove.Reason.Code != plan.ScaledDown && !isHealing {
			return fmt.Errorf("%s (%s) while paused", remove, remove.Reason)
		}
	}
	return nil
}
