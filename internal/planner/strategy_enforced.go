package planner

import (
	"fmt"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// enforced is the EnforcedRollingUpdate strategy: a rolling update for which an
// outdated pod is an outdated pod, whatever its state. One that is broken holds
// nothing up, neither the update of others nor a scale-down, so a corrected
// template always gets through.
//
// The budget counts slots in flight. OrderedReady goes strictly from the highest
// ordinal down; Parallel takes outdated pods that are unavailable first, at no
// cost. Two rules keep it from doing harm and from blocking itself:
//
//   - Safety halt: while the highest slot is at the target revision and not
//     ready, only the batch it went with, the highest slots up to the budget,
//     may be taken. A bad template costs no more than that.
//   - In the way: OrderedReady fills a missing slot only above available ones,
//     so an outdated broken pod below it is taken at once, whatever the budget.
type enforced struct{ settings settings }

// The events of the strategy.
const (
	eventEnforcedStarted   = "EnforcedRollingUpdateStarted"
	eventForcedReplacement = "ForcedReplacement"
	eventSafetyHalt        = "SafetyHalt"
)

// haltGrace is how long the highest pod may take to get ready before the halt
// that it causes is called one. Every update halts for as long as its first pod
// starts; only one that does not end is worth an alarm.
const haltGrace = time.Minute

func (e enforced) targets(ordinal int) bool { return ordinal >= e.settings.firstUpdated() }

func (enforced) holdsUp(s *slot) bool { return s.isInFlight() }

func (e enforced) update(d *decision) verdict {
	if d.settings.isParallel {
		return e.report(d, e.takeParallel(d))
	}
	taken := e.takeInTheWay(d)
	if len(d.fleet.condemned) > 0 {
		// Scaling goes first, but must not wait for what only we can clear.
		return e.report(d, taken)
	}
	return e.report(d, append(taken, e.takeOrdered(d, len(taken))...))
}

// takeInTheWay takes outdated broken pods that lie below a missing slot.
func (e enforced) takeInTheWay(d *decision) []takeDown {
	highestMissing := d.highestMissing()
	var taken []takeDown
	for s := range e.open(d) {
		if s.isBroken() && s.ordinal < highestMissing {
			taken = append(taken, e.take(d, s))
		}
	}
	return taken
}

// takeOrdered takes the highest outdated pods while fewer are in flight, those
// just taken because they were in the way included, than the budget has.
func (e enforced) takeOrdered(d *decision, inTheWay int) []takeDown {
	highestMissing := d.highestMissing()
	var taken []takeDown
	for s := range e.open(d) {
		if s.isBroken() && s.ordinal < highestMissing {
			continue
		}
		if !newBudget(d.settings.budget, e.used(d, s)+inTheWay+len(taken)).spend() {
			break
		}
		taken = append(taken, e.take(d, s))
	}
	return taken
}

// used is what a pod finds used of the budget. One that is broken itself serves
// nobody, so it need not wait for what is in flight below the partition, which
// no update will mend.
func (enforced) used(d *decision, s *slot) int {
	if s.isBroken() {
		return d.fleet.tally.inFlight - d.fleet.tally.unreached
	}
	return d.fleet.tally.inFlight
}

// takeParallel takes what is unavailable, and then what is not while the budget,
// from which what was just taken is gone, lasts.
func (e enforced) takeParallel(d *decision) []takeDown {
	var taken []takeDown
	for s := range e.open(d) {
		if !s.isAvailable() {
			taken = append(taken, e.take(d, s))
		}
	}
	budget := newBudget(d.settings.budget, d.fleet.tally.inFlight+len(taken))
	for s := range e.open(d) {
		if s.isAvailable() && budget.spend() {
			taken = append(taken, e.take(d, s))
		}
	}
	return taken
}

// open yields the candidates that neither leave already nor are closed to the
// update by a safety halt, from the highest ordinal down.
func (e enforced) open(d *decision) iter.Seq[*slot] {
	lowest := d.settings.slots.Start
	if e.isHalted(d) {
		lowest = d.settings.slots.End() - d.settings.budget
	}
	return func(yield func(*slot) bool) {
		for s := range d.candidates() {
			if s.ordinal >= lowest && !s.isTerminating() && !yield(s) {
				return
			}
		}
	}
}

// isHalted is the safety halt.
func (enforced) isHalted(d *decision) bool {
	if len(d.fleet.slots) == 0 {
		return false
	}
	top := &d.fleet.slots[len(d.fleet.slots)-1]
	return top.isUpdated && !top.isMissing() && !top.isTerminating() && !top.isOutdated() && !top.state.Ready
}

func (enforced) take(d *decision, s *slot) takeDown {
	code := plan.Outdated
	switch {
	case s.isBroken():
		code = plan.ForcedReplacement
	case !s.isAvailable():
		code = plan.OutdatedUnavailable
	}
	why := plan.Because(code, "it is %s at revision %s and the target is %s", s.describe(), s.revision, d.history.targetName())
	return takeDown{slot: s, reason: why}
}

// report adds what users should know: that an update started, which pods are
// replaced by force, and whether it is halted.
func (e enforced) report(d *decision, taken []takeDown) verdict {
	v := verdict{takeDowns: taken}
	if len(taken) > 0 && e.isNew(d) {
		v.events = append(v.events, normalEvent(eventEnforcedStarted, "updating %s to revision %s, at most %d at a time",
			pods(d.fleet.tally.outdated), d.history.targetName(), d.settings.budget))
	}
	for _, t := range taken {
		if t.reason.Code == plan.ForcedReplacement {
			message := fmt.Sprintf("pod %s is replaced: %s", t.slot.pod.Name, t.reason)
			v.events = append(v.events, plan.Event{Type: corev1.EventTypeWarning, Reason: eventForcedReplacement, Message: message})
		}
	}
	if d.fleet.tally.outdated > len(taken) && e.isHalted(d) && !d.settings.isPaused {
		e.declareHalt(d, &v)
	}
	return v
}

// declareHalt says so when the grace is over, by an event the first time, and
// else sees to it that we are back by then.
func (enforced) declareHalt(d *decision, v *verdict) {
	top := &d.fleet.slots[len(d.fleet.slots)-1]
	if end := top.pod.CreationTimestamp.Add(haltGrace); d.now.Before(end) {
		v.wakeAt = end
		return
	}
	message := fmt.Sprintf("pod %s, the highest, is %s at revision %s, so no pod below it is updated: correct the template",
		top.pod.Name, top.describe(), top.revision)
	v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonSafetyHalt, message}
	if d.progressingReason() != v1.ReasonSafetyHalt {
		v.events = append(v.events, plan.Event{Type: corev1.EventTypeWarning, Reason: eventSafetyHalt, Message: message})
	}
}

// isNew tells whether the update to this target has not been announced yet.
func (enforced) isNew(d *decision) bool {
	if d.set.Status.UpdateRevision != d.history.targetName() {
		return true
	}
	switch d.progressingReason() {
	case v1.ReasonUpdateInProgress, v1.ReasonUpdateStaged, v1.ReasonSafetyHalt:
		return false
	default:
		return true
	}
}

// isBroken tells whether there is a pod that is not ready and does not leave.
func (s *slot) isBroken() bool {
	return !s.isMissing() && !s.isTerminating() && !s.state.Ready
}

// highestMissing returns the highest ordinal of a slot without a pod, or -1.
func (d *decision) highestMissing() int {
	for i := len(d.fleet.slots) - 1; i >= 0; i-- {
		if d.fleet.slots[i].isMissing() {
			return d.fleet.slots[i].ordinal
		}
	}
	return -1
}
