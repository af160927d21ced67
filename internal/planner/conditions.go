package planner

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// finding is a condition before it is dated.
type finding struct {
	kind    string
	status  metav1.ConditionStatus
	reason  string
	message string
}

// conditions says in words what the status says in numbers. Reconciling and
// Stalled exclude each other and, like ReplicaFailure, are absent when not True.
func (d *decision) conditions(status *v1.StatefulSetStatus, verdict verdict) []metav1.Condition {
	progressing := d.progressing(status, verdict)
	ready := d.ready(status)
	findings := []finding{ready}
	switch stalled := d.stalled(progressing); {
	case stalled != nil:
		findings = append(findings, *stalled)
	case ready.status != metav1.ConditionTrue:
		findings = append(findings, finding{v1.ConditionReconciling, metav1.ConditionTrue, d.work(), ready.message})
	}
	findings = append(findings, progressing, d.strategyInForce())
	if d.blockers.stranger != nil {
		findings = append(findings, d.nameTaken(v1.ConditionReplicaFailure))
	}
	return renew(d.set, d.now, findings)
}

// ready tells whether all is as the spec asks for, what it holds back aside.
func (d *decision) ready(status *v1.StatefulSetStatus) finding {
	tally, replicas := d.fleet.tally, d.settings.slots.Count
	no := func(reason, format string, args ...any) finding {
		return finding{v1.ConditionReady, metav1.ConditionFalse, reason, fmt.Sprintf(format, args...)}
	}
	available := replicas - tally.unavailable
	switch {
	case tally.outdated > 0 && !d.isHeldBack():
		// Said for the whole length of an update, however the pods come and go.
		return no(v1.ReasonOutdated, "%d of %d pods are available, %s not at revision %s yet%s",
			available, replicas, pods(tally.outdated), status.UpdateRevision, d.waiting())
	case tally.unavailable > 0:
		return no(v1.ReasonUnavailable, "%d of %d pods are available%s", available, replicas, d.waiting())
	case len(d.fleet.condemned) > 0:
		top := &d.fleet.condemned[0]
		return no(v1.ReasonScaling, "%s outside the range to remove; pod %s is %s", pods(len(d.fleet.condemned)), top.pod.Name, top.describe())
	default:
		message := fmt.Sprintf("all %d pods are available", replicas)
		return finding{v1.ConditionReady, metav1.ConditionTrue, v1.ReasonAllAvailable, message}
	}
}

// isHeldBack tells whether outdated pods stay because the spec says so.
func (d *decision) isHeldBack() bool {
	return d.settings.isPaused || d.settings.strategy == v1.OnDeleteStrategy
}

// work names what the controller is at while the set is not ready. Scaling and
// healing keep their names until they are done: a pod that is lost leaves a gap
// at the top, too, when it was the highest.
func (d *decision) work() string {
	before := meta.FindStatusCondition(d.set.Status.Conditions, v1.ConditionReconciling)
	switch {
	case d.isUpdating() && !d.isHeldBack():
		return v1.ReasonUpdating
	case before != nil && before.ObservedGeneration == d.set.Generation && before.Reason != v1.ReasonUpdating:
		return before.Reason
	case len(d.fleet.condemned) > 0 || d.isGrowing():
		return v1.ReasonScaling
	default:
		return v1.ReasonHealing
	}
}

// isGrowing tells whether what is missing lies above all that is there: nothing
// was lost, the set has yet to reach its size.
func (d *decision) isGrowing() bool {
	missing := d.fleet.tally.missing
	if missing == 0 {
		return false
	}
	top := d.fleet.slots[len(d.fleet.slots)-missing:]
	return !slices.ContainsFunc(top, func(s slot) bool { return !s.isMissing() })
}

// progressing is about the update: first match wins.
func (d *decision) progressing(status *v1.StatefulSetStatus, verdict verdict) finding {
	say := func(status metav1.ConditionStatus, reason, format string, args ...any) finding {
		return finding{v1.ConditionProgressing, status, reason, fmt.Sprintf(format, args...)}
	}
	target := status.UpdateRevision
	switch {
	case verdict.progressing != nil:
		return *verdict.progressing
	case d.isRolledOut(status):
		return say(metav1.ConditionTrue, v1.ReasonUpdateComplete, "revision %s is rolled out", target)
	case d.settings.isPaused:
		return say(metav1.ConditionUnknown, v1.ReasonUpdatePaused, "spec.paused holds the update to revision %s back", target)
	case d.fleet.tally.outdated > 0 && d.isHeldBack():
		return say(metav1.ConditionUnknown, v1.ReasonUpdateWaiting, "%s", d.describeHeldBack(target))
	case d.isStaged():
		return say(metav1.ConditionTrue, v1.ReasonUpdateStaged,
			"pods from ordinal %d up are at revision %s, those below it wait for the partition", d.settings.firstUpdated(), target)
	default:
		return say(metav1.ConditionTrue, v1.ReasonUpdateInProgress, "%s", d.describeUpdate(target))
	}
}

