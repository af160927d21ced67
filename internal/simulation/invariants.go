package simulation

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// A Property must hold in every transition. It is judged only when the
// controller decided or wrote something; the scene is what it decided on.
type Property struct {
	// Name is the one that docs and issues use.
	Name  string
	holds func(t *Transition, s *scene) error
}

// Safety are the properties of single transitions. G6, that every prefix of a
// plan is safe, is that they hold while plans are cut short anywhere; G10 is
// judged beside the real built-in controller, in localcluster/differential.
var Safety = []Property{
	{"G1 one pod per ordinal", onePodPerOrdinal},
	{"G2 deletes name their pod", deletesNameTheirPod},
	{"G3 writes stay in the family", writesStayInTheFamily},
	{"G4 a set that goes is left alone", leavesDeletingSetAlone},
	{"G5 the revision follows from the slot", revisionFollowsFromSlot},
	{"G7 the budget holds in truth", budgetHoldsInTruth},
	{"G7 the budget holds in the view", budgetHoldsInView},
	{"G9 the status is in order", statusIsInOrder},
	{"G9 the status is written", statusIsWritten},
	{"G9 an update is complete when all is available", completionNeedsAll},
	{"R1 the partition holds", partitionHolds},
	{"R2 pods come up in order", comesUpInOrder},
	{"R2 pods are scaled down from the top", scalesDownFromTop},
	{"R3 ordered updates wait for all", orderedUpdateWaits},
	{"R4 scaling goes first", scalingGoesFirst},
	{"C1 Recreate never mixes revisions", neverMixesRevisions},
	{"C2 Recreate deletes all others", recreateDeletesAll},
	{"F1 Enforced waits for no broken pod", waitsForNoBrokenPod},
	{"F2 the safety halt holds", safetyHaltHolds},
	{"F3 Enforced keeps what is updated", keepsWhatIsUpdated},
	{"P1 the timeout spares what was ready", sparesWhatWasReady},
	{"P2 the timeout is bounded", timeoutIsBounded},
	{"O1 OnDelete deletes nothing", onDeleteDeletesNothing},
	{"V1 claims are safe", claimsAreSafe},
	{"H1 live revisions stay", liveRevisionsStay},
	{"H1 history is in order", historyIsInOrder},
	{"H1 what is named exists", namedRevisionsExist},
	{"A1 paused means no update", pausedMeansNoUpdate},
}

// Violation is a property that does not hold.
type Violation struct {
	Property string
	Err      error
}

func (v *Violation) Error() string { return v.Property + ": " + v.Err.Error() }

// Judge returns the first property that does not hold in a transition, or nil.
func Judge(t *Transition) *Violation {
	if errors.Is(t.Err, errInsatiable) {
		return &Violation{"L4 decisions end", t.Err}
	}
	if t.Decision == nil {
		return nil
	}
	s := sceneOf(t.Decision)
	for _, property := range Safety {
		if err := property.holds(t, &s); err != nil {
			return &Violation{property.Name, err}
		}
	}
	return nil
}

// JudgePlan judges a plan on its own: by the properties that need to know neither
// what becomes of it nor what was before.
func JudgePlan(observation plan.Observation, todo plan.Plan) *Violation {
	none := &World{Scenario: &Scenario{}}
	return Judge(&Transition{Decision: &Decision{Observation: observation, Plan: todo}, Before: none, After: none})
}

func onePodPerOrdinal(t *Transition, _ *scene) error {
	seen := map[string]bool{}
	for _, pod := range t.Decision.Observation.Pods {
		seen[pod.Name] = true
	}
	for _, create := range creates(t.Decision.Plan) {
		if seen[create.Pod.Name] {
			return fmt.Errorf("%s, which is there or created already", create)
		}
		seen[create.Pod.Name] = true
	}
	return nil
}

func deletesNameTheirPod(t *Transition, _ *scene) error {
	for _, remove := range deletes(t.Decision.Plan, anyDelete) {
		if !slices.ContainsFunc(t.Decision.Observation.Pods, func(pod *corev1.Pod) bool { return pod.UID == remove.Pod.UID }) {
			return fmt.Errorf("%s: the UID %q was not observed", remove, remove.Pod.UID)
		}
	}
	for _, write := range t.Writes {
		_, isDelete := write.Action.(plan.DeletePod)
		if isDelete && apierrors.IsNotFound(write.Err) {
			return fmt.Errorf("%s fails because the pod is gone", write.Action)
		}
	}
	return nil
}

