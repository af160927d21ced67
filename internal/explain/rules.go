package explain

import (
	"fmt"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// rule is the rule of the planner that turns the causes into a standstill: first
// match wins.
func (s *situation) rule(first Code) string {
	if rule := s.ruleAbout(first); rule != "" {
		return rule
	}
	progressing := s.condition(v1.ConditionProgressing).Reason
	switch {
	case progressing == v1.ReasonProgressHalted:
		return "a pod that the progress timeout has replaced 3 times in a row at one revision is not replaced again: the update is halted until the template changes"
	case progressing == v1.ReasonSafetyHalt || s.isHalting():
		return "EnforcedRollingUpdate, safety halt: while the highest pod is at the target revision and not ready, no pod below its batch is updated"
	case s.isUpdating() && s.set.Spec.Paused:
		return "a paused set keeps its pods: only scaling and healing go on"
	case len(s.condemned) > 0 && !s.isParallel():
		return "OrderedReady scales down from the highest ordinal, one pod at a time, and only while every pod that stays is available; scaling goes before updating"
	case s.isUpdating():
		return s.updateRule()
	case s.isParallel():
		return "Parallel creates all pods at once and waits for none of them"
	default:
		return "OrderedReady creates a pod only when all pods with a lower ordinal are available"
	}
}

// ruleAbout is the rule that a cause has of its own, whatever the set is doing; ""
// if it has none.
func (s *situation) ruleAbout(cause Code) string {
	switch cause {
	case OperatorSilent:
		return "nothing is done for a set without its operator"
	case Deleting:
		return "a set that is being deleted only gets its status written; the garbage collector removes its pods"
	case InvalidSpec:
		return "a set whose spec can't be acted on is left as it is"
	case NamesakeInCharge:
		return "a set does nothing as long as a StatefulSet of apps/v1 with its name controls any of the pods or revisions"
	case Quota, PodSecurity, AdmissionWebhook, Refused, NameTaken:
		return "what is refused is tried again, with growing pauses, until it is accepted"
	case ClaimTerminating:
		return "no pod is created on a claim that is being deleted: its data would go with it"
	case Partition:
		return "pods below the partition keep the current revision; an update is complete only without a partition"
	case StuckTerminating, NodeLost:
		if s.strategy() != v1.RecreateStrategy {
			return "a pod is created only when the one before it is gone for certain, and the operator never deletes by force"
		}
	}
	return ""
}

// isHalting tells whether the safety halt is on, be it declared yet or not.
func (s *situation) isHalting() bool {
	if s.strategy() != v1.EnforcedRollingUpdateStrategy || len(s.slots) == 0 || s.outdated() == 0 {
		return false
	}
	top := s.slots[len(s.slots)-1]
	return top.isReached && top.pod != nil && top.pod.DeletionTimestamp == nil && !top.isOutdated && !top.state.Ready
}

// updateRule is how the strategy in force proceeds.
func (s *situation) updateRule() string {
	budget := s.plan.Summary.MaxUnavailable
	switch s.strategy() {
	case v1.OnDeleteStrategy:
		return "OnDelete never deletes a pod for an update; one that somebody deletes comes back at the target revision"
	case v1.RecreateStrategy:
		return "Recreate creates no pod until every pod of another revision is gone"
	case v1.EnforcedRollingUpdateStrategy:
		return fmt.Sprintf("EnforcedRollingUpdate replaces outdated pods whatever their state, and has at most %d in flight (maxUnavailable): missing, terminating, or new and not available yet", budget)
	}
	text := fmt.Sprintf("RollingUpdate with OrderedReady takes pods down only while every pod is available, at most %d at a time", budget)
	if s.isParallel() {
		text = fmt.Sprintf("RollingUpdate with Parallel replaces outdated pods that are broken at once, and available ones only while fewer than %d of all pods are unavailable (maxUnavailable)", budget)
	}
	if s.timeout > 0 {
		return text + fmt.Sprintf("; a pod that has never been ready is replaced %s after its creation, at most 3 times (podProgressTimeoutSeconds)", s.timeout)
	}
	if !s.isParallel() {
		text += "; a pod that does not become available holds the update, even after the template is corrected"
	}
	return text
}
