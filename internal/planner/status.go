package planner

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// conclusion puts the plan together: the work, and the status as it was observed.
func (d *decision) conclusion(steps []plan.Step, verdict verdict) plan.Plan {
	p := plan.Plan{
		Steps:   steps,
		Events:  verdict.events,
		WakeAt:  d.wakeAt(verdict),
		Summary: d.summary(),
	}
	p.Status = d.countPods()
	p.Status.PodProgress = verdict.podProgress
	if d.isComplete() {
		p.Status.CurrentRevision = p.Status.UpdateRevision
		p.Status.CurrentReplicas = p.Status.UpdatedReplicas
	}
	p.Status.Conditions = d.conditions(&p.Status, verdict)
	return p
}

// countPods counts what was observed. Pods outside the range count as long as
// they exist. A pod that is terminating is still there and may be ready, but it
// is neither available nor counted for its revision.
func (d *decision) countPods() v1.StatefulSetStatus {
	status := v1.StatefulSetStatus{
		ObservedGeneration: max(d.set.Generation, d.set.Status.ObservedGeneration),
		CurrentRevision:    d.history.currentName(),
		UpdateRevision:     d.history.targetName(),
		CollisionCount:     &d.history.collisionCount,
		Selector:           d.settings.selector.String(),
	}
	for i := range d.fleet.slots {
		addPod(&status, &d.fleet.slots[i])
	}
	for i := range d.fleet.condemned {
		addPod(&status, &d.fleet.condemned[i])
	}
	return status
}

func addPod(status *v1.StatefulSetStatus, s *slot) {
	if s.isMissing() {
		return
	}
	status.Replicas++
	if s.state.Ready {
		status.ReadyReplicas++
	}
	if s.isAvailable() {
		status.AvailableReplicas++
	}
	if s.isTerminating() {
		return
	}
	if s.revision == status.CurrentRevision {
		status.CurrentReplicas++
	}
	if s.revision == status.UpdateRevision {
		status.UpdatedReplicas++
	}
}

// isComplete tells whether the update is over: every slot is available at the
// target revision, nothing is outside the range, and no partition holds slots
// back. While there is a partition an update is staged and never complete.
func (d *decision) isComplete() bool {
	if d.fleet.tally.unavailable > 0 || len(d.fleet.condemned) > 0 || d.settings.partition > 0 {
		return false
	}
	for i := range d.fleet.slots {
		if d.fleet.slots[i].revision != d.history.targetName() {
			return false
		}
	}
	return true
}

// refusal is the plan for a spec that can't be acted on.
func (d *decision) refusal(err error) plan.Plan {
	return d.standstill(v1.ReasonInvalidSpec, err.Error())
}

// standstill is the plan that does nothing, and whose status says why.
func (d *decision) standstill(reason, message string) plan.Plan {
	status := *d.set.Status.DeepCopy()
	status.ObservedGeneration = max(d.set.Generation, status.ObservedGeneration)
	status.Conditions = renew(d.set, d.now, []finding{
		{v1.ConditionReady, metav1.ConditionFalse, reason, message},
		{v1.ConditionStalled, metav1.ConditionTrue, reason, message},
	})
	return plan.Plan{Status: status}
}
