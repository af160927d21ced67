package podbuild

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
)

// ClaimName returns the name of the claim that a slot gets from a claim template.
func ClaimName(template *corev1.PersistentVolumeClaim, set string, number int) string {
	return template.Name + "-" + set + "-" + strconv.Itoa(number)
}

// Claim makes the claim that a slot gets from a claim template. It is born with
// the owner that the retention policy asks for.
func Claim(set *v1.StatefulSet, template *corev1.PersistentVolumeClaim, number int) *corev1.PersistentVolumeClaim {
	claim := template.DeepCopy()
	claim.Namespace = set.Namespace
	claim.Name = ClaimName(template, set.Name, number)
	if claim.Labels == nil {
		claim.Labels = map[string]string{}
	}
	if set.Spec.Selector != nil {
		maps.Copy(claim.Labels, set.Spec.Selector.MatchLabels)
	}
	if RetentionPolicy(set).WhenDeleted == v1.Delete {
		claim.OwnerReferences = append(claim.OwnerReferences, OwnerReference(set))
	}
	return claim
}

// RetentionPolicy returns what becomes of the set's claims; Retain unless it
// says otherwise.
func RetentionPolicy(set *v1.StatefulSet) v1.PersistentVolumeClaimRetentionPolicy {
	policy := v1.PersistentVolumeClaimRetentionPolicy{WhenDeleted: v1.Retain, WhenScaled: v1.Retain}
	if given := set.Spec.PersistentVolumeClaimRetentionPolicy; given != nil {
		if given.WhenDeleted != "" {
			policy.WhenDeleted = given.WhenDeleted
		}
		if given.WhenScaled != "" {
			policy.WhenScaled = given.WhenScaled
		}
	}
	return policy
}

// ClaimOwners returns the owner references that a claim of the ordinal should
// have, and whether they differ from those it has. pod is the ordinal's pod, nil
// if there is none.
//
//	              slot                  outside the range
//	whenDeleted   the set               the set, unless the pod is
//	whenScaled    –                     the pod
//
// Two kinds of claims are left alone: one that refers to an earlier set or pod of
// the same name, because the garbage collector is about to judge it; and, unless
// all is retained, one that another controller controls, except that references
// to us are taken back.
func ClaimOwners(
	set *v1.StatefulSet, claim *corev1.PersistentVolumeClaim, pod *corev1.Pod, number int,
) (owners []metav1.OwnerReference, differ bool) {
	wanted := wantedOwners(set, pod, number)
	if len(claim.OwnerReferences) == 0 {
		return wanted, len(wanted) > 0
	}
	if refersToEarlier(claim, v1.Kind, set.Name, set.UID) || HasEarlierPod(set, claim, pod, number) {
		return nil, false
	}
	others, ours := splitOwners(claim.OwnerReferences, set, number)
	if !retainsAll(set) && slices.ContainsFunc(others, isController) {
		wanted = nil
	}
	if slices.EqualFunc(ours, wanted, sameController) {
		return nil, false
	}
	return append(others, wanted...), true
}

// HasEarlierPod tells whether a claim belongs to a pod that had the ordinal
// before the one that has it now: its data is doomed.
func HasEarlierPod(set *v1.StatefulSet, claim *corev1.PersistentVolumeClaim, pod *corev1.Pod, number int) bool {
	var uid types.UID
	if pod != nil {
		uid = pod.UID
	}
	return refersToEarlier(claim, podKind, ordinal.PodName(set.Name, number), uid)
}

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// refersToEarlier tells whether an owner reference of the claim names an object
// by kind and name but has another UID.
func refersToEarlier(claim *corev1.PersistentVolumeClaim, kind schema.GroupVersionKind, name string, uid types.UID) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return refersTo(ref, kind, name) && ref.UID != uid
	})
}

func refersTo(ref metav1.OwnerReference, kind schema.GroupVersionKind, name string) bool {
	return ref.Name == name && ref.Kind == kind.Kind && ref.APIVersion == kind.GroupVersion().String()
}

// splitOwners separates the references to the set and the pod of the ordinal
// from all others.
func splitOwners(refs []metav1.OwnerReference, set *v1.StatefulSet, number int) (others, ours []metav1.OwnerReference) {
	pod := ordinal.PodName(set.Name, number)
	for _, ref := range refs {
		if refersTo(ref, v1.Kind, set.Name) || refersTo(ref, podKind, pod) {
			ours = append(ours, ref)
		} else {
			others = append(others, ref)
		}
	}
	return others, ours
}

func wantedOwners(set *v1.StatefulSet, pod *corev1.Pod, number int) []metav1.OwnerReference {
	policy := RetentionPolicy(set)
	isOutside := !ordinal.RangeOf(set).Contains(number)
	switch {
	case isOutside && policy.WhenScaled == v1.Delete && pod != nil:
		return []metav1.OwnerReference{*metav1.NewControllerRef(pod, podKind)}
	case policy.WhenDeleted == v1.Delete:
		return []metav1.OwnerReference{OwnerReference(set)}
	default:
		return nil
	}
}

func retainsAll(set *v1.StatefulSet) bool {
	policy := RetentionPolicy(set)
	return policy.WhenDeleted == v1.Retain && policy.WhenScaled == v1.Retain
}

func isController(ref metav1.OwnerReference) bool {
	return ref.Controller != nil && *ref.Controller
}

func sameController(have, want metav1.OwnerReference) bool {
	return have.UID == want.UID && isController(have)
}
