package handover

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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
	case !hasFinalizer(s.Ours, Finalizer) && s.BuiltIn != nil && s.dependents(s.Ours.UID) == 0:
		return wait("%s%s to be gone", oursName, s.Ours.Name)
	case !hasFinalizer(s.Ours, Finalizer):
		return refuse("%s%s is being deleted, and not by this command: wait until it is gone", oursName, s.Ours.Name)
	case !strings.HasPrefix(s.recordedTarget(), s.Ours.Name+"-"):
		return refuse("the annotation %s of %s%s does not name its revisions, as in \"%[3]s-5c9d %[3]s-7f2b\": mend it", Record, oursName, s.Ours.Name)
	case s.dependents(s.Ours.UID) > 0 || hasFinalizer(s.Ours, metav1.FinalizerOrphanDependents):
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
	case !hasFinalizer(s.Ours, Finalizer) || s.Ours.Annotations[Record] != recordOf(s.Ours):
		return Step{Update, held(s.Ours), fmt.Sprintf("%s%s is held, so that its spec is not lost on the way", oursName, name)}
	default:
		return Step{Orphan, s.Ours, fmt.Sprintf("%s%s is let go, its pods are left running", oursName, name)}
	}
}

// held is ours with the finalizer and the record.
func held(set *v1.StatefulSet) *v1.StatefulSet {
	held := set.DeepCopy()
	if !hasFinalizer(held, Finalizer) {
		held.Finalizers = append(held.Finalizers, Finalizer)
	}
	metav1.SetMetaDataAnnotation(&held.ObjectMeta, Record, recordOf(set))
	return held
}

func recordOf(set *v1.StatefulSet) string {
	return set.Status.CurrentRevision + " " + set.Status.UpdateRevision
}

// recordedCurrent and recordedTarget are the two revisions of ours.
func (s Situation) recordedCurrent() string {
	current, _, _ := strings.Cut(s.Ours.Annotations[Record], " ")
	return current
}

func (s Situation) recordedTarget() string {
	_, target, _ := strings.Cut(s.Ours.Annotations[Record], " ")
	return target
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
	recorded := s.revision(s.recordedTarget())
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

// revision returns the revision of a name; nil if there is none.
func (s Situation) revision(name string) *appsv1.ControllerRevision {
	at := slices.IndexFunc(s.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
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
	name := s.recordedTarget()
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
	status, current := s.BuiltIn.Status, s.recordedCurrent()
	switch missing := s.podsWithout(s.BuiltIn); {
	case missing > 0 || status.ObservedGeneration != s.BuiltIn.Generation || status.UpdateRevision == "":
		return wait("the controller of apps/v1 to take over %d pods", missing)
	case status.CurrentRevision != current && s.revision(current) != nil && s.countAt(current) > 0:
		return Step{UpdateStatus, s.toldCurrent(), fmt.Sprintf("%s%s knows the revision that is current", builtInName, s.BuiltIn.Name)}
	case status.CurrentRevision != status.UpdateRevision && status.CurrentReplicas != s.countAt(status.CurrentRevision):
		return wait("the controller of apps/v1 to accept the current revision")
	default:
		freed, _ := Freed(s.Ours)
		return Step{Update, freed, fmt.Sprintf("%s%s has taken over, %s%[2]s is gone", builtInName, s.BuiltIn.Name, oursName)}
	}
}

// toldCurrent is theirs with our current revision. A new set takes the revision
// of its template for the current one, and a pod below the partition would come
// back as the wrong one. The count is set to what it can't be, so that a status in
// which it is right again shows that the controller has read this.
func (s Situation) toldCurrent() *appsv1.StatefulSet {
	told := s.BuiltIn.DeepCopy()
	told.Status.CurrentRevision = s.recordedCurrent()
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
	if recorded := s.revision(s.Ours.Status.UpdateRevision); recorded != nil && s.Answer != nil && !s.isRecognized(recorded) {
		return recorded
	}
	return nil
}

// Freed returns ours without the finalizer and the record, and whether it had them.
func Freed(set *v1.StatefulSet) (freed *v1.StatefulSet, wasHeld bool) {
	freed = set.DeepCopy()
	freed.Finalizers = slices.DeleteFunc(freed.Finalizers, func(f string) bool { return f == Finalizer })
	delete(freed.Annotations, Record)
	return freed, len(freed.Finalizers) < len(set.Finalizers)
}
