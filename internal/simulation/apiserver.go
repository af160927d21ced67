package simulation

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// The API server's answers to writes. What it refuses it refuses with the error
// that the real one gives.

var (
	podResource      = corev1.Resource("pods")
	claimResource    = corev1.Resource("persistentvolumeclaims")
	revisionResource = appsv1.Resource("controllerrevisions")
	setResource      = v1.GroupVersion.WithResource("statefulsets").GroupResource()
)

// preconditions are what a write demands of the object it goes to; what is empty
// is not demanded.
type preconditions struct {
	uid     types.UID
	version string
}

// check answers a write to an object, which must exist.
func (p preconditions) check(object metav1.Object, resource schema.GroupResource) error {
	if p.uid != "" && p.uid != object.GetUID() {
		return apierrors.NewConflict(resource, object.GetName(), errOtherUID)
	}
	if p.version != "" && p.version != object.GetResourceVersion() {
		return apierrors.NewConflict(resource, object.GetName(), errOtherVersion)
	}
	return nil
}

var (
	errOtherUID     = apierrors.NewBadRequest("the UID is another")
	errOtherVersion = apierrors.NewBadRequest("the object has been modified")
)

// createPod stores a pod, pending, unless its name is taken.
func (w *World) createPod(pod *corev1.Pod) (*corev1.Pod, error) {
	if find(w.Truth.Pods, pod.Name) != nil {
		return nil, apierrors.NewAlreadyExists(podResource, pod.Name)
	}
	created := pod.DeepCopy()
	w.register(&created.ObjectMeta)
	created.Status = corev1.PodStatus{Phase: corev1.PodPending}
	w.Truth.Pods = with(w.Truth.Pods, created)
	return created, nil
}

// changePod stores a changed copy of a pod.
func (w *World) changePod(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	changed := pod.DeepCopy()
	change(changed)
	changed.ResourceVersion = w.version()
	w.Truth.Pods = with(w.Truth.Pods, changed)
	return changed
}

// patchPod changes the pod with a name, if it is the one that is meant. A patch
// that changes nothing makes no version.
func (w *World) patchPod(name string, meant preconditions, change func(*corev1.Pod)) (*corev1.Pod, error) {
	pod := find(w.Truth.Pods, name)
	if pod == nil {
		return nil, apierrors.NewNotFound(podResource, name)
	}
	if err := meant.check(pod, podResource); err != nil {
		return nil, err
	}
	changed := pod.DeepCopy()
	change(changed)
	if hasTwoControllers(changed) {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), name, nil)
	}
	if equality.Semantic.DeepEqual(pod, changed) {
		return pod, nil
	}
	return w.changePod(pod, change), nil
}

// hasTwoControllers tells whether an object has more controllers than the one it
// may have.
func hasTwoControllers(object metav1.Object) bool {
	controllers := 0
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			controllers++
		}
	}
	return controllers > 1
}

// deletePod begins the graceful deletion of a pod. One that runs nowhere, or has
// ended, and that nothing holds is gone at once. Deleting it again changes nothing.
func (w *World) deletePod(name string, meant preconditions) error {
	pod := find(w.Truth.Pods, name)
	if pod == nil {
		return apierrors.NewNotFound(podResource, name)
	}
	if err := meant.check(pod, podResource); err != nil {
		return err
	}
	switch {
	case pod.DeletionTimestamp != nil:
	case pod.Status.Phase != corev1.PodRunning && len(pod.Finalizers) == 0:
		w.removePod(name)
	default:
		w.changePod(pod, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: w.Now} })
	}
	return nil
}

// removePod ends a pod's existence.
func (w *World) removePod(name string) { w.Truth.Pods = without(w.Truth.Pods, name) }

func (w *World) createClaim(claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	if find(w.Truth.Claims, claim.Name) != nil {
		return nil, apierrors.NewAlreadyExists(claimResource, claim.Name)
	}
	created := claim.DeepCopy()
	w.register(&created.ObjectMeta)
	w.Truth.Claims = with(w.Truth.Claims, created)
	return created, nil
}

// patchClaim changes the owners of a claim, if it is the version that is meant.
func (w *World) patchClaim(name string, meant preconditions, owners []metav1.OwnerReference) (*corev1.PersistentVolumeClaim, error) {
	claim := find(w.Truth.Claims, name)
	if claim == nil {
		return nil, apierrors.NewNotFound(claimResource, name)
	}
	if err := meant.check(claim, claimResource); err != nil {
		return nil, err
	}
	return w.changeClaim(claim, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = slices.Clone(owners) }), nil
}

