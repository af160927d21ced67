package handover

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Adopt says what to do next to have Rollcall take over a set of apps/v1.
//
//	both stored, theirs in charge   create ours, carry the revisions, see that it waits
//	the moment of truth             orphan theirs
//	ours takes over by itself       see that it does
//
// From the moment of truth on nobody has to do anything any more.
func Adopt(s Situation) Step {
	switch {
	case s.BuiltIn == nil && s.Ours == nil:
		return refuse("there is no StatefulSet of this name, neither of apps/v1 nor of %s", v1.GroupName)
	case s.BuiltIn == nil:
		return s.completeAdoption()
	case s.BuiltIn.DeletionTimestamp != nil:
		return s.awaitOrphans()
	case s.Ours == nil:
		return Step{Create, s.Converted, fmt.Sprintf("%s%s is created and waits to take over", oursName, s.Converted.Name)}
	default:
		return s.prepareAdoption()
	}
}

// prepareAdoption gets ours ready while theirs is in charge.
func (s Situation) prepareAdoption() Step {
	name := s.Ours.Name
	mark, isMarked := s.Ours.Annotations[Mark]
	switch {
	case s.Ours.DeletionTimestamp != nil:
		return refuse("%s%s is being deleted: wait until it is gone", oursName, name)
	case s.controls(s.Ours):
		return refuse("both StatefulSets exist, and %s%s is in charge already: remove the other with \"kubectl delete %s%[2]s --cascade=orphan\"",
			oursName, name, builtInName)
	case isMarked && mark != markFor(s.BuiltIn):
		return Step{Update, s.renewed(), fmt.Sprintf("%s%s follows a change of %s%[2]s", oursName, name, builtInName)}
	case s.revisionToCarry() != s.Ours.Status.CurrentRevision:
		return Step{UpdateStatus, s.withRevision(), fmt.Sprintf("%s%s knows the revision that is current", oursName, name)}
	case !isWaiting(s.Ours):
		return wait("the controller of Rollcall to see %s%s (does it run, and look after this namespace?)", oursName, name)
	default:
		return Step{Orphan, s.BuiltIn, fmt.Sprintf("%s%s is deleted, its pods are left running", builtInName, name)}
	}
}

// renewed is ours with the spec of theirs as it is now.
func (s Situation) renewed() *v1.StatefulSet {
	renewed := s.Ours.DeepCopy()
	renewed.Spec = *s.Converted.Spec.DeepCopy()
	renewed.Annotations[Mark] = markFor(s.BuiltIn)
	return renewed
}

// revisionToCarry is what ours has to know about theirs beyond the spec: the
// revision of pods below the partition, if it is not that of the template.
func (s Situation) revisionToCarry() string {
	status := s.BuiltIn.Status
	if status.CurrentRevision == status.UpdateRevision && s.Ours.Status.CurrentRevision == "" {
		return ""
	}
	return status.CurrentRevision
}

func (s Situation) withRevision() *v1.StatefulSet {
	told := s.Ours.DeepCopy()
	told.Status.CurrentRevision = s.BuiltIn.Status.CurrentRevision
	told.Status.UpdateRevision = s.BuiltIn.Status.UpdateRevision
	return told
}

// isWaiting tells whether the operator has said that ours waits to take over:
// proof that it runs, looks after the namespace and knows how to wait.
func isWaiting(set *v1.StatefulSet) bool {
	ready := meta.FindStatusCondition(set.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Reason == v1.ReasonNamesakeInCharge && set.Status.ObservedGeneration == set.Generation
}

// awaitOrphans follows the end of theirs.
func (s Situation) awaitOrphans() Step {
	switch {
	case s.Ours == nil || !hasFinalizer(s.BuiltIn, metav1.FinalizerOrphanDependents) && s.dependents(s.BuiltIn.UID) > 0:
		return refuse("%s%s is being deleted, and not by this command: wait until it is gone", builtInName, s.BuiltIn.Name)
	default:
		return wait("the garbage collector to let go of the pods, claims and revisions of %s%s", builtInName, s.BuiltIn.Name)
	}
}

// completeAdoption sees that ours, which is alone now, has taken over.
func (s Situation) completeAdoption() Step {
	_, isMarked := s.Ours.Annotations[Mark]
	switch missing := s.podsWithout(s.Ours); {
	case missing > 0 || isWaiting(s.Ours) || s.Ours.Status.UpdateRevision == "":
		return wait("the controller of Rollcall to take over %d pods", missing)
	case !isMarked:
		return Step{Finish, s.Ours, fmt.Sprintf("%s%s is in charge", oursName, s.Ours.Name)}
	default:
		unmarked := s.Ours.DeepCopy()
		delete(unmarked.Annotations, Mark)
		return Step{Update, unmarked, fmt.Sprintf("%s%s has taken over", oursName, s.Ours.Name)}
	}
}

func markFor(builtIn *appsv1.StatefulSet) string {
	return fmt.Sprintf("%s/%d", builtIn.UID, builtIn.Generation)
}

func hasFinalizer(object metav1.Object, finalizer string) bool {
	for _, present := range object.GetFinalizers() {
		if present == finalizer {
			return true
		}
	}
	return false
}
