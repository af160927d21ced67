package handover

import (
	"bytes"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// Release says what to do next to have apps/v1 take a set back.
//
//	ours in charge           hold it with a finalizer, orphan it: it stays, terminating, and acts no more
//	nobody in charge         wait for the owners to be taken off, create theirs from ours
//	theirs takes over        see that it does, carry the current revision, let ours go
//
// The operator is needed for none of this.
func Release(s Situation) Step {
	switch {
	case s.Ours == nil && s.BuiltIn == nil:
		return refuse("there is no StatefulSet of this name, neither of %s nor of apps/v1", v1.GroupName)
	case s.Ours == nil:
		return Step{Finish, s.BuiltIn, fmt.Sprintf("%s%s is in charge", builtInName, s.BuiltIn.Name)}
	case s.Ours.DeletionTimestamp == nil:
		return s.prepareRelease()
	case !hasFinalizer(s.Ours, Finalizer):
		return refuse("%s%s is being deleted, and not by this command: wait until it is gone", oursName, s.Ours.Name)
	case s.dependents(s.Ours.UID) > 0:
		return s.awaitRelease()
	case s.BuiltIn == nil:
		return s.createBuiltIn()
	default:
		return s.completeRelease()
	}
}

func (s Situation) prepareRelease() Step {
	name := s.Ours.Name
	switch {
	case s.BuiltIn != nil && s.controls(s.Ours):
		return refuse("both StatefulSets exist, and %s%s is in charge: remove the other with \"kubectl delete %s%[2]s --cascade=orphan\" first",
			oursName, name, builtInName)
	case s.BuiltIn != nil:
		return refuse("%s%s is in charge: to give up adopting it, \"kubectl delete %s%[2]s\"", builtInName, name, oursName)
	case !hasFinalizer(s.Ours, Finalizer):
		held := s.Ours.DeepCopy()
		held.Finalizers = append(held.Finalizers, Finalizer)
		return Step{Update, held, fmt.Sprintf("%s%s is held, so that its spec is not lost on the way", oursName, name)}
	default:
		return Step{Orphan, s.Ours, fmt.Sprintf("%s%s is let go, its pods are left running", oursName, name)}
	}
}

// awaitRelease follows the garbage collector. A set that somebody had deleted
// together with its pods is still there, because it is held, and so are the
// pods: it is orphaned now.
func (s Situation) awaitRelease() Step {
	if !hasFinalizer(s.Ours, metav1.FinalizerOrphanDependents) {
		return Step{Orphan, s.Ours, fmt.Sprintf("%s%s is let go, its pods are left running", oursName, s.Ours.Name)}
	}
	return wait("the garbage collector to let go of the pods, claims and revisions of %s%s", oursName, s.Ours.Name)
}

// createBuiltIn creates theirs. Before that, the revision of the template must
// be one that the built-in controller recognizes.
func (s Situation) createBuiltIn() Step {
	recorded := s.target()
	if recorded == nil || !s.isRecognized(recorded) {
		return s.recordAnew(recorded)
	}
	created := s.Answer.DeepCopy()
	created.ObjectMeta = metav1.ObjectMeta{
		Namespace: created.Namespace, Name: created.Name, Labels: created.Labels,
		Annotations: created.Annotations, OwnerReferences: created.OwnerReferences,
	}
	created.Status = appsv1.StatefulSetStatus{}
	return Step{Create, created, fmt.Sprintf("%s%s is created", builtInName, created.Name)}
}

// target is the revision of the template; nil if it is gone.
func (s Situation) target() *appsv1.ControllerRevision {
	at := slices.IndexFunc(s.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == s.Ours.Status.UpdateRevision })
	if at < 0 {
		return nil
	}
	return s.Revisions[at]
}

// isRecognized tells whether the built-in controller takes a revision for that
// of the template. It compares bytes. (Since 1.35 it looks closer, as we do.)
func (s Situation) isRecognized(recorded *appsv1.ControllerRevision) bool {
	data, err := revision.Data(&s.Answer.Spec.Template)
	return err == nil && bytes.Equal(data, recorded.Data.Raw)
}