// changeClaim stores a changed copy of a claim.
func (w *World) changeClaim(claim *corev1.PersistentVolumeClaim, change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	changed := claim.DeepCopy()
	change(changed)
	if equality.Semantic.DeepEqual(claim, changed) {
		return claim
	}
	changed.ResourceVersion = w.version()
	w.Truth.Claims = with(w.Truth.Claims, changed)
	return changed
}

// deleteClaim deletes a claim. One that a pod uses is kept until the pod is gone
// and the claim is collected.
func (w *World) deleteClaim(claim *corev1.PersistentVolumeClaim) {
	if !w.isInUse(claim) {
		w.Truth.Claims = without(w.Truth.Claims, claim.Name)
		return
	}
	w.changeClaim(claim, func(claim *corev1.PersistentVolumeClaim) {
		if claim.DeletionTimestamp == nil {
			claim.DeletionTimestamp = &metav1.Time{Time: w.Now}
		}
	})
}

// isInUse tells whether a pod that has a node mounts the claim.
func (w *World) isInUse(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(w.Truth.Pods, func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
			source := volume.PersistentVolumeClaim
			return source != nil && source.ClaimName == claim.Name
		})
	})
}

func (w *World) createRevision(revision *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if find(w.Truth.Revisions, revision.Name) != nil {
		return nil, apierrors.NewAlreadyExists(revisionResource, revision.Name)
	}
	created := revision.DeepCopy()
	w.register(&created.ObjectMeta)
	w.Truth.Revisions = with(w.Truth.Revisions, created)
	return created, nil
}

func (w *World) patchRevision(name string, meant preconditions, change func(*appsv1.ControllerRevision)) (*appsv1.ControllerRevision, error) {
	revision := find(w.Truth.Revisions, name)
	if revision == nil {
		return nil, apierrors.NewNotFound(revisionResource, name)
	}
	if err := meant.check(revision, revisionResource); err != nil {
		return nil, err
	}
	changed := revision.DeepCopy()
	change(changed)
	if hasTwoControllers(changed) {
		return nil, apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("ControllerRevision").GroupKind(), name, nil)
	}
	return w.changeRevision(revision, change), nil
}

// changeRevision stores a changed copy of a revision.
func (w *World) changeRevision(revision *appsv1.ControllerRevision, change func(*appsv1.ControllerRevision)) *appsv1.ControllerRevision {
	changed := revision.DeepCopy()
	change(changed)
	if equality.Semantic.DeepEqual(revision, changed) {
		return revision
	}
	changed.ResourceVersion = w.version()
	w.Truth.Revisions = with(w.Truth.Revisions, changed)
	return changed
}

func (w *World) deleteRevision(name string, meant preconditions) error {
	revision := find(w.Truth.Revisions, name)
	if revision == nil {
		return apierrors.NewNotFound(revisionResource, name)
	}
	if err := meant.check(revision, revisionResource); err != nil {
		return err
	}
	w.Truth.Revisions = without(w.Truth.Revisions, name)
	return nil
}

// updateStatus replaces the status of the set, if it is the version that is meant.
func (w *World) updateStatus(observed *v1.StatefulSet, status v1.StatefulSetStatus) (*v1.StatefulSet, error) {
	if w.Truth.Set == nil {
		return nil, apierrors.NewNotFound(setResource, setName)
	}
	meant := preconditions{uid: observed.UID, version: observed.ResourceVersion}
	if err := meant.check(w.Truth.Set, setResource); err != nil {
		return nil, err
	}
	if equality.Semantic.DeepEqual(w.Truth.Set.Status, status) {
		return w.Truth.Set, nil
	}
	return w.changeSet(func(set *v1.StatefulSet) { set.Status = *status.DeepCopy() }), nil
}

// updateSpec replaces the spec of the set as a user does. Another spec is another
// generation.
func (w *World) updateSpec(change func(*v1.StatefulSetSpec)) {
	wanted := w.Truth.Set.Spec.DeepCopy()
	change(wanted)
	if equality.Semantic.DeepEqual(w.Truth.Set.Spec, *wanted) {
		return
	}
	w.changeSet(func(set *v1.StatefulSet) {
		set.Spec = *wanted
		set.Generation++
	})
}

// changeSet stores a changed copy of the set.
func (w *World) changeSet(change func(*v1.StatefulSet)) *v1.StatefulSet {
	changed := w.Truth.Set.DeepCopy()
	change(changed)
	changed.ResourceVersion = w.version()
	w.Truth.Set = changed
	return changed
}

// deleteSet deletes the set. With a finalizer it stays until the garbage collector
// has dealt with its dependents.
func (w *World) deleteSet(finalizers ...string) {
	if len(finalizers) == 0 {
		w.Truth.Set = nil
		return
	}
	w.changeSet(func(set *v1.StatefulSet) {
		set.DeletionTimestamp, set.Finalizers = &metav1.Time{Time: w.Now}, finalizers
		set.Generation++
	})
}
