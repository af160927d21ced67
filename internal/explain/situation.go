package explain

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// situation is a question with what follows from it.
type situation struct {
	Question
	set *v1.StatefulSet
	now time.Time
	// plan is what the controller would do about the observation.
	plan  plan.Plan
	slots []slot
	// condemned are the set's pods outside the range, from the highest down.
	condemned []slot
	partition int
	timeout   time.Duration
}

// slot is an ordinal and what holds it.
type slot struct {
	ordinal int
	name    string
	// pod is nil when the slot is missing.
	pod   *corev1.Pod
	state podstate.State
	// isOutdated: there is a pod and the update has to replace it.
	isOutdated bool
	// isReached: the update reaches the slot.
	isReached bool
}

// read computes what follows from a question.
func read(q Question) *situation {
	o := q.Observation
	// The asker reads at the API server; there is nothing more live than that.
	o.Live = plan.LiveReads{Set: true, Pods: true, Templates: true}
	o.Gates = planner.GatesTold(o.Set)
	s := &situation{Question: q, set: o.Set, now: o.Now, plan: planner.Compute(o)}
	s.readTuning()
	s.callRoll()
	return s
}

func (s *situation) readTuning() {
	strategy := s.set.Spec.UpdateStrategy
	tuning := strategy.RollingUpdate
	if strategy.Type == v1.EnforcedRollingUpdateStrategy {
		tuning = strategy.EnforcedRollingUpdate
	}
	if tuning == nil || strategy.Type == v1.OnDeleteStrategy || strategy.Type == v1.RecreateStrategy {
		return
	}
	if tuning.Partition != nil {
		s.partition = int(*tuning.Partition)
	}
	if tuning.PodProgressTimeoutSeconds != nil && planner.GatesTold(s.set).ProgressDeadline {
		s.timeout = time.Duration(*tuning.PodProgressTimeoutSeconds) * time.Second
	}
}

// callRoll puts the pods of the set into their slots.
func (s *situation) callRoll() {
	slots := ordinal.RangeOf(s.set)
	pods := s.ownPods()
	for number := slots.Start; number < slots.End(); number++ {
		s.slots = append(s.slots, s.slotOf(number, pods[number]))
		delete(pods, number)
	}
	for number, pod := range pods {
		s.condemned = append(s.condemned, s.slotOf(number, pod))
	}
	slices.SortFunc(s.condemned, func(a, b slot) int { return b.ordinal - a.ordinal })
}

func (s *situation) ownPods() map[int]*corev1.Pod {
	pods := map[int]*corev1.Pod{}
	for _, pod := range s.Observation.Pods {
		number, hasName := ordinal.Parse(s.set.Name, pod.Name)
		if owner := metav1.GetControllerOfNoCopy(pod); hasName && owner != nil && owner.UID == s.set.UID {
			pods[number] = pod
		}
	}
	return pods
}

func (s *situation) slotOf(number int, pod *corev1.Pod) slot {
	minReady := time.Duration(s.set.Spec.MinReadySeconds) * time.Second
	isReached := number >= ordinal.RangeOf(s.set).Start+s.partition
	return slot{
		ordinal: number, name: ordinal.PodName(s.set.Name, number), pod: pod,
		state: podstate.Classify(pod, minReady, s.now), isReached: isReached,
		isOutdated: pod != nil && isReached && pod.Labels[v1.RevisionLabel] != s.target(),
	}
}

// target is the revision of the template.
func (s *situation) target() string { return s.plan.Status.UpdateRevision }

// isUpdating tells whether an update is going on.
func (s *situation) isUpdating() bool {
	return s.plan.Status.CurrentRevision != s.plan.Status.UpdateRevision || s.outdated() > 0
}

func (s *situation) outdated() int {
	return s.count(func(at slot) bool { return at.isOutdated })
}

func (s *situation) available() int {
	return s.count(func(at slot) bool { return at.state.IsAvailable() })
}

func (s *situation) count(is func(slot) bool) int {
	count := 0
	for _, at := range s.slots {
		if is(at) {
			count++
		}
	}
	return count
}

func (s *situation) isParallel() bool { return s.set.Spec.PodManagementPolicy == v1.Parallel }

// strategy is the one in force.
func (s *situation) strategy() v1.UpdateStrategyType {
	if s.plan.Summary.Strategy == "" {
		return s.set.Spec.UpdateStrategy.Type
	}
	return s.plan.Summary.Strategy
}

// condition returns a condition of the status as the controller would write it now.
func (s *situation) condition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(s.plan.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// stored returns a condition of the status as it stands in the set.
func (s *situation) stored(kind string) *metav1.Condition {
	return meta.FindStatusCondition(s.set.Status.Conditions, kind)
}

// warning returns the latest warning about an object whose reason is one of
// those given, any if none is.
func (s *situation) warning(kind, name string, reasons ...string) *corev1.Event {
	var latest *corev1.Event
	for _, e := range s.Events {
		isAbout := e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name && e.Type == corev1.EventTypeWarning
		if !isAbout || (len(reasons) > 0 && !slices.Contains(reasons, e.Reason)) {
			continue
		}
		if latest == nil || eventTime(e).After(eventTime(latest)) {
			latest = e
		}
	}
	return latest
}

// eventTime is when an event last happened, whichever recorder wrote it.
func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}

// oneLine keeps texts of others on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