// recordAnew records the template under the name that the pods bear, with the
// defaults that apps/v1 stores and we do not. Data can't be changed, so the
// revision is replaced, in two steps.
func (s Situation) recordAnew(recorded *appsv1.ControllerRevision) Step {
	name := s.Ours.Status.UpdateRevision
	if recorded != nil {
		return Step{Delete, recorded, fmt.Sprintf("controllerrevision.apps/%s is about to be recorded as apps/v1 writes it", name)}
	}
	data, err := revision.Data(&s.Answer.Spec.Template)
	if err != nil {
		return refuse("%v", err)
	}
	written := revision.New(s.Ours, data, revision.NextNumber(revision.Sorted(s.Revisions)), 0)
	written.Name = name
	written.Labels[revision.HashLabel] = name[len(revision.Name(s.Ours.Name, "")):]
	written.OwnerReferences = nil
	written.Data = runtime.RawExtension{Raw: data}
	return Step{Create, written, fmt.Sprintf("controllerrevision.apps/%s is recorded as apps/v1 writes it", name)}
}

// completeRelease sees that theirs has taken over, and then lets ours go.
func (s Situation) completeRelease() Step {
	status := s.BuiltIn.Status
	switch missing := s.podsWithout(s.BuiltIn); {
	case missing > 0 || status.ObservedGeneration != s.BuiltIn.Generation || status.UpdateRevision == "":
		return wait("the controller of apps/v1 to take over %d pods", missing)
	case status.CurrentRevision != s.Ours.Status.CurrentRevision && s.countAt(s.Ours.Status.CurrentRevision) > 0 && s.hasCurrent():
		return Step{UpdateStatus, s.toldCurrent(), fmt.Sprintf("%s%s knows the revision that is current", builtInName, s.BuiltIn.Name)}
	case status.CurrentRevision != status.UpdateRevision && status.CurrentReplicas != s.countAt(status.CurrentRevision):
		return wait("the controller of apps/v1 to accept the current revision")
	default:
		freed, _ := Freed(s.Ours)
		return Step{Update, freed, fmt.Sprintf("%s%s has taken over, %s%[2]s is gone", builtInName, s.BuiltIn.Name, oursName)}
	}
}

// hasCurrent tells whether the current revision of ours still exists.
func (s Situation) hasCurrent() bool {
	return slices.ContainsFunc(s.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == s.Ours.Status.CurrentRevision })
}

// toldCurrent is theirs with our current revision. A new set takes the revision
// of its template for the current one, and a pod below the partition would come
// back as the wrong one. The count is set to what it can't be, so that a status in
// which it is right again shows that the controller has read this.
func (s Situation) toldCurrent() *appsv1.StatefulSet {
	told := s.BuiltIn.DeepCopy()
	told.Status.CurrentRevision = s.Ours.Status.CurrentRevision
	told.Status.CurrentReplicas = 0
	return told
}

// countAt counts the pods at a revision as the built-in controller does.
func (s Situation) countAt(revision string) int32 {
	count := int32(0)
	for _, pod := range s.Pods {
		if pod.DeletionTimestamp == nil && pod.Labels[v1.RevisionLabel] == revision {
			count++
		}
	}
	return count
}

// Replaced is the revision that has to be recorded anew; nil if none has to.
func Replaced(s Situation) *appsv1.ControllerRevision {
	if recorded := s.target(); recorded != nil && s.Answer != nil && !s.isRecognized(recorded) {
		return recorded
	}
	return nil
}

// Freed returns ours without the finalizer, and whether it had it.
func Freed(set *v1.StatefulSet) (freed *v1.StatefulSet, wasHeld bool) {
	freed = set.DeepCopy()
	freed.Finalizers = slices.DeleteFunc(freed.Finalizers, func(f string) bool { return f == Finalizer })
	return freed, len(freed.Finalizers) < len(set.Finalizers)
}
