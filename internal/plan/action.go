package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is one write. The concrete types of this file are all there are, so a
// type switch over them is complete.
type Action interface {
	// Why returns the reason of the action.
	Why() Reason
	// String says what is done to which object: "delete pod web-2".
	String() string
	// Object returns the object that is written, as observed or as it will be created.
	Object() metav1.Object
}

// AdoptPod makes the set the controller of an orphan. The write names the UID.
type AdoptPod struct {
	Pod    *corev1.Pod
	Owner  metav1.OwnerReference
	Reason Reason
}

// ReleasePod removes the set from the owners of a pod. The write names the UID.
type ReleasePod struct {
	Pod    *corev1.Pod
	Reason Reason
}

// AdoptRevision makes the set the controller of an orphan revision.
type AdoptRevision struct {
	Revision *appsv1.ControllerRevision
	Owner    metav1.OwnerReference
	Reason   Reason
}

// UpdatePod sets labels of a pod that are part of its identity. It is a patch
// of these labels alone: observed pods may be stripped.
type UpdatePod struct {
	Pod    *corev1.Pod
	Labels map[string]string
	Reason Reason
}

// UpdateClaimOwner replaces the owner references of a claim, by none if Owners is
// empty, provided that the claim is still the version that was observed.
type UpdateClaimOwner struct {
	Claim  *corev1.PersistentVolumeClaim
	Owners []metav1.OwnerReference
	Reason Reason
}

// CreateClaim creates a claim. "Already exists" is a failure: the claim that
// exists has yet to be observed and judged.
type CreateClaim struct {
	Claim  *corev1.PersistentVolumeClaim
	Reason Reason
}

// CreatePod creates the pod of a slot. When the name is taken, the executor reads
// the pod that has it: controlled by this set it is a success (not observed yet,
// or bereft of the label by which pods are watched), otherwise "already exists"
// is a failure, which planner.Conclude shows to the user.
type CreatePod struct {
	Ordinal  int
	Revision string
	Pod      *corev1.Pod
	Reason   Reason
}

// DeletePod deletes exactly the pod observed, by its UID, with the pod's own
// grace period. "Not found" and a conflict over the UID are success: that pod
// is gone.
type DeletePod struct {
	Ordinal int
	Pod     *corev1.Pod
	// IfUnchanged also demands the observed resourceVersion, so that a write in
	// between (the pod became ready after all) wins. That conflict is a failure.
	IfUnchanged bool
	Reason      Reason
}

// CreateRevision records a template. When the name is taken, the executor reads
// the revision that has it: with equal data and controlled by this set it is a
// success (our own write, not yet observed), otherwise "already exists" is a
// failure, from which planner.Conclude learns of the collision.
type CreateRevision struct {
	Revision *appsv1.ControllerRevision
	Reason   Reason
}

// BumpRevision gives an older revision the highest number.
type BumpRevision struct {
	Revision *appsv1.ControllerRevision
	Number   int64
	Reason   Reason
}

// DeleteRevision deletes exactly the revision observed, by its UID.
type DeleteRevision struct {
	Revision *appsv1.ControllerRevision
	Reason   Reason
}

// Why returns the reason of the action.
func (a AdoptPod) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a ReleasePod) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a AdoptRevision) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a UpdatePod) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a UpdateClaimOwner) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a CreateClaim) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a CreatePod) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a DeletePod) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a CreateRevision) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a BumpRevision) Why() Reason { return a.Reason }

// Why returns the reason of the action.
func (a DeleteRevision) Why() Reason { return a.Reason }

// Object returns the pod.
func (a AdoptPod) Object() metav1.Object { return a.Pod }

// Object returns the pod.
func (a ReleasePod) Object() metav1.Object { return a.Pod }

// Object returns the revision.
func (a AdoptRevision) Object() metav1.Object { return a.Revision }

// Object returns the pod.
func (a UpdatePod) Object() metav1.Object { return a.Pod }

// Object returns the claim.
func (a UpdateClaimOwner) Object() metav1.Object { return a.Claim }

// Object returns the claim.
func (a CreateClaim) Object() metav1.Object { return a.Claim }

// Object returns the pod.
func (a CreatePod) Object() metav1.Object { return a.Pod }

// Object returns the pod.
func (a DeletePod) Object() metav1.Object { return a.Pod }

// Object returns the revision.
func (a CreateRevision) Object() metav1.Object { return a.Revision }

// Object returns the revision.
func (a BumpRevision) Object() metav1.Object { return a.Revision }

// Object returns the revision.
func (a DeleteRevision) Object() metav1.Object { return a.Revision }

func (a AdoptPod) String() string      { return "adopt pod " + a.Pod.Name }
func (a ReleasePod) String() string    { return "release pod " + a.Pod.Name }
func (a AdoptRevision) String() string { return "adopt revision " + a.Revision.Name }
func (a UpdatePod) String() string     { return "repair the identity of pod " + a.Pod.Name }
func (a UpdateClaimOwner) String() string {
	return "set the owner of claim " + a.Claim.Name
}
func (a CreateClaim) String() string { return "create claim " + a.Claim.Name }
func (a CreatePod) String() string {
	return fmt.Sprintf("create pod %s at revision %s", a.Pod.Name, a.Revision)
}
func (a DeletePod) String() string      { return "delete pod " + a.Pod.Name }
func (a CreateRevision) String() string { return "create revision " + a.Revision.Name }
func (a BumpRevision) String() string {
	return fmt.Sprintf("renumber revision %s to %d", a.Revision.Name, a.Number)
}
func (a DeleteRevision) String() string { return "delete revision " + a.Revision.Name }
