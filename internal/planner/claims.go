package planner

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// upkeep repairs what is wrong with pods that stay: their identity, and the
// owners of their claims. It waits for no pod's health, because a claim whose
// owner is wrong may be collected at any time.
func (d *decision) upkeep() []plan.Lane {
	var lanes []plan.Lane
	for i := range d.fleet.slots {
		s := &d.fleet.slots[i]
		if s.isMissing() {
			continue
		}
		lane := append(d.claimOwners(s), d.identity(s)...)
		if len(lane) > 0 {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

// identity repairs the labels that make a pod a member.
func (d *decision) identity(s *slot) []plan.Action {
	if podbuild.HasIdentity(s.pod) || s.isTerminating() {
		return nil
	}
	why := plan.Because(plan.IdentityDrifted, "its label %s is %q", v1.PodNameLabel, s.pod.Labels[v1.PodNameLabel])
	return []plan.Action{plan.UpdatePod{Pod: s.pod, Labels: podbuild.IdentityLabels(s.pod, s.ordinal), Reason: why}}
}

// claimOwners gives the claims of an ordinal the owners that the retention
// policy asks for.
func (d *decision) claimOwners(s *slot) []plan.Action {
	var actions []plan.Action
	d.eachClaim(s.ordinal, func(_, claim *corev1.PersistentVolumeClaim) {
		if claim == nil || claim.DeletionTimestamp != nil {
			return
		}
		if owners, differ := podbuild.ClaimOwners(d.set, claim, s.pod, s.ordinal); differ {
			actions = append(actions, plan.UpdateClaimOwner{Claim: claim, Owners: owners, Reason: d.whyOwned(owners)})
		}
	})
	return actions
}

func (d *decision) whyOwned(owners []metav1.OwnerReference) plan.Reason {
	policy := podbuild.RetentionPolicy(d.set)
	owner := "nobody"
	if len(owners) > 0 {
		last := owners[len(owners)-1]
		owner = last.Kind + " " + last.Name
	}
	return plan.Because(plan.RetentionPolicy, "whenDeleted is %s and whenScaled is %s, so it belongs to %s",
		policy.WhenDeleted, policy.WhenScaled, owner)
}

// missingClaims creates the claims of an ordinal that do not exist.
func (d *decision) missingClaims(s *slot) []plan.Action {
	var actions []plan.Action
	d.eachClaim(s.ordinal, func(template, claim *corev1.PersistentVolumeClaim) {
		if claim == nil {
			why := plan.Because(plan.ClaimMissing, "the pod of ordinal %d needs it", s.ordinal)
			actions = append(actions, plan.CreateClaim{Claim: podbuild.Claim(d.set, template, s.ordinal), Reason: why})
		}
	})
	return actions
}

// doomedClaim returns a claim of the slot on which no pod may be created, if it
// has one: a claim that is being deleted, or that the garbage collector will
// delete because it belongs to a pod that a scale-down removed.
func (d *decision) doomedClaim(s *slot) (doomed *corev1.PersistentVolumeClaim) {
	diesWithPod := podbuild.RetentionPolicy(d.set).WhenScaled == v1.Delete
	d.eachClaim(s.ordinal, func(_, claim *corev1.PersistentVolumeClaim) {
		if claim == nil || doomed != nil {
			return
		}
		if claim.DeletionTimestamp != nil || (diesWithPod && podbuild.HasEarlierPod(d.set, claim, s.pod, s.ordinal)) {
			doomed = claim
		}
	})
	return doomed
}

// needsClaims tells whether a pod waits for claims that may be missing.
func (s *slot) needsClaims() bool { return s.state.Class == podstate.Pending }

// eachClaim visits the claims of an ordinal, nil for one that does not exist.
func (d *decision) eachClaim(ordinal int, visit func(template, claim *corev1.PersistentVolumeClaim)) {
	templates := d.set.Spec.VolumeClaimTemplates
	for i := range templates {
		visit(&templates[i], d.observation.Claims[podbuild.ClaimName(&templates[i], d.set.Name, ordinal)])
	}
}
