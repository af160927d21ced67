package planner

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// The progress timeout makes a RollingUpdate recover by itself: during an
// update, a pod that has never been ready and is older than
// podProgressTimeoutSeconds is replaced, whatever its revision. That is how a
// pod that a bad template left behind gets out of the way of a good one.
//
// What it must not do is delete a pod that was ready at any instant, nor go on
// for ever. So every delete demands that the pod is still as observed, and
// replacements are counted in the status, which is written first: after
// maxReplacements in a row at one revision the update is halted until the
// template changes. A pod that gets ready is forgotten.

// maxReplacements is how many times in a row a pod is replaced at one revision.
const maxReplacements = 3

// The events of the timeout.
const (
	eventDeadlineExceeded   = "ProgressDeadlineExceeded"
	eventProgressHalted     = "ProgressHalted"
	eventProgressingResumed = "ProgressingResumed"
)

// withTimeout adds to the verdict of a rolling update what the timeout demands.
func (r rolling) withTimeout(d *decision, v verdict) verdict {
	if !d.isUpdating() {
		return v
	}
	v.podProgress = d.keptProgress()
	if d.settings.isPaused {
		return v
	}
	overdue := d.overdue(&v)
	for _, s := range overdue {
		if d.replacements(s) >= maxReplacements {
			return d.halt(v, s)
		}
	}
	if len(overdue) > 0 {
		return d.replaceOverdue(v, overdue)
	}
	d.noteResumption(&v)
	return v
}

// overdue returns the slots whose pods have run out of time, those that go
// anyway aside, and sets the wake-up for those that have some left.
func (d *decision) overdue(v *verdict) []*slot {
	goes := make(map[*slot]bool, len(v.takeDowns))
	for _, t := range v.takeDowns {
		goes[t.slot] = true
	}
	var overdue []*slot
	for i := range d.fleet.slots {
		s := &d.fleet.slots[i]
		if goes[s] || !s.isUpdated || s.isMissing() || s.isTerminating() || podstate.WasReady(s.pod) {
			continue
		}
		if deadline := d.deadline(s); deadline.After(d.now) {
			v.wakeAt = earlier(v.wakeAt, deadline)
		} else {
			overdue = append(overdue, s)
		}
	}
	return overdue
}

func (d *decision) deadline(s *slot) time.Time {
	return s.pod.CreationTimestamp.Add(d.settings.progressTimeout)
}

// replaceOverdue takes overdue pods down, counts them, and says so.
func (d *decision) replaceOverdue(v verdict, overdue []*slot) verdict {
	v.statusFirst = true
	for _, s := range overdue {
		elapsed := d.now.Sub(s.pod.CreationTimestamp.Time).Round(time.Second)
		why := plan.Because(plan.ProgressTimedOut, "it has not become ready in %s and podProgressTimeoutSeconds allows %s",
			elapsed, d.settings.progressTimeout)
		v.takeDowns = append(v.takeDowns, takeDown{slot: s, reason: why, ifUnchanged: true})
		v.podProgress = d.countReplacement(v.podProgress, s)
		message := fmt.Sprintf("pod %s is replaced: %s", s.pod.Name, why)
		v.events = append(v.events, plan.Event{Type: corev1.EventTypeWarning, Reason: eventDeadlineExceeded, Message: message})
	}
	message := fmt.Sprintf("pod %s has not become ready in time and is replaced", overdue[0].pod.Name)
	v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonProgressDeadlineExceeded, message}
	return v
}

// halt ends the update for this target: nothing is taken down any more.
func (d *decision) halt(v verdict, s *slot) verdict {
	message := fmt.Sprintf("pod %s was replaced %d times at revision %s and does not become ready: correct the template",
		s.pod.Name, maxReplacements, d.history.targetName())
	v.takeDowns = nil
	v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonProgressHalted, message}
	if d.progressingReason() != v1.ReasonProgressHalted {
		v.events = append(v.events, plan.Event{Type: corev1.EventTypeWarning, Reason: eventProgressHalted, Message: message})
	}
	return v
}

// noteResumption tells that what had been replaced is ready now, or keeps saying
// what is still the case. A new template makes a new beginning.
func (d *decision) noteResumption(v *verdict) {
	before := d.progressingReason()
	switch {
	case d.set.Status.UpdateRevision != d.history.targetName(), d.isComplete(), d.isStaged():
		return
	case before == v1.ReasonProgressDeadlineExceeded && len(v.podProgress) > 0:
		message := fmt.Sprintf("waiting for the replacement of the pod of ordinal %d to become ready", v.podProgress[0].Ordinal)
		v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonProgressDeadlineExceeded, message}
	case before == v1.ReasonProgressDeadlineExceeded || before == v1.ReasonProgressingResumed:
		message := fmt.Sprintf("the replaced pods are ready, the update to revision %s goes on", d.history.targetName())
		v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionTrue, v1.ReasonProgressingResumed, message}
	}
	if before == v1.ReasonProgressDeadlineExceeded && len(v.podProgress) == 0 {
		v.events = append(v.events, normalEvent(eventProgressingResumed, "the replaced pods are ready, the update goes on"))
	}
}

// keptProgress returns the counts that still matter: those at the target, of
// slots whose pod has not been ready since.
func (d *decision) keptProgress() []v1.PodProgress {
	var kept []v1.PodProgress
	for _, progress := range d.set.Status.PodProgress {
		if progress.Revision != d.history.targetName() || !d.settings.slots.Contains(int(progress.Ordinal)) {
			continue
		}
		s := &d.fleet.slots[int(progress.Ordinal)-d.settings.slots.Start]
		if s.isMissing() || s.isOutdated() || !podstate.WasReady(s.pod) {
			kept = append(kept, progress)
		}
	}
	return kept
}

// replacements is how often the pod of a slot was replaced on the way to the target.
func (d *decision) replacements(s *slot) int32 {
	for _, progress := range d.set.Status.PodProgress {
		if int(progress.Ordinal) == s.ordinal && progress.Revision == d.history.targetName() {
			return progress.Replacements
		}
	}
	return 0
}

// countReplacement adds one to the count of a slot.
func (d *decision) countReplacement(counts []v1.PodProgress, s *slot) []v1.PodProgress {
	now := metav1.NewTime(d.now).Rfc3339Copy()
	for i := range counts {
		if int(counts[i].Ordinal) == s.ordinal {
			counts[i].Replacements++
			counts[i].LastReplacementTime = now
			return counts
		}
	}
	return append(counts, v1.PodProgress{
		Ordinal: int32(s.ordinal), Revision: d.history.targetName(), Replacements: 1, LastReplacementTime: now,
	})
}
