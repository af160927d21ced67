package observe

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// stripPod leaves of a pod what decisions read, its identity, its owners, its
// node and how far it has come, and what they tell people: why it gets no
// further. The latter is kept in a form that changes no more often than the
// reason does, because each change of what is kept brings the set to its turn.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("strip a pod: got %T", object)
	}
	stripMeta(&pod.ObjectMeta)
	pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName}
	pod.Status = corev1.PodStatus{
		Phase:             pod.Status.Phase,
		Reason:            pod.Status.Reason,
		StartTime:         pod.Status.StartTime,
		Conditions:        append(readiness(pod.Status.Conditions), unscheduled(pod)...),
		ContainerStatuses: troubled(pod),
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

// unscheduled leaves why no node takes the pod, if none does.
func unscheduled(pod *corev1.Pod) []corev1.PodCondition {
	condition := podstate.Unscheduled(pod)
	if condition == nil {
		return nil
	}
	return []corev1.PodCondition{{
		Type: condition.Type, Status: condition.Status, Reason: condition.Reason, Message: condition.Message,
	}}
}

// troubled leaves the container that keeps the pod from getting ready, if one does.
func troubled(pod *corev1.Pod) []corev1.ContainerStatus {
	container := podstate.Troubled(pod)
	if container == nil {
		return nil
	}
	return []corev1.ContainerStatus{*container}
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