func anyDelete(plan.DeletePod) bool { return true }

func writesStayInTheFamily(t *Transition, _ *scene) error {
	o := t.Decision.Observation
	adopted := map[string]bool{}
	for action := range t.Decision.Plan.Actions() {
		switch action.(type) {
		case plan.AdoptPod, plan.AdoptRevision:
			hasController := metav1.GetControllerOfNoCopy(action.Object()) != nil
			if !o.Live.Set || o.Set.DeletionTimestamp != nil || hasController {
				return fmt.Errorf("%s without having asked whether the set lives", action)
			}
			adopted[action.Object().GetName()] = true
		case plan.CreateClaim, plan.UpdateClaimOwner:
		default:
			if !isControlledBy(action.Object(), o.Set.UID) && !adopted[action.Object().GetName()] {
				return fmt.Errorf("%s, which is not ours", action)
			}
		}
	}
	return nil
}

func leavesDeletingSetAlone(t *Transition, s *scene) error {
	if s.set.DeletionTimestamp == nil {
		return nil
	}
	for action := range t.Decision.Plan.Actions() {
		return fmt.Errorf("%s although the set is being deleted", action)
	}
	return nil
}

func revisionFollowsFromSlot(t *Transition, s *scene) error {
	for _, create := range creates(t.Decision.Plan) {
		wanted := s.place(create.Ordinal).wanted
		if create.Revision != wanted || create.Pod.Labels[v1.RevisionLabel] != wanted {
			return fmt.Errorf("%s, but slot %d wants %s", create, create.Ordinal, wanted)
		}
	}
	return nil
}

// budgetHoldsInTruth judges every slot by the budget under which it was taken: a
// budget that is lowered afterwards brings no pod back.
func budgetHoldsInTruth(t *Transition, _ *scene) error {
	down, budget := t.After.Ledger.Down, 0
	for _, slot := range down {
		budget = max(budget, slot.Budget)
	}
	if len(down) > budget {
		return fmt.Errorf("slots %v are down, the budget is %d", down, budget)
	}
	return nil
}

// budgetHoldsInView: what Enforced counts is what is in flight.
func budgetHoldsInView(t *Transition, s *scene) error {
	used := s.unavailable()
	if s.strategy == v1.EnforcedRollingUpdateStrategy {
		used = s.count(place.isInFlight)
	}
	taken := len(deletes(t.Decision.Plan, func(remove plan.DeletePod) bool {
		return isForUpdate(remove) && s.slots.Contains(remove.Ordinal) && s.place(remove.Ordinal).isAvailable()
	}))
	if s.isBudgeted() && taken > max(0, s.budget-used) {
		return fmt.Errorf("%d available pods are taken down, %d of %d are down already", taken, used, s.budget)
	}
	return nil
}

func statusIsInOrder(t *Transition, _ *scene) error {
	before, after := t.Before.Truth.Set, t.After.Truth.Set
	if after == nil || before == nil || before.UID != after.UID {
		return nil
	}
	status := after.Status
	isOrdered := 0 <= status.AvailableReplicas && status.AvailableReplicas <= status.ReadyReplicas &&
		status.ReadyReplicas <= status.Replicas && status.CurrentReplicas >= 0 && status.UpdatedReplicas >= 0
	if !isOrdered || status.ObservedGeneration < before.Status.ObservedGeneration || status.ObservedGeneration > after.Generation {
		return fmt.Errorf("the status is %+v", status)
	}
	return nil
}

// statusIsWritten also when an action failed, unless the write itself did.
func statusIsWritten(t *Transition, _ *scene) error {
	if t.Ended == nil || t.Ended.statusErr != nil {
		return nil
	}
	if want := t.Ended.status(); !equality.Semantic.DeepEqual(t.Ended.set.Status, want) {
		return fmt.Errorf("the run ended with %d failures and without its status", len(t.Ended.failures))
	}
	return nil
}

