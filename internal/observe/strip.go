package observe

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// stripPod leaves of a pod what decisions read: its identity, its owners, its
// node, and how far it has come.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("strip a pod: got %T", object)
	}
	stripMeta(&pod.ObjectMeta)
	pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName}
	pod.Status = corev1.PodStatus{
		Phase:      pod.Status.Phase,
		StartTime:  pod.Status.StartTime,
		Conditions: readiness(pod.Status.Conditions),
	}
	return pod, nil
}

// readiness leaves of conditions whether and since when the pod is ready.
func readiness(conditions []corev1.PodCondition) []corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == corev1.PodReady {
			return []corev1.PodCondition{{
				Type:               corev1.PodReady,
				Status:             conditions[i].Status,
				LastTransitionTime: conditions[i].LastTransitionTime,
			}}
		}
	}
	return nil
}

// stripClaim leaves of a claim its identity and its owners.
func stripClaim(object any) (any, error) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return nil, fmt.Errorf("strip a claim: got %T", object)
	}
	stripMeta(&claim.ObjectMeta)
	claim.Spec = corev1.PersistentVolumeClaimSpec{}
	claim.Status = corev1.PersistentVolumeClaimStatus{}
	return claim, nil
}

// stripRevision takes the data from revisions of other controllers. Ours and
// orphans, which may become ours, keep it.
func stripRevision(object any) (any, error) {
	revision, ok := object.(*appsv1.ControllerRevision)
	if !ok {
		return nil, fmt.Errorf("strip a revision: got %T", object)
	}
	stripMeta(&revision.ObjectMeta)
	if controller := metav1.GetControllerOfNoCopy(revision); controller != nil && !IsSet(controller) {
		revision.Data.Raw = nil
	}
	return revision, nil
}

// stripMeta takes out the big parts of metadata that no decision reads.
func stripMeta(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	meta.Annotations = nil
	meta.Finalizers = nil
}

// IsSet tells whether an owner is a set of ours and not, say, one of apps/v1.
func IsSet(owner *metav1.OwnerReference) bool {
	return owner.Kind == v1.Kind.Kind && owner.APIVersion == v1.GroupVersion.String()
}
