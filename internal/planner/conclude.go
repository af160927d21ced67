package planner

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Conclude returns the status to write after a plan was run: the one observed,
// and what the failures, in the order in which they happened, teach about it.
//
//   - A target revision that could not be recorded is not claimed, nor is its
//     generation called observed. If its name was taken, the collision count
//     grows, so that the next plan has another name for it.
//   - What the API server refused makes ReplicaFailure and Stalled true, and so
//     does a pod of somebody else that has the name of one of ours. What could
//     not be done just now is retried and not mentioned, and neither is a
//     conflict, which the next observation explains.
func Conclude(observation plan.Observation, p plan.Plan, failures []plan.Failure) v1.StatefulSetStatus {
	status := *p.Status.DeepCopy()
	var refused *plan.Failure
	for i, failure := range failures {
		switch failure.Action.(type) {
		case plan.CreateRevision, plan.BumpRevision:
			disclaimTarget(&status, observation.Set.Status, failure)
		case plan.AdoptPod, plan.AdoptRevision, plan.ReleasePod:
			// These are essential: the revision was not even tried.
			if recordsTarget(p) {
				disclaimTarget(&status, observation.Set.Status, failure)
			}
		case plan.CreatePod, plan.CreateClaim, plan.DeletePod:
			if refused == nil && isRefusal(failure) {
				refused = &failures[i]
			}
		}
	}
	if refused != nil {
		status.Conditions = withRefusal(observation, status.Conditions, *refused)
	}
	return status
}

// StatusChanged tells whether a status has to be written.
func StatusChanged(set *v1.StatefulSet, status v1.StatefulSetStatus) bool {
	return !equality.Semantic.DeepEqual(set.Status, status)
}

// disclaimTarget puts everything that depends on the target back to what was
// written before; counts that do not depend on it stay.
func disclaimTarget(status *v1.StatefulSetStatus, before v1.StatefulSetStatus, failure plan.Failure) {
	status.ObservedGeneration = before.ObservedGeneration
	status.CurrentRevision, status.UpdateRevision = before.CurrentRevision, before.UpdateRevision
	status.CurrentReplicas, status.UpdatedReplicas = before.CurrentReplicas, before.UpdatedReplicas
	status.Conditions = before.DeepCopy().Conditions
	if _, isCreate := failure.Action.(plan.CreateRevision); isCreate && apierrors.IsAlreadyExists(failure.Err) {
		status.CollisionCount = new(*status.CollisionCount + 1)
	}
}

// recordsTarget tells whether a plan makes a revision the newest.
func recordsTarget(p plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(step plan.Step) bool { return step.Purpose == plan.PurposeRevision })
}

// isRefusal tells whether the API server understood a request and declined it,
// so that trying again helps only after somebody changed something.
func isRefusal(failure plan.Failure) bool {
	if _, isPod := failure.Action.(plan.CreatePod); isPod && apierrors.IsAlreadyExists(failure.Err) {
		return true
	}
	err := failure.Err
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsTooManyRequests(err) {
		return false
	}
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Code/100 == clientError
}

// clientError is what codes of answers begin with that blame the request.
const clientError = 4

// withRefusal adds what was refused and takes back that work is going on.
func withRefusal(observation plan.Observation, conditions []metav1.Condition, refused plan.Failure) []metav1.Condition {
	reason := v1.ReasonFailedCreate
	if _, isDelete := refused.Action.(plan.DeletePod); isDelete {
		reason = v1.ReasonFailedDelete
	}
	message := fmt.Sprintf("could not %s: %v", refused.Action, refused.Err)
	findings := []finding{
		{v1.ConditionStalled, metav1.ConditionTrue, reason, message},
		{v1.ConditionReplicaFailure, metav1.ConditionTrue, reason, message},
	}
	for _, kept := range []string{v1.ConditionReady, v1.ConditionProgressing, v1.ConditionUpdateStrategy} {
		if c := meta.FindStatusCondition(conditions, kept); c != nil {
			findings = append(findings, finding{c.Type, c.Status, c.Reason, c.Message})
		}
	}
	return renew(observation.Set, observation.Now, findings)
}
