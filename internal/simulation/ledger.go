package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Ledger is what properties need to know of the past. Nobody in the world reads
// it. Its slices are replaced, never modified.
type Ledger struct {
	// Down are the slots that the controller took down for an update while they
	// were available to its eyes, until an available pod holds them again.
	Down []DownSlot
	// WasReady are the existing pods that were ready at any time.
	WasReady []types.UID
	// Timeouts count the pods that the progress timeout took, in a row.
	Timeouts []Timeouts
}

// DownSlot is a slot taken down within a budget.
type DownSlot struct {
	Ordinal, Budget int
}

// Timeouts are the pods of an ordinal that were replaced by the timeout at one
// target revision since one of them was ready, or the ordinal became a slot.
type Timeouts struct {
	Ordinal  int
	Revision string
	Count    int
}

// refresh forgets what is over.
func (l *Ledger) refresh(w *World) {
	l.WasReady = w.readySince(l.WasReady)
	slots := w.slots()
	l.Down = filtered(l.Down, func(down DownSlot) bool {
		pod := w.podOf(down.Ordinal)
		return slots.Contains(down.Ordinal) && !w.stateOf(pod).IsAvailable() && !w.isForgiven(pod)
	})
	l.Timeouts = filtered(l.Timeouts, func(t Timeouts) bool {
		pod := w.podOf(t.Ordinal)
		return slots.Contains(t.Ordinal) && (pod == nil || !slices.Contains(l.WasReady, pod.UID))
	})
}

// isForgiven tells whether Enforced stops to count a slot that it took down: its
// new pod was outdated by another template before it served.
func (w *World) isForgiven(pod *corev1.Pod) bool {
	spec := &w.Truth.Set.Spec
	return strategyOf(w.Truth.Set, w.Scenario.gates()) == v1.EnforcedRollingUpdateStrategy && pod != nil && pod.DeletionTimestamp == nil &&
		pod.Spec.Containers[0].Image != spec.Template.Spec.Containers[0].Image
}

// readySince returns the existing pods that are ready or were by now.
func (w *World) readySince(before []types.UID) []types.UID {
	var ready []types.UID
	for _, pod := range w.Truth.Pods {
		if podstate.Classify(pod, 0, w.Now).Ready || slices.Contains(before, pod.UID) {
			ready = append(ready, pod.UID)
		}
	}
	return ready
}

// filtered returns the values that are kept, in a new slice if any is not.
func filtered[T any](values []T, isKept func(T) bool) []T {
	if !slices.ContainsFunc(values, func(value T) bool { return !isKept(value) }) {
		return values
	}
	var kept []T
	for _, value := range values {
		if isKept(value) {
			kept = append(kept, value)
		}
	}
	return kept
}

// noteWrite takes down a pod that was taken down.
func (l *Ledger) noteWrite(w *World, decision *Decision, write Write) {
	remove, ok := write.Action.(plan.DeletePod)
	if !ok || !isForUpdate(remove) || !write.hit(w) {
		return
	}
	o := decision.Observation
	terms := termsOf(o.Set, o.Gates)
	state := podstate.Classify(remove.Pod, terms.minReady, o.Now)
	isBudgeted := remove.Reason.Code != plan.Recreated
	if isBudgeted && state.IsAvailable() && !slices.ContainsFunc(l.Down, func(d DownSlot) bool { return d.Ordinal == remove.Ordinal }) {
		l.Down = append(slices.Clip(l.Down), DownSlot{remove.Ordinal, terms.budget})
	}
	if remove.Reason.Code == plan.ProgressTimedOut {
		l.countTimeout(remove.Ordinal, decision.Plan.Status.UpdateRevision)
	}
}

// hit tells whether a delete changed the very pod it was meant for.
func (write Write) hit(w *World) bool {
	name := write.Action.Object().GetName()
	before, after := find(write.Before.Pods, name), find(w.Truth.Pods, name)
	return before != nil && before.DeletionTimestamp == nil && before != after
}

func (l *Ledger) countTimeout(number int, revision string) {
	l.Timeouts = slices.Clone(l.Timeouts)
	for i := range l.Timeouts {
		if t := &l.Timeouts[i]; t.Ordinal == number && t.Revision == revision {
			t.Count++
			return
		}
	}
	// Another target is another beginning.
	l.Timeouts = filtered(l.Timeouts, func(t Timeouts) bool { return t.Ordinal != number })
	l.Timeouts = append(slices.Clip(l.Timeouts), Timeouts{number, revision, 1})
}

// updateCodes are the reasons of deletes that are made for an update.
var updateCodes = []plan.ReasonCode{plan.Outdated, plan.OutdatedUnavailable, plan.ForcedReplacement, plan.Recreated, plan.ProgressTimedOut}

// isForUpdate tells whether a pod is deleted for an update.
func isForUpdate(remove plan.DeletePod) bool {
	return slices.Contains(updateCodes, remove.Reason.Code)
}

// ordinalOf returns the ordinal of a pod, -1 if its name has none.
func ordinalOf(pod *corev1.Pod) int {
	if number, ok := ordinal.Parse(setName, pod.Name); ok {
		return number
	}
	return -1
}
