// Package podbuild makes the objects of a slot: its pod and its claims.
//
// What makes a pod a member of its set:
//
//	name, hostname   <set>-<ordinal>
//	subdomain        the set's serviceName
//	labels           the template's, the pod's name and ordinal, its revision
//	owner            the set, as controller
//	volumes          one per claim template, each with the claim
//	                 <template>-<set>-<ordinal>, in place of a volume of that
//	                 name in the template; then the template's others
//
// Who owns a claim follows from the set's retention policy; see ClaimOwners.
package podbuild

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
)

// Pod makes the pod of a slot from the template of a revision.
func Pod(set *v1.StatefulSet, template *corev1.PodTemplateSpec, revision string, number int) *corev1.Pod {
	name := ordinal.PodName(set.Name, number)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       set.Namespace,
			Name:            name,
			GenerateName:    set.Name + "-",
			Labels:          podLabels(template, name, revision, number),
			Annotations:     maps.Clone(template.Annotations),
			Finalizers:      append([]string(nil), template.Finalizers...),
			OwnerReferences: []metav1.OwnerReference{OwnerReference(set)},
		},
	}
	template.Spec.DeepCopyInto(&pod.Spec)
	pod.Spec.Hostname = name
	pod.Spec.Subdomain = set.Spec.ServiceName
	pod.Spec.Volumes = withClaimVolumes(set, pod.Spec.Volumes, number)
	return pod
}

// OwnerReference returns the reference that makes the set the controller of an object.
func OwnerReference(set *v1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1.Kind)
}

func podLabels(template *corev1.PodTemplateSpec, name, revision string, number int) map[string]string {
	labels := make(map[string]string, len(template.Labels)+3)
	maps.Copy(labels, template.Labels)
	labels[v1.RevisionLabel] = revision
	labels[v1.PodNameLabel] = name
	labels[v1.PodIndexLabel] = strconv.Itoa(number)
	return labels
}

// withClaimVolumes puts the volumes of the claims before the template's own and
// drops those of the template that a claim shadows.
func withClaimVolumes(set *v1.StatefulSet, volumes []corev1.Volume, number int) []corev1.Volume {
	templates := set.Spec.VolumeClaimTemplates
	if len(templates) == 0 {
		return volumes
	}
	all := make([]corev1.Volume, 0, len(templates)+len(volumes))
	shadowed := make(map[string]bool, len(templates))
	for i := range templates {
		source := corev1.PersistentVolumeClaimVolumeSource{ClaimName: ClaimName(&templates[i], set.Name, number)}
		all = append(all, corev1.Volume{
			Name:         templates[i].Name,
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &source},
		})
		shadowed[templates[i].Name] = true
	}
	for _, volume := range volumes {
		if !shadowed[volume.Name] {
			all = append(all, volume)
		}
	}
	return all
}

// HasIdentity tells whether a pod with the name of a slot carries the label that
// names it, by which services select it and this operator watches it.
func HasIdentity(pod *corev1.Pod) bool {
	return pod.Labels[v1.PodNameLabel] == pod.Name
}

// IdentityLabels returns the labels that give a pod its identity back.
func IdentityLabels(pod *corev1.Pod, number int) map[string]string {
	return map[string]string{v1.PodNameLabel: pod.Name, v1.PodIndexLabel: strconv.Itoa(number)}
}
