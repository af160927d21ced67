package handover

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// Kin is what tells the members of a set, whichever of the two it is.
type Kin struct {
	Name     string
	Selector labels.Selector
	// ClaimTemplates are the names of the set's claim templates.
	ClaimTemplates []string
}

// IsPod tells whether a pod is the set's, or would be if it were there. An orphan
// on its way out is nobody's.
func (k Kin) IsPod(pod *corev1.Pod) bool {
	_, isNamed := ordinal.Parse(k.Name, pod.Name)
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return k.isSet(owner)
	}
	return isNamed && pod.DeletionTimestamp == nil && k.Selector.Matches(labels.Set(pod.Labels))
}

// IsRevision tells whether a revision is of the set's history.
func (k Kin) IsRevision(candidate *appsv1.ControllerRevision) bool {
	if owner := metav1.GetControllerOfNoCopy(candidate); owner != nil {
		return k.isSet(owner)
	}
	return revision.IsNamedAfter(k.Name, candidate.Name) && k.Selector.Matches(labels.Set(candidate.Labels))
}

// IsClaim tells whether a claim was made from one of the set's claim templates.
func (k Kin) IsClaim(claim *corev1.PersistentVolumeClaim) bool {
	for _, template := range k.ClaimTemplates {
		if _, isNamed := ordinal.Parse(template+"-"+k.Name, claim.Name); isNamed {
			return true
		}
	}
	return false
}

// isSet tells whether an owner is a StatefulSet of the name, of either group.
func (k Kin) isSet(owner *metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && owner.Name == k.Name && owner.Kind == v1.Kind.Kind &&
		(group.Group == appsv1.GroupName || group.Group == v1.GroupName)
}
