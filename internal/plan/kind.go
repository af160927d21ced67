package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of objects that plans are about.
const (
	KindPod      = "Pod"
	KindClaim    = "PersistentVolumeClaim"
	KindRevision = "ControllerRevision"
)

// KindOf returns the kind of an object, also of one of which only the metadata is
// known. It is empty for kinds that plans are not about.
func KindOf(object metav1.Object) string {
	switch o := object.(type) {
	case *corev1.Pod:
		return KindPod
	case *corev1.PersistentVolumeClaim:
		return KindClaim
	case *appsv1.ControllerRevision:
		return KindRevision
	case *metav1.PartialObjectMetadata:
		return o.Kind
	default:
		return ""
	}
}
