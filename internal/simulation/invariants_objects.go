package simulation

import (
	"bytes"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
)

// The properties of claims (V1) and revisions (H1); see invariants.go.

func claimsAreSafe(t *Transition, s *scene) error {
	policy := podbuild.RetentionPolicy(s.set)
	for action := range t.Decision.Plan.Actions() {
		switch a := action.(type) {
		case plan.CreatePod:
			for i := range s.set.Spec.VolumeClaimTemplates {
				name := podbuild.ClaimName(&s.set.Spec.VolumeClaimTemplates[i], s.set.Name, a.Ordinal)
				if claim := t.Decision.Observation.Claims[name]; claim != nil && (claim.DeletionTimestamp != nil || diesWithPod(claim, a.Pod.Name, policy)) {
					return fmt.Errorf("%s on claim %s, which is being deleted or about to be", a, name)
				}
			}
		case plan.UpdateClaimOwner:
			for _, owner := range a.Owners {
				isKept := slices.ContainsFunc(a.Claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == owner.UID })
				isDue := isKept || (owner.UID == s.set.UID && policy.WhenDeleted == v1.Delete) ||
					(owner.Kind == "Pod" && policy.WhenScaled == v1.Delete && !s.slots.Contains(claimOrdinal(s.set, a.Claim)))
				if !isDue {
					return fmt.Errorf("%s to %s %s against the retention policy", a, owner.Kind, owner.Name)
				}
			}
		}
	}
	return nil
}

// diesWithPod tells whether the claim of a missing pod belongs to an earlier one.
func diesWithPod(claim *corev1.PersistentVolumeClaim, name string, policy v1.PersistentVolumeClaimRetentionPolicy) bool {
	return policy.WhenScaled == v1.Delete && slices.ContainsFunc(claim.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Pod" && owner.Name == name
	})
}

// claimOrdinal returns the ordinal that a claim belongs to, -1 for none.
func claimOrdinal(set *v1.StatefulSet, claim *corev1.PersistentVolumeClaim) int {
	for i := range set.Spec.VolumeClaimTemplates {
		if number, ok := ordinal.Parse(set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name, claim.Name); ok {
			return number
		}
	}
	return -1
}

// liveRevisionsStay is judged in truth. A pod that lost the label by which pods
// are watched can't be known of: see docs/verification.md.
func liveRevisionsStay(t *Transition, s *scene) error {
	for _, write := range t.Writes {
		remove, ok := write.Action.(plan.DeleteRevision)
		if !ok || write.Before.Set == nil || write.Before.Set.UID != s.set.UID {
			continue
		}
		isUsed := slices.ContainsFunc(write.Before.Pods, func(pod *corev1.Pod) bool {
			isWatched := pod.Labels[v1.PodNameLabel] != ""
			return isWatched && isControlledBy(pod, s.set.UID) && pod.Labels[v1.RevisionLabel] == remove.Revision.Name
		})
		if isUsed || remove.Revision.Name == write.Before.Set.Status.CurrentRevision || remove.Revision.Name == s.target {
			return fmt.Errorf("%s, which is in use", remove)
		}
	}
	return nil
}

// historyIsInOrder: numbers only grow, and no two revisions have the same data.
// That no two have the same number can't be had at every moment: one that was
// created unseen, without an answer, may share it for a while.
func historyIsInOrder(t *Transition, s *scene) error {
	revisions := t.After.Truth.Revisions
	for i, one := range revisions {
		for _, other := range revisions[:i] {
			isOurs := isControlledBy(one, s.set.UID) && isControlledBy(other, s.set.UID)
			if isOurs && bytes.Equal(one.Data.Raw, other.Data.Raw) {
				return fmt.Errorf("revisions %s and %s have the same data", one.Name, other.Name)
			}
		}
		if before := find(t.Before.Truth.Revisions, one.Name); before != nil && before.UID == one.UID && before.Revision > one.Revision {
			return fmt.Errorf("the number of revision %s falls to %d", one.Name, one.Revision)
		}
	}
	return nil
}

// namedRevisionsExist: pods are created of revisions that are stored, and a
// status that was written names such, unless the set is on its way out: then
// they go before it does.
func namedRevisionsExist(t *Transition, s *scene) error {
	for _, write := range t.Writes {
		create, ok := write.Action.(plan.CreatePod)
		isStored := ok && find(write.Before.Revisions, create.Revision) != nil
		if ok && write.Before.Set != nil && write.Before.Set.UID == s.set.UID && !isStored {
			return fmt.Errorf("%s, which is not stored", create)
		}
	}
	set := t.After.Truth.Set
	isWritten := t.Ended != nil && t.Ended.statusErr == nil && set != nil && set.UID == s.set.UID
	if !isWritten || set.DeletionTimestamp != nil || set.Status.UpdateRevision == "" {
		return nil
	}
	if find(t.After.Truth.Revisions, set.Status.UpdateRevision) == nil {
		return fmt.Errorf("the status names revision %s, which is not stored", set.Status.UpdateRevision)
	}
	return nil
}
