package planner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
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

// creationPrecision is what the API server keeps of the time of creation.
const creationPrecision = time.Second

// The events of the timeout.
const (
	eventDeadlineExceeded   = "ProgressDeadlineExceeded"
	eventProgressHalted     = "ProgressHalted"
	eventProgressingResumed = "ProgressingResumed"
)

// replacements are the counts of the slots, by ordinal.
type replacements map[int]v1.PodProgress

// withTimeout adds to the verdict of a rolling update what the timeout demands.
func (r rolling) withTimeout(d *decision, v verdict) verdict {
	if !d.isUpdating() {
		return v
	}
	counts := d.keptReplacements()
	v.podProgress = counts.list()
	if d.settings.isPaused {
		return v
	}
	overdue := d.overdue(&v)
	for _, s := range overdue {
		if counts[s.ordinal].Replacements >= maxReplacements && !counts.includes(s) {
			return d.halt(v, s)
		}
	}
	if len(overdue) > 0 {
		return d.replaceOverdue(v, overdue, counts)
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

// deadline is when a pod has had all of its time for certain. Creation times are
// cut to whole seconds, so a pod may be almost a second younger than it looks.
func (d *decision) deadline(s *slot) time.Time {
	return s.pod.CreationTimestamp.Add(creationPrecision + d.settings.progressTimeout)
}

// replaceOverdue takes overdue pods down, counts them, and says so. A pod that is
// counted already keeps the text it was counted with: trying again is no news.
func (d *decision) replaceOverdue(v verdict, overdue []*slot, counts replacements) verdict {
	v.statusFirst = true
	var announced []plan.Event
	for _, s := range overdue {
		counts.add(s, d.history.targetName(), d.now)
		elapsed := counts[s.ordinal].LastReplacementTime.Sub(s.pod.CreationTimestamp.Time).Round(time.Second)
		why := plan.Because(plan.ProgressTimedOut, "it has not become ready in %s and podProgressTimeoutSeconds allows %s; it is %s",
			elapsed, d.settings.progressTimeout, s.describe())
		v.takeDowns = append(v.takeDowns, takeDown{slot: s, reason: why, ifUnchanged: true})
		message := fmt.Sprintf("pod %s of revision %s is replaced at revision %s: %s", s.pod.Name, s.revision, s.wanted, why)
		announced = append(announced, plan.Event{Type: corev1.EventTypeWarning, Reason: eventDeadlineExceeded, Message: message})
	}
	v.events = append(v.events, announced...)
	v.podProgress = counts.list()
	v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonProgressDeadlineExceeded, announced[0].Message}
	return v
}

// halt ends the update for this target: nothing is taken down any more.
func (d *decision) halt(v verdict, s *slot) verdict {
	message := fmt.Sprintf("pod %s was replaced %d times at revision %s and is still %s: correct the template",
		s.pod.Name, maxReplacements, d.history.targetName(), s.describe())
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
		v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionFalse, v1.ReasonProgressDeadlineExceeded, d.describeReplacement(v.podProgress[0])}
	case before == v1.ReasonProgressDeadlineExceeded || before == v1.ReasonProgressingResumed:
		message := fmt.Sprintf("the replaced pods are ready, the update to revision %s goes on", d.history.targetName())
		v.progressing = &finding{v1.ConditionProgressing, metav1.ConditionTrue, v1.ReasonProgressingResumed, message}
	}
	if before == v1.ReasonProgressDeadlineExceeded && len(v.podProgress) == 0 {
		v.events = append(v.events, normalEvent(eventProgressingResumed, "the replaced pods are ready, the update goes on"))
	}
}

// describeReplacement says what has become of a pod that was replaced.
func (d *decision) describeReplacement(progress v1.PodProgress) string {
	s := &d.fleet.slots[int(progress.Ordinal)-d.settings.slots.Start]
	return fmt.Sprintf("pod %s was replaced at revision %s, %d of at most %d times in a row, and is %s",
		ordinal.PodName(d.set.Name, s.ordinal), progress.Revision, progress.Replacements, maxReplacements, s.describe())
}

// keptReplacements returns the counts that still matter: those at the target, of
// slots whose pod has not been ready since.
func (d *decision) keptReplacements() replacements {
	kept := replacements{}
	for _, progress := range d.set.Status.PodProgress {
		number := int(progress.Ordinal)
		if progress.Revision != d.history.targetName() || !d.settings.slots.Contains(number) {
			continue
		}
		s := &d.fleet.slots[number-d.settings.slots.Start]
		if s.isMissing() || s.isOutdated() || !podstate.WasReady(s.pod) {
			kept[number] = progress
		}
	}
	return kept
}

// includes tells whether the pod of a slot is counted already: the delete did not
// get through. Times would not tell, since ours and that of the pod's creation
// come from different clocks.
func (r replacements) includes(s *slot) bool {
	progress, ok := r[s.ordinal]
	return ok && progress.LastReplacedUID == s.pod.UID
}

// add counts the replacement of a slot's pod, once per pod.
func (r replacements) add(s *slot, target string, now time.Time) {
	if r.includes(s) {
		return
	}
	r[s.ordinal] = v1.PodProgress{
		Ordinal: int32(s.ordinal), Revision: target,
		Replacements: r[s.ordinal].Replacements + 1, LastReplacementTime: metav1.NewTime(now).Rfc3339Copy(), LastReplacedUID: s.pod.UID,
	}
}

// list returns the counts as the status has them, in the order of the ordinals.
func (r replacements) list() []v1.PodProgress {
	var list []v1.PodProgress
	for _, number := range slices.Sorted(maps.Keys(r)) {
		list = append(list, r[number])
	}
	return list
}
