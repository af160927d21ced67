package judge

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
)

// setChange is a new version of a set. At the first, before and after are the same.
type setChange struct {
	family        *family
	before, after *v1.StatefulSet
	now           time.Time
}

var ofSets = []property[setChange]{
	{"G9 the status is in order", statusIsInOrder},
	{"G9 an update is complete when all is available", completionNeedsAll},
}

func statusIsInOrder(c setChange) error {
	s := c.after.Status
	isOrdered := 0 <= s.AvailableReplicas && s.AvailableReplicas <= s.ReadyReplicas && s.ReadyReplicas <= s.Replicas &&
		s.CurrentReplicas >= 0 && s.UpdatedReplicas >= 0
	if !isOrdered || s.ObservedGeneration < c.before.Status.ObservedGeneration || s.ObservedGeneration > c.after.Generation {
		return fmt.Errorf("the status is %+v, and generation %d was observed before", s, c.before.Status.ObservedGeneration)
	}
	return nil
}

// completionNeedsAll judges by the spec that the status says it is about.
func completionNeedsAll(c setChange) error {
	before, after := c.before.Status.CurrentRevision, c.after.Status.CurrentRevision
	about := c.family.specs[c.after.Status.ObservedGeneration]
	if before == "" || before == after || about == nil {
		return nil
	}
	completed, _ := c.family.imageOf(after)
	a := newAct(c.family, about, &member{Pod: &corev1.Pod{}, ordinal: -1}, c.now)
	isDone := func(p place) bool { return p.isAvailable() && image(&p.pod.Spec) == completed }
	if done := a.count(isDone); done < len(a.places) || len(a.condemned) > 0 || (a.isBudgeted() && a.partition > 0) {
		return fmt.Errorf("the update is called complete with %d of %d slots available at %s and %d pods outside the range",
			done, len(a.places), completed, len(a.condemned))
	}
	return nil
}

// claimChange is a new version of a claim, or its end. before is nil at the first.
type claimChange struct {
	family        *family
	before, after *corev1.PersistentVolumeClaim
	ordinal       int
	isGoing       bool
}

var ofClaims = []property[claimChange]{
	{"V1 claims are kept", claimsAreKept},
	{"V1 claims belong to whom the policy says", ownersFollowPolicy},
}

// claimsAreKept: a claim goes only with the pod that it was given to outside the
// range. A claim that is kept keeps its UID.
func claimsAreKept(c claimChange) error {
	wasGoing := c.before != nil && c.before.DeletionTimestamp != nil
	if c.isGoing && !wasGoing && !ownedByPod(c.after) {
		return fmt.Errorf("claim %s is deleted though nothing says so", c.after.Name)
	}
	return nil
}

// ownersFollowPolicy judges references when they appear. The range is that of any
// spec that the decision may have been made on.
func ownersFollowPolicy(c claimChange) error {
	isNew := ownedByPod(c.after) && (c.before == nil || !ownedByPod(c.before))
	if !isNew {
		return nil
	}
	for generation := c.family.set.Status.ObservedGeneration; generation <= c.family.set.Generation; generation++ {
		set := c.family.specs[generation]
		if set != nil && podbuild.RetentionPolicy(set).WhenScaled == v1.Delete && !termsOf(set).slots.Contains(c.ordinal) {
			return nil
		}
	}
	return fmt.Errorf("claim %s is given to its pod against the retention policy", c.after.Name)
}

func ownedByPod(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == "Pod" })
}

// revisionChange is a new version of a revision, or its end. before is nil at the first.
type revisionChange struct {
	family        *family
	before, after *appsv1.ControllerRevision
	isGone        bool
}

var ofRevisions = []property[revisionChange]{
	{"H1 live revisions stay", liveRevisionsStay},
	{"H1 history is in order", historyIsInOrder},
}

func liveRevisionsStay(c revisionChange) error {
	if !c.isGone || c.family.set.DeletionTimestamp != nil {
		return nil
	}
	status, name := c.family.set.Status, c.after.Name
	if name == status.CurrentRevision || name == status.UpdateRevision {
		return fmt.Errorf("revision %s is deleted, and the status names it", name)
	}
	for _, pod := range c.family.pods {
		if pod.Labels[v1.RevisionLabel] == name {
			return fmt.Errorf("revision %s is deleted, and %s runs it", name, pod.Name)
		}
	}
	return nil
}

// historyIsInOrder: numbers only grow, and no two revisions have the same data.
func historyIsInOrder(c revisionChange) error {
	if c.before != nil && c.after.Revision < c.before.Revision {
		return fmt.Errorf("the number of revision %s falls from %d to %d", c.after.Name, c.before.Revision, c.after.Revision)
	}
	for _, other := range c.family.revisions {
		if !c.isGone && other.Name != c.after.Name && (other.Revision == c.after.Revision || bytes.Equal(other.Data.Raw, c.after.Data.Raw)) {
			return fmt.Errorf("revisions %s and %s have the same number or data", other.Name, c.after.Name)
		}
	}
	return nil
}
