package simulation

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// The garbage collector, and the controller that keeps claims in use from going.
// Each of their writes is a step of its own, Collect:
//
//   - an object all of whose owners are gone, or wait for it to go, is deleted;
//   - an object that also has owners that stay loses the references to the others;
//   - dependents of a set that was deleted as one to be orphaned lose the reference;
//   - a set that waited for that is gone when nothing is left that it waits for.

// isStale tells whether an owner reference has to go: its owner is gone, waits
// for its dependents to go, or leaves them orphaned.
func (w *World) isStale(owner metav1.OwnerReference) bool {
	set := w.Truth.Set
	switch {
	case owner.UID == strangeOwner:
		return false
	case owner.Kind == v1.Kind.Kind:
		return set == nil || set.UID != owner.UID || set.DeletionTimestamp != nil
	default:
		pod := find(w.Truth.Pods, owner.Name)
		return pod == nil || pod.UID != owner.UID
	}
}

// isOrphaned tells whether the set that a reference names leaves its dependents.
func (w *World) isOrphaned(owner metav1.OwnerReference) bool {
	set := w.Truth.Set
	return set != nil && set.UID == owner.UID && slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents)
}

// isDue tells whether the garbage collector has to do something about an object.
func (w *World) isDue(object metav1.Object) bool {
	owners := object.GetOwnerReferences()
	if object.GetDeletionTimestamp() != nil && !slices.ContainsFunc(owners, w.isOrphaned) {
		return false
	}
	return slices.ContainsFunc(owners, w.isStale)
}

// ownersLeft are the owners that an object keeps. If it keeps none and was not
// orphaned, it is garbage.
func (w *World) ownersLeft(object metav1.Object) (left []metav1.OwnerReference, isGarbage bool) {
	owners := object.GetOwnerReferences()
	for _, owner := range owners {
		if !w.isStale(owner) {
			left = append(left, owner)
		}
	}
	return left, len(left) == 0 && !slices.ContainsFunc(owners, w.isOrphaned)
}

// garbage lists what is to be done as the objects of Collect.
func (w *World) garbage() []string {
	var found []string
	for _, pod := range w.Truth.Pods {
		if w.isDue(pod) {
			found = append(found, "pods/"+pod.Name)
		}
	}
	for _, claim := range w.Truth.Claims {
		if w.isDue(claim) || (claim.DeletionTimestamp != nil && !w.isInUse(claim)) {
			found = append(found, "claims/"+claim.Name)
		}
	}
	for _, revision := range w.Truth.Revisions {
		if w.isDue(revision) {
			found = append(found, "revisions/"+revision.Name)
		}
	}
	if w.isOver() {
		found = append(found, "set/"+setName)
	}
	return found
}

// isOver tells whether a set that waited for its dependents may go.
func (w *World) isOver() bool {
	set := w.Truth.Set
	if set == nil || set.DeletionTimestamp == nil {
		return false
	}
	return !slices.ContainsFunc(w.Truth.Pods, func(pod *corev1.Pod) bool { return holdsBack(pod, set) }) &&
		!slices.ContainsFunc(w.Truth.Claims, func(claim *corev1.PersistentVolumeClaim) bool { return holdsBack(claim, set) }) &&
		!slices.ContainsFunc(w.Truth.Revisions, func(revision *appsv1.ControllerRevision) bool { return holdsBack(revision, set) })
}

// holdsBack tells whether a set on its way out waits for an object.
func holdsBack(object metav1.Object, set *v1.StatefulSet) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.UID == set.UID && owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion
	})
}

// collect deals with one object.
func (w *World) collect(kind Kind, name string) {
	switch kind {
	case Pods:
		w.collectPod(find(w.Truth.Pods, name))
	case Claims:
		w.collectClaim(find(w.Truth.Claims, name))
	case Revisions:
		w.collectRevision(find(w.Truth.Revisions, name))
	case Sets:
		w.Truth.Set = nil
	}
}

func (w *World) collectPod(pod *corev1.Pod) {
	left, isGarbage := w.ownersLeft(pod)
	if isGarbage {
		_ = w.deletePod(pod.Name, preconditions{}) // without preconditions and with a pod it succeeds
		return
	}
	w.changePod(pod, func(pod *corev1.Pod) { pod.OwnerReferences = left })
}

func (w *World) collectClaim(claim *corev1.PersistentVolumeClaim) {
	left, isGarbage := w.ownersLeft(claim)
	isFree := claim.DeletionTimestamp != nil && !w.isInUse(claim)
	if isGarbage || isFree {
		w.deleteClaim(claim)
		return
	}
	w.changeClaim(claim, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = left })
}

func (w *World) collectRevision(revision *appsv1.ControllerRevision) {
	left, isGarbage := w.ownersLeft(revision)
	if isGarbage {
		w.Truth.Revisions = without(w.Truth.Revisions, revision.Name)
		return
	}
	w.changeRevision(revision, func(revision *appsv1.ControllerRevision) { revision.OwnerReferences = left })
}
