package simulation

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// Liveness judges where worlds end once nothing goes wrong any more. It keeps
// what it knows to end well, since the ways of many worlds meet.
type Liveness struct {
	endsWell map[Digest]bool
}

// Rest are the properties of worlds at rest, L1 to L4 and their like. L5, that a
// plain ordered update waits for ever for a broken pod, is R3 at every step.
var Rest = []struct {
	Name  string
	holds func(w *World) error
}{
	{"L1 all is as asked for", isAsAskedFor},
	{"L3 every wait has a wake-up", nothingIsDueLater},
	{"G8 the planner is deterministic", isDeterministic},
	{"H1 the history is within its limit", historyIsBounded},
	{"H1 the target has the highest number", targetIsNewest},
}

// NewLiveness returns a judge that has seen nothing yet.
func NewLiveness() *Liveness { return &Liveness{endsWell: map[Digest]bool{}} }

// Judge returns the first property that does not hold on the way of a world to
// its rest, or there, or after the template is corrected (L2).
func (l *Liveness) Judge(w *World) *Violation {
	c := startCourse(w)
	rested, violation := l.follow(c)
	if violation != nil || rested == nil {
		return violation
	}
	if violation := judgeRest(rested); violation != nil {
		return violation
	}
	return l.judgeCorrection(rested)
}

// follow lets a course come to rest; the world is nil if the course is known to
// end well.
func (l *Liveness) follow(c *course) (*World, *Violation) {
	var passed []Digest
	for most := maxReconciles(&c.world); c.reconciles < most; {
		digest := c.digest()
		if l.endsWell[digest] {
			l.learn(passed)
			return nil, nil
		}
		passed = append(passed, digest)
		isOver, violation := c.round()
		if violation != nil {
			return nil, violation
		}
		if isOver {
			l.learn(passed)
			return &c.world, nil
		}
	}
	return nil, c.restless()
}

// learn takes down what ends well. Should it not after all, the search ends.
func (l *Liveness) learn(passed []Digest) {
	for _, digest := range passed {
		l.endsWell[digest] = true
	}
}

// judgeCorrection lets the user correct the template and resume, and judges
// where that ends: L2.
func (l *Liveness) judgeCorrection(w *World) *Violation {
	if w.Truth.Set == nil || w.Truth.Set.DeletionTimestamp != nil {
		return nil
	}
	corrected := *w
	corrected.updateSpec(func(spec *v1.StatefulSetSpec) {
		textSettings["template"](spec, "corrected")
		spec.Paused = false
	})
	rested, err := bringToRest(&corrected)
	if violation := (*Violation)(nil); errors.As(err, &violation) {
		return violation
	}
	if violation := judgeRest(rested); violation != nil {
		return &Violation{violation.Property, fmt.Errorf("after the template was corrected (L2): %w", violation.Err)}
	}
	return nil
}

func judgeRest(w *World) *Violation {
	if w.Truth.Set == nil {
		return nil
	}
	for _, property := range Rest {
		if err := property.holds(w); err != nil {
			return &Violation{property.Name, err}
		}
	}
	return nil
}

// isAsAskedFor: every slot is available at its revision, nothing else is there,
// and the status says so; unless something broken may hold the set up.
func isAsAskedFor(w *World) error {
	set := w.Truth.Set
	if isBroken(set.Spec.Template.Spec.Containers[0].Image) || set.DeletionTimestamp != nil || w.mayBeStuck() {
		return nil
	}
	d := &Decision{Observation: w.gather(set)}
	d.Plan.Status.UpdateRevision = set.Status.UpdateRevision
	s := sceneOf(d)
	mayBeOutdated := s.isPaused || s.strategy == v1.OnDeleteStrategy
	for _, p := range s.places {
		if !p.isAvailable() || (p.isUpdated && p.isOutdated() && !mayBeOutdated) {
			return fmt.Errorf("slot %d is not: %s", p.ordinal, w.Describe())
		}
	}
	if len(s.condemned) > 0 {
		return fmt.Errorf("pods are outside the range: %s", w.Describe())
	}
	return saysSo(w, &s)
}