// completionNeedsAll: currentRevision moves when every slot is available at the
// target, nothing is outside the range, and no partition holds slots back.
func completionNeedsAll(t *Transition, s *scene) error {
	isMoved := s.set.Status.CurrentRevision != "" && t.Decision.Plan.Status.CurrentRevision != s.current
	isDone := s.unavailable() == 0 && len(s.condemned) == 0 && s.partition == 0 &&
		s.count(func(p place) bool { return p.revision != s.target }) == 0
	if isMoved && !isDone {
		return fmt.Errorf("the update is called complete with %d slots unavailable", s.unavailable())
	}
	return nil
}

func updates(p plan.Plan) []plan.DeletePod { return deletes(p, isForUpdate) }

func partitionHolds(t *Transition, s *scene) error {
	for _, remove := range updates(t.Decision.Plan) {
		if s.slots.Contains(remove.Ordinal) && remove.Ordinal < s.slots.Start+s.partition {
			return fmt.Errorf("%s, which is below the partition %d", remove, s.partition)
		}
	}
	return nil
}

func comesUpInOrder(t *Transition, s *scene) error {
	for _, create := range creates(t.Decision.Plan) {
		unavailable, isBlocked := 0, false
		for _, p := range s.places[:create.Ordinal-s.slots.Start] {
			if !p.isAvailable() {
				unavailable++
				isBlocked = isBlocked || !p.isInFlight()
			}
		}
		isBatch := s.isUpdating() && !isBlocked && unavailable < s.budget
		if !s.isParallel && unavailable > 0 && !isBatch {
			return fmt.Errorf("%s above %d unavailable slots", create, unavailable)
		}
	}
	return nil
}

// scalesDownFromTop: what Recreate has to clear goes at once, outside the range too.
func scalesDownFromTop(t *Transition, s *scene) error {
	gone := 0
	for _, remove := range deletes(t.Decision.Plan, func(remove plan.DeletePod) bool { return remove.Reason.Code == plan.ScaledDown }) {
		isCleared := s.strategy == v1.RecreateStrategy && s.place(remove.Ordinal).revision != s.target
		if s.isParallel || isCleared {
			continue
		}
		gone++
		if gone > 1 || remove.Ordinal != s.condemned[0].ordinal {
			return fmt.Errorf("%s before what is above it", remove)
		}
		if held := slices.IndexFunc(s.places, s.holdsUpScaling); held >= 0 {
			return fmt.Errorf("%s while slot %d is not available", remove, s.places[held].ordinal)
		}
	}
	return nil
}

// holdsUpScaling: an outdated broken pod holds nothing up in Enforced.
func (s *scene) holdsUpScaling(p place) bool {
	if s.strategy == v1.EnforcedRollingUpdateStrategy {
		return p.isInFlight()
	}
	return !p.isAvailable()
}

func orderedUpdateWaits(t *Transition, s *scene) error {
	if s.isParallel || s.strategy != v1.RollingUpdateStrategy {
		return nil
	}
	taken := deletes(t.Decision.Plan, func(remove plan.DeletePod) bool {
		return isForUpdate(remove) && remove.Reason.Code != plan.ProgressTimedOut
	})
	if len(taken) > 0 && (s.unavailable() > 0 || len(s.condemned) > 0 || len(taken) > s.budget) {
		return fmt.Errorf("%d pods are taken while %d slots are unavailable and %d pods are to be removed", len(taken), s.unavailable(), len(s.condemned))
	}
	next := len(s.places) - 1
	for _, remove := range taken {
		for ; s.places[next].ordinal != remove.Ordinal; next-- {
			if s.places[next].isOutdated() || next == 0 {
				return fmt.Errorf("%s before what is above it", remove)
			}
		}
		next--
	}
	return nil
}

// scalingGoesFirst in the order of the steps. Ordered updates do not begin at all
// before it is over, but for what is in its way.
func scalingGoesFirst(t *Transition, s *scene) error {
	hasUpdate := false
	for _, step := range t.Decision.Plan.Steps {
		hasUpdate = hasUpdate || step.Purpose == plan.PurposeUpdate
		if hasUpdate && step.Purpose == plan.PurposeScaleDown {
			return errors.New("the update stands before the scale-down")
		}
	}
	for _, remove := range updates(t.Decision.Plan) {
		isForced := remove.Reason.Code == plan.Recreated || remove.Reason.Code == plan.ProgressTimedOut || !s.place(remove.Ordinal).state.Ready
		if !s.isParallel && len(s.condemned) > 0 && !isForced {
			return fmt.Errorf("%s before the scale-down is over", remove)
		}
	}
	return nil
}