// isRolledOut tells whether the update is over, and it stays over when a pod is
// lost afterwards or the set grows.
func (d *decision) isRolledOut(status *v1.StatefulSetStatus) bool {
	if status.CurrentRevision != status.UpdateRevision || d.fleet.tally.outdated > 0 {
		return false
	}
	before := d.progressingReason()
	wasRolledOut := before == v1.ReasonUpdateComplete || before == v1.ReasonRecreateComplete
	return wasRolledOut || (d.fleet.tally.unavailable == 0 && len(d.fleet.condemned) == 0)
}

// isStaged tells whether all that the partition lets through is done.
func (d *decision) isStaged() bool {
	return d.settings.partition > 0 && d.fleet.tally.outdated == 0 && d.fleet.tally.unavailable == 0
}

// stalled tells what the controller can't overcome by itself, if anything.
func (d *decision) stalled(progressing finding) *finding {
	isHalted := progressing.reason == v1.ReasonProgressHalted || progressing.reason == v1.ReasonSafetyHalt
	switch {
	case d.blockers.err != nil:
		return &finding{v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalidSpec, d.blockers.err.Error()}
	case d.blockers.stranger != nil:
		taken := d.nameTaken(v1.ConditionStalled)
		return &taken
	case isHalted:
		return &finding{v1.ConditionStalled, metav1.ConditionTrue, progressing.reason, progressing.message}
	default:
		return nil
	}
}

func (d *decision) nameTaken(kind string) finding {
	message := fmt.Sprintf("pod %s exists and does not belong to this set: delete or rename it", d.blockers.stranger.Name)
	return finding{kind, metav1.ConditionTrue, v1.ReasonFailedCreate, message}
}

// strategyInForce tells whether the strategy asked for is the one in force, and
// which of its parameters are not.
func (d *decision) strategyInForce() finding {
	asked, inForce := d.set.Spec.UpdateStrategy.Type, d.settings.strategy
	say := func(status metav1.ConditionStatus, reason, message string) finding {
		for _, ignored := range d.settings.ignored {
			message += fmt.Sprintf("; %s is ignored: the feature gate %s is off", ignored.field, ignored.gate)
		}
		return finding{v1.ConditionUpdateStrategy, status, reason, message}
	}
	if asked != inForce && asked != "" {
		return say(metav1.ConditionFalse, v1.ReasonFeatureGateDisabled,
			fmt.Sprintf("the feature gate of %s is off, so updates are made with %s", asked, inForce))
	}
	return say(metav1.ConditionTrue, string(inForce), fmt.Sprintf("updates are made with %s", inForce))
}

// ownConditions are the types this package writes. Others belong to somebody
// else and stay.
var ownConditions = []string{
	v1.ConditionReady, v1.ConditionReconciling, v1.ConditionStalled,
	v1.ConditionProgressing, v1.ConditionUpdateStrategy, v1.ConditionReplicaFailure,
}

// renew dates the findings: a condition keeps its time for as long as it keeps
// its status.
func renew(set *v1.StatefulSet, now time.Time, findings []finding) []metav1.Condition {
	before := set.Status.Conditions
	conditions := make([]metav1.Condition, 0, len(findings))
	for _, f := range findings {
		since := metav1.NewTime(now).Rfc3339Copy()
		if old := meta.FindStatusCondition(before, f.kind); old != nil && old.Status == f.status {
			since = old.LastTransitionTime
		}
		conditions = append(conditions, metav1.Condition{
			Type: f.kind, Status: f.status, Reason: f.reason, Message: f.message,
			ObservedGeneration: set.Generation, LastTransitionTime: since,
		})
	}
	for _, old := range before {
		if !slices.Contains(ownConditions, old.Type) {
			conditions = append(conditions, old)
		}
	}
	return conditions
}