// saysSo: the status tells that all is as asked for.
func saysSo(w *World, s *scene) error {
	set, count := w.Truth.Set, int32(s.slots.Count)
	status := set.Status
	ready := meta.IsStatusConditionTrue(status.Conditions, v1.ConditionReady)
	isCounted := status.Replicas == count && status.ReadyReplicas == count && status.AvailableReplicas == count
	isLatest := s.count(place.isOutdated) == 0 && s.partition == 0
	isComplete := !isLatest || (status.CurrentRevision == status.UpdateRevision && status.UpdatedReplicas == count)
	if !ready || !isCounted || !isComplete || status.ObservedGeneration != set.Generation {
		return fmt.Errorf("the status does not say so: %+v", status)
	}
	return nil
}

// mayBeStuck tells whether a broken pod is there that nobody promised to replace:
// by a plain ordered update (L5), by OnDelete, while paused, or below the
// partition. While Recreate is paused, pods of two revisions must not meet, so
// what is lost stays lost.
func (w *World) mayBeStuck() bool {
	t := termsOf(w.Truth.Set, w.Scenario.gates())
	if t.isPaused && t.strategy == v1.RecreateStrategy {
		return true
	}
	recovers := t.isParallel || t.hasTimeout || t.strategy == v1.EnforcedRollingUpdateStrategy || t.strategy == v1.RecreateStrategy
	promised := recovers && t.strategy != v1.OnDeleteStrategy && !t.isPaused
	return slices.ContainsFunc(w.Truth.Pods, func(pod *corev1.Pod) bool {
		isBelow := ordinalOf(pod) < t.slots.Start+t.partition
		return w.isOurs(pod) && isBroken(pod.Spec.Containers[0].Image) && (!promised || isBelow)
	})
}

// nothingIsDueLater: if nobody wakes the controller, there must be nothing it
// would do, however late.
func nothingIsDueLater(w *World) error {
	later := *w
	later.Now = w.Now.Add(time.Hour)
	decision, err := later.decide()
	if err != nil {
		return fmt.Errorf("decide an hour later: %w", err)
	}
	if !decision.Plan.IsEmpty() || planner.StatusChanged(w.Truth.Set, decision.Plan.Status) {
		return fmt.Errorf("an hour later it would act: %s%s", decision.Plan, w.Describe())
	}
	return nil
}

func isDeterministic(w *World) error {
	one, other := *w, *w
	first, err := one.decide()
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	other.Controller.View.Pods = slices.Clone(w.Controller.View.Pods)
	slices.Reverse(other.Controller.View.Pods)
	second, err := other.decide()
	if err != nil {
		return fmt.Errorf("decide again: %w", err)
	}
	if !reflect.DeepEqual(first.Plan, second.Plan) {
		return fmt.Errorf("two plans differ: %s / %s", first.Plan, second.Plan)
	}
	return nil
}

// targetIsNewest: the number of the target is its own and the highest, so that
// people can go by it.
func targetIsNewest(w *World) error {
	set := w.Truth.Set
	target := find(w.Truth.Revisions, set.Status.UpdateRevision)
	if target == nil || set.DeletionTimestamp != nil {
		return nil
	}
	for _, other := range w.Truth.Revisions {
		if other != target && isControlledBy(other, set.UID) && other.Revision >= target.Revision {
			return fmt.Errorf("revision %s has the number %d, the target %s has %d", other.Name, other.Revision, target.Name, target.Revision)
		}
	}
	return nil
}

func historyIsBounded(w *World) error {
	set := w.Truth.Set
	limit := *set.Spec.RevisionHistoryLimit
	if set.DeletionTimestamp != nil || limit < 0 {
		return nil
	}
	live := map[string]bool{set.Status.CurrentRevision: true, set.Status.UpdateRevision: true}
	for _, pod := range w.Truth.Pods {
		live[pod.Labels[v1.RevisionLabel]] = true
	}
	unused := 0
	for _, revision := range w.Truth.Revisions {
		if isControlledBy(revision, set.UID) && !live[revision.Name] {
			unused++
		}
	}
	if unused > int(limit) {
		return fmt.Errorf("%d unused revisions are kept, the limit is %d", unused, limit)
	}
	return nil
}
