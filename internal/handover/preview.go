package handover

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Preview is what the operator would observe at the moment when all has been let
// go: ours, with the revisions it was told, and everything else without owners.
func Preview(s Situation, now time.Time) plan.Observation {
	ours := s.Ours
	if ours == nil {
		ours = s.Converted
	}
	ours = ours.DeepCopy()
	v1.SetDefaults(ours)
	ours.Status.CurrentRevision = s.BuiltIn.Status.CurrentRevision
	observation := plan.Observation{
		Set: ours, Now: now, Gates: plan.AllGates(), Live: plan.LiveReads{Set: true},
		Claims: map[string]*corev1.PersistentVolumeClaim{},
	}
	for _, pod := range s.Pods {
		pod = pod.DeepCopy()
		pod.OwnerReferences = nil
		observation.Pods = append(observation.Pods, pod)
	}
	for _, revision := range s.Revisions {
		revision = revision.DeepCopy()
		revision.OwnerReferences = nil
		observation.Revisions = append(observation.Revisions, revision)
	}
	for _, claim := range s.Claims {
		claim = claim.DeepCopy()
		claim.OwnerReferences = nil
		observation.Claims[claim.Name] = claim
	}
	return observation
}
