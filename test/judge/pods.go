package judge

import (
	"errors"
	"fmt"
	"slices"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
)

// ofCreates must hold when a pod is created.
var ofCreates = []property[act]{
	{"G1 one pod per slot", onePodPerSlot},
	{"G4 a set that goes is left alone", leavesDeletingSetAlone},
	{"G5 the revision follows from the slot", revisionFollowsFromSlot},
	{"R2 pods come up in order", comesUpInOrder},
	{"C1 Recreate never mixes revisions", neverMixesRevisions},
	{"V1 no pod on a claim that goes", claimsAreThere},
}

// ofDeletes must hold when the operator deletes a pod.
var ofDeletes = []property[act]{
	{"G4 a set that goes is left alone", leavesDeletingSetAlone},
	{"G7 the budget holds", budgetHolds},
	{"G7 available pods are spared while the budget is spent", sparesAvailable},
	{"R1 the partition holds", partitionHolds},
	{"R2 pods are scaled down from the top", scalesDownFromTop},
	{"R3 ordered updates wait for all", orderedUpdateWaits},
	{"F2 the safety halt holds", safetyHaltHolds},
	{"F3 what is updated is kept", updatedIsKept},
	{"P1 the timeout spares what was ready", sparesWhatWasReady},
	{"P2 the timeout is bounded", timeoutIsBounded},
	{"O1 OnDelete deletes nothing", onDeleteDeletesNothing},
	{"A1 paused means no update", pausedMeansNoUpdate},
}

// onePodPerSlot: the API server sees to it that names are unique, so what is left
// to judge is that nothing is created where no pod belongs, or one is.
func onePodPerSlot(a act) error {
	if !a.slots.Contains(a.pod.ordinal) {
		return fmt.Errorf("%s is created outside %d to %d", a.pod.Name, a.slots.Start, a.slots.End()-1)
	}
	if other := a.own().pod; other != nil {
		return fmt.Errorf("%s is created while pod %s of that name is there", a.pod.Name, other.UID)
	}
	return nil
}

func leavesDeletingSetAlone(a act) error {
	if a.family.set.DeletionTimestamp != nil {
		return fmt.Errorf("%s is touched although the set is being deleted", a.pod.Name)
	}
	return nil
}

func revisionFollowsFromSlot(a act) error {
	label := a.pod.Labels[v1.RevisionLabel]
	recorded, ok := a.family.imageOf(label)
	if wanted := a.own().wanted; image(&a.pod.Spec) != wanted {
		return fmt.Errorf("%s is created with %s, but its slot wants %s", a.pod.Name, image(&a.pod.Spec), wanted)
	}
	if !ok || recorded != image(&a.pod.Spec) {
		return fmt.Errorf("%s is labelled with revision %q, which is recorded as %q", a.pod.Name, label, recorded)
	}
	return nil
}

func comesUpInOrder(a act) error {
	if a.isParallel {
		return nil
	}
	below, isBlocked := 0, false
	for _, p := range a.places {
		if p.ordinal < a.pod.ordinal && !p.isAvailable() {
			below++
			isBlocked = isBlocked || !p.isInFlight()
		}
	}
	isBatch := a.isUpdating() && !isBlocked && below < a.budget
	if below > 0 && !isBatch {
		return fmt.Errorf("%s is created above %d unavailable slots", a.pod.Name, below)
	}
	return nil
}

func neverMixesRevisions(a act) error {
	for _, other := range a.family.pods {
		if a.strategy == v1.RecreateStrategy && image(&other.Spec) != image(&a.pod.Spec) {
			return fmt.Errorf("%s is created with %s while there is %s with %s", a.pod.Name, image(&a.pod.Spec), other.Name, image(&other.Spec))
		}
	}
	return nil
}

func claimsAreThere(a act) error {
	for i := range a.family.set.Spec.VolumeClaimTemplates {
		name := podbuild.ClaimName(&a.family.set.Spec.VolumeClaimTemplates[i], a.family.set.Name, a.pod.ordinal)
		if claim := a.family.claims[name]; claim == nil || claim.DeletionTimestamp != nil {
			return fmt.Errorf("%s is created while its claim %s is missing or being deleted", a.pod.Name, name)
		}
	}
	return nil
}

// budgetHolds judges every slot by the budget under which it was taken: a budget
// that is lowered afterwards brings no pod back.
func budgetHolds(a act) error {
	if !a.isBudgeted() || !a.isForUpdate() || !a.own().isAvailable() {
		return nil
	}
	budget := a.budget
	var down []int
	for _, slot := range a.family.ledger.down {
		down, budget = append(down, slot.ordinal), max(budget, slot.budget)
	}
	if len(down)+1 > budget {
		return fmt.Errorf("%s is taken down while slots %v are, and the budget is %d", a.pod.Name, down, budget)
	}
	return nil
}

// sparesAvailable: what Enforced counts is what is in flight.
func sparesAvailable(a act) error {
	used := a.unavailable()
	if a.strategy == v1.EnforcedRollingUpdateStrategy {
		used = a.count(place.isInFlight)
	}
	if a.isBudgeted() && a.isForUpdate() && a.own().isAvailable() && used >= a.budget {
		return fmt.Errorf("%s is available and taken down while %d of %d are down already", a.pod.Name, used, a.budget)
	}
	return nil
}

func partitionHolds(a act) error {
	if a.isBudgeted() && a.isForUpdate() && !a.own().isUpdated {
		return fmt.Errorf("%s is below the partition %d", a.pod.Name, a.partition)
	}
	return nil
}

// scalesDownFromTop: what Recreate has to clear goes at once, outside the range too.
func scalesDownFromTop(a act) error {
	isCleared := a.strategy == v1.RecreateStrategy && image(&a.pod.Spec) != a.image
	if a.why != scaledDown || a.isParallel || isCleared {
		return nil
	}
	if top := a.condemned[0]; top.ordinal != a.pod.ordinal {
		return fmt.Errorf("%s is removed before %s", a.pod.Name, top.pod.Name)
	}
	if held := slices.IndexFunc(a.places, a.holdsUpScaling); held >= 0 {
		return fmt.Errorf("%s is removed while slot %d is not available", a.pod.Name, a.places[held].ordinal)
	}
	return nil
}

// holdsUpScaling: an outdated broken pod holds nothing up in Enforced.
func (a act) holdsUpScaling(p place) bool {
	if a.strategy == v1.EnforcedRollingUpdateStrategy {
		return p.isInFlight()
	}
	return !p.isAvailable()
}

// orderedUpdateWaits: pods that are unavailable because of the same plan don't
// count. Those are the ones that were taken since the last status write.
func orderedUpdateWaits(a act) error {
	if a.isParallel || a.strategy != v1.RollingUpdateStrategy || a.why != outdated {
		return nil
	}
	if len(a.condemned) > 0 {
		return errors.New(a.pod.Name + " is taken before the scale-down is over")
	}
	batch := a.family.ledger.batch
	for _, p := range a.places {
		if !p.isAvailable() && !slices.Contains(batch, p.ordinal) {
			return fmt.Errorf("%s is taken while slot %d is not available", a.pod.Name, p.ordinal)
		}
		if p.ordinal > a.pod.ordinal && p.isOutdated() && !p.isTerminating() {
			return fmt.Errorf("%s is taken before %s, which is above it", a.pod.Name, p.pod.Name)
		}
	}
	return nil
}
