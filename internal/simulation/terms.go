package simulation

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// What the properties judge a plan by is read from the observation here, on
// purpose without the planner's own reading of it.

// terms are what a spec asks for.
type terms struct {
	slots      ordinal.Range
	isParallel bool
	isPaused   bool
	strategy   v1.UpdateStrategyType
	partition  int
	budget     int
	minReady   time.Duration
	hasTimeout bool
}

func termsOf(set *v1.StatefulSet, gates plan.Gates) terms {
	t := terms{
		slots: ordinal.RangeOf(set), isParallel: set.Spec.PodManagementPolicy == v1.Parallel, isPaused: set.Spec.Paused,
		strategy: strategyOf(set, gates), budget: 1, minReady: minReadyOf(set),
	}
	asked := set.Spec.UpdateStrategy.Type
	if asked == v1.OnDeleteStrategy || asked == v1.RecreateStrategy {
		return t
	}
	tuning := set.Spec.UpdateStrategy.RollingUpdate
	if asked == v1.EnforcedRollingUpdateStrategy {
		tuning = set.Spec.UpdateStrategy.EnforcedRollingUpdate
	}
	if tuning == nil {
		return t
	}
	if tuning.Partition != nil {
		t.partition = max(0, int(*tuning.Partition))
	}
	if tuning.MaxUnavailable != nil && gates.MaxUnavailable {
		scaled, _ := intstr.GetScaledValueFromIntOrPercent(tuning.MaxUnavailable, t.slots.Count, false) // no plan is made of invalid ones
		t.budget = max(1, scaled)
	}
	t.hasTimeout = tuning.PodProgressTimeoutSeconds != nil && t.strategy == v1.RollingUpdateStrategy && gates.ProgressDeadline
	return t
}

// strategyOf is the strategy in force: one whose gate is off is RollingUpdate.
func strategyOf(set *v1.StatefulSet, gates plan.Gates) v1.UpdateStrategyType {
	asked := set.Spec.UpdateStrategy.Type
	isOn := map[v1.UpdateStrategyType]bool{
		v1.OnDeleteStrategy: true, v1.RecreateStrategy: gates.Recreate, v1.EnforcedRollingUpdateStrategy: gates.EnforcedRollingUpdate,
	}
	if isOn[asked] {
		return asked
	}
	return v1.RollingUpdateStrategy
}

// place is a slot, or an ordinal outside the range, and what is observed there.
type place struct {
	ordinal          int
	pod              *corev1.Pod
	state            podstate.State
	revision, wanted string
	isUpdated        bool
}

func (p place) isMissing() bool     { return p.pod == nil }
func (p place) isAvailable() bool   { return p.state.IsAvailable() }
func (p place) isTerminating() bool { return p.state.Class == podstate.Terminating }
func (p place) isOutdated() bool    { return p.pod != nil && p.revision != p.wanted }
func (p place) isInFlight() bool {
	return p.isMissing() || p.isTerminating() || (!p.isOutdated() && !p.isAvailable())
}

// scene is an observation as the properties see it.
type scene struct {
	terms
	set             *v1.StatefulSet
	target, current string
	// slots are in ascending, condemned in descending order.
	places    []place
	condemned []place
}

// sceneOf reads a decision. The target is the one that its plan names.
func sceneOf(d *Decision) scene {
	o := d.Observation
	s := scene{terms: termsOf(o.Set, o.Gates), set: o.Set, target: d.Plan.Status.UpdateRevision}
	s.current = s.target
	for _, revision := range o.Revisions {
		if revision.Name == o.Set.Status.CurrentRevision && s.has(revision) {
			s.current = revision.Name
		}
	}
	if before := o.Set.Status.CurrentRevision; o.Set.DeletionTimestamp != nil && before != "" {
		s.current = before // the revisions of a set on its way out may be gone
	}
	for number := s.slots.Start; number < s.slots.End(); number++ {
		isUpdated := number >= s.slots.Start+s.partition
		wanted := s.current
		if isUpdated {
			wanted = s.target
		}
		s.places = append(s.places, place{ordinal: number, wanted: wanted, isUpdated: isUpdated})
	}
	s.fill(o)
	return s
}

// has tells whether a revision is the set's, or is adopted by it.
func (s *scene) has(recorded *appsv1.ControllerRevision) bool {
	isOrphan := metav1.GetControllerOfNoCopy(recorded) == nil && recorded.DeletionTimestamp == nil && s.set.DeletionTimestamp == nil
	return isControlledBy(recorded, s.set.UID) ||
		(isOrphan && revision.IsNamedAfter(s.set.Name, recorded.Name) && s.selects(recorded.Labels))
}

// fill puts the pods of the set, those that are adopted included, in their places.
func (s *scene) fill(o plan.Observation) {
	for _, pod := range o.Pods {
		number, hasName := ordinal.Parse(o.Set.Name, pod.Name)
		isOrphan := metav1.GetControllerOfNoCopy(pod) == nil && pod.DeletionTimestamp == nil && o.Set.DeletionTimestamp == nil
		isMember := hasName && s.selects(pod.Labels)
		if !isMember || (!isControlledBy(pod, o.Set.UID) && !isOrphan) {
			continue
		}
		occupied := place{ordinal: number, pod: pod, state: podstate.Classify(pod, s.minReady, o.Now), revision: pod.Labels[v1.RevisionLabel]}
		if s.slots.Contains(number) {
			p := &s.places[number-s.slots.Start]
			p.pod, p.state, p.revision = occupied.pod, occupied.state, occupied.revision
		} else {
			s.condemned = append(s.condemned, occupied)
		}
	}
	slices.SortFunc(s.condemned, func(a, b place) int { return b.ordinal - a.ordinal })
}

// selects tells whether the set's selector matches an object; a pod that it does
// not match is no member, whoever owns it.
func (s *scene) selects(given map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s.set.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(given))
}

// place returns what is observed at an ordinal.
func (s *scene) place(number int) place {
	if s.slots.Contains(number) {
		return s.places[number-s.slots.Start]
	}
	for _, p := range s.condemned {
		if p.ordinal == number {
			return p
		}
	}
	return place{ordinal: number}
}

// count counts the slots of which something is true.
func (s *scene) count(is func(place) bool) int {
	n := 0
	for _, p := range s.places {
		if is(p) {
			n++
		}
	}
	return n
}

func (s *scene) unavailable() int {
	return s.count(func(p place) bool { return !p.isAvailable() })
}

// isUpdating tells whether an update is going on, one back included.
func (s *scene) isUpdating() bool {
	return s.current != s.target || s.count(func(p place) bool { return p.isUpdated && p.isOutdated() }) > 0
}

// isBudgeted tells whether maxUnavailable means anything to the strategy.
func (s *scene) isBudgeted() bool {
	return s.strategy == v1.RollingUpdateStrategy || s.strategy == v1.EnforcedRollingUpdateStrategy
}

// creates and deletes are the pods that a plan creates and deletes, in order.
func creates(p plan.Plan) (found []plan.CreatePod) {
	for action := range p.Actions() {
		if create, ok := action.(plan.CreatePod); ok {
			found = append(found, create)
		}
	}
	return found
}

func deletes(p plan.Plan, is func(plan.DeletePod) bool) (found []plan.DeletePod) {
	for action := range p.Actions() {
		if remove, ok := action.(plan.DeletePod); ok && is(remove) {
			found = append(found, remove)
		}
	}
	return found
}
