package explain

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// claimCause says what is wrong with a claim that a pending pod waits for, if
// one is. A claim that waits for its pod to be scheduled is not the cause but the
// consequence.
func (s *situation) claimCause(at slot) (Cause, bool) {
	if at.state.Class != podstate.Pending {
		return Cause{}, false
	}
	for _, name := range s.claimNames(at) {
		if cause, found := s.claimTrouble(name, "pod "+at.name+" waits for it"); found {
			return cause, true
		}
	}
	return Cause{}, false
}

// claimNames are the claims of a slot.
func (s *situation) claimNames(at slot) []string {
	var names []string
	for i := range s.set.Spec.VolumeClaimTemplates {
		names = append(names, podbuild.ClaimName(&s.set.Spec.VolumeClaimTemplates[i], s.set.Name, at.ordinal))
	}
	return names
}

// claimTrouble says what is wrong with a claim: first match wins.
func (s *situation) claimTrouble(name, consequence string) (Cause, bool) {
	claim := s.Observation.Claims[name]
	begin := func(code Code, text string) Cause {
		return Cause{Code: code, Object: "persistentvolumeclaim/" + name, Text: "claim " + name + " " + text + ": " + consequence}
	}
	look := Remedy{"look closer", s.kubectl("describe pvc %s", name)}
	switch {
	case claim == nil:
		cause := begin(ClaimMissing, "does not exist and is created anew")
		cause.Passes = true
		return cause, true
	case claim.DeletionTimestamp != nil:
		return begin(ClaimTerminating, "is being deleted"+finalizersOf(claim)).since(claim.DeletionTimestamp.Time).mendedBy(look), true
	case claim.Status.Phase == corev1.ClaimLost:
		return begin(ClaimLost, "has lost its volume "+claim.Spec.VolumeName).mendedBy(look), true
	case claim.Status.Phase != corev1.ClaimBound:
		return s.unbound(begin, claim).mendedBy(look, Remedy{"see which storage classes there are", "kubectl get storageclasses"}), s.isUnboundForReason(claim)
	}
	return Cause{}, false
}

func finalizersOf(object metav1.Object) string {
	if len(object.GetFinalizers()) == 0 {
		return ""
	}
	return ", held by " + object.GetFinalizers()[0]
}

// unbound says why no volume is bound, as far as events tell.
func (s *situation) unbound(begin func(Code, string) Cause, claim *corev1.PersistentVolumeClaim) Cause {
	cause := begin(ClaimUnbound, "is not bound to a volume").since(claim.CreationTimestamp.Time)
	if e := s.warning("PersistentVolumeClaim", claim.Name); e != nil {
		return cause.with(e.Reason + ": " + oneLine(e.Message))
	}
	if class := claim.Spec.StorageClassName; class != nil && *class != "" {
		return cause.with("its storage class is " + *class)
	}
	return cause.with("it names no storage class, and there may be no default one")
}

// isUnboundForReason tells whether it is the claim's own fault: a claim of a
// class that binds when its pod is scheduled waits for the pod, and a young one
// may just be on its way.
func (s *situation) isUnboundForReason(claim *corev1.PersistentVolumeClaim) bool {
	if s.waitsForConsumer(claim) && s.warning("PersistentVolumeClaim", claim.Name) == nil {
		return false
	}
	return s.now.Sub(claim.CreationTimestamp.Time) >= longStart || s.warning("PersistentVolumeClaim", claim.Name) != nil
}

func (s *situation) waitsForConsumer(claim *corev1.PersistentVolumeClaim) bool {
	for _, e := range s.Events {
		if e.InvolvedObject.Kind == "PersistentVolumeClaim" && e.InvolvedObject.Name == claim.Name && e.Reason == "WaitForFirstConsumer" {
			return true
		}
	}
	return false
}

// missingSlotCause says why a slot has no pod although it could have one: a claim
// of it has to be gone first.
func (s *situation) missingSlotCause(at slot) (Cause, bool) {
	for _, name := range s.claimNames(at) {
		claim := s.Observation.Claims[name]
		if claim == nil {
			continue
		}
		isDoomed := podbuild.HasEarlierPod(s.set, claim, nil, at.ordinal)
		if claim.DeletionTimestamp == nil && !isDoomed {
			continue
		}
		if claim.DeletionTimestamp != nil {
			cause, _ := s.claimTrouble(name, "no pod "+at.name+" is created on it")
			return cause, true
		}
		cause := Cause{Code: ClaimTerminating, Object: "persistentvolumeclaim/" + name}
		cause.Text = "claim " + name + " belongs to an earlier pod and is about to be deleted with it (whenScaled is Delete): no pod " + at.name + " is created on it"
		cause.Passes = true
		return cause, true
	}
	return Cause{}, false
}
