package judge

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// terms are what a spec asks for, read on purpose without the planner.
type terms struct {
	slots                ordinal.Range
	isParallel, isPaused bool
	strategy             v1.UpdateStrategyType
	partition, budget    int
	minReady, timeout    time.Duration
	image                string
}

func termsOf(set *v1.StatefulSet) terms {
	spec := &set.Spec
	t := terms{
		slots: ordinal.RangeOf(set), isParallel: spec.PodManagementPolicy == v1.Parallel, isPaused: spec.Paused,
		strategy: spec.UpdateStrategy.Type, budget: 1, minReady: time.Duration(spec.MinReadySeconds) * time.Second,
		image: image(&spec.Template.Spec),
	}
	tuning := spec.UpdateStrategy.RollingUpdate
	if t.strategy == v1.EnforcedRollingUpdateStrategy {
		tuning = spec.UpdateStrategy.EnforcedRollingUpdate
	}
	if tuning == nil {
		return t
	}
	if tuning.Partition != nil {
		t.partition = int(*tuning.Partition)
	}
	if tuning.MaxUnavailable != nil {
		scaled, _ := intstr.GetScaledValueFromIntOrPercent(tuning.MaxUnavailable, t.slots.Count, false) // validated when it was stored
		t.budget = max(1, scaled)
	}
	if tuning.PodProgressTimeoutSeconds != nil && t.strategy == v1.RollingUpdateStrategy {
		t.timeout = time.Duration(*tuning.PodProgressTimeoutSeconds) * time.Second
	}
	return t
}

// isBudgeted tells whether maxUnavailable means anything to the strategy.
func (t terms) isBudgeted() bool {
	return t.strategy == v1.RollingUpdateStrategy || t.strategy == v1.EnforcedRollingUpdateStrategy
}

// place is a slot, or an ordinal outside the range, with the pod there in truth.
type place struct {
	ordinal   int
	pod       *member
	state     podstate.State
	wanted    string
	isUpdated bool
}

func (p place) isMissing() bool     { return p.pod == nil }
func (p place) isAvailable() bool   { return p.state.IsAvailable() }
func (p place) isTerminating() bool { return p.state.Class == podstate.Terminating }
func (p place) isOutdated() bool    { return p.pod != nil && image(&p.pod.Spec) != p.wanted }
func (p place) isInFlight() bool {
	return p.isMissing() || p.isTerminating() || (!p.isOutdated() && !p.isAvailable())
}

// why is the reason for which a pod was deleted, as it can be inferred.
type why string

const (
	scaledDown why = "outside the range"
	ended      why = "ended"
	outdated   why = "outdated"
	timedOut   why = "out of time"
	noReason   why = "no reason"
)

// act is a pod's creation or deletion, read under one spec. The places are those
// of the moment before.
type act struct {
	terms
	family *family
	pod    *member
	now    time.Time
	// current is the image of the last complete update.
	current string
	// places are in ascending, condemned in descending order.
	places, condemned []place
	why               why
}

func newAct(f *family, set *v1.StatefulSet, pod *member, now time.Time) act {
	a := act{terms: termsOf(set), family: f, pod: pod, now: now}
	a.current = a.image
	if found, ok := f.imageOf(f.set.Status.CurrentRevision); ok {
		a.current = found
	}
	for number := a.slots.Start; number < a.slots.End(); number++ {
		a.places = append(a.places, a.placeOf(number))
	}
	for _, other := range f.pods {
		if !a.slots.Contains(other.ordinal) {
			a.condemned = append(a.condemned, a.placeOf(other.ordinal))
		}
	}
	slices.SortFunc(a.condemned, func(a, b place) int { return b.ordinal - a.ordinal })
	a.why = a.reason()
	return a
}

func (a act) placeOf(number int) place {
	p := place{ordinal: number, pod: a.family.pods[ordinal.PodName(a.family.set.Name, number)], wanted: a.current}
	p.isUpdated = !a.isBudgeted() || number >= a.slots.Start+a.partition
	if p.isUpdated {
		p.wanted = a.image
	}
	if p.pod != nil {
		p.state = podstate.Classify(p.pod.Pod, a.minReady, a.now)
	}
	return p
}

// own is the place of the pod that the act is about.
func (a act) own() place { return a.placeOf(a.pod.ordinal) }

// reason infers why the pod was deleted. Where an outdated pod may go because it
// serves nobody, that is why; an ordered rolling update has only its timeout. Below
// the partition a pod that is not at the target can only have gone for it.
func (a act) reason() why {
	own := a.own()
	isOutdated := own.isOutdated() || (!own.isUpdated && own.pod != nil && image(&own.pod.Spec) != a.image)
	switch {
	case !a.slots.Contains(a.pod.ordinal):
		return scaledDown
	case own.state.HasEnded():
		return ended
	case isOutdated && (a.timeout == 0 || a.isParallel || own.isAvailable()):
		return outdated
	case a.timeout > 0:
		return timedOut
	case isOutdated:
		return outdated
	default:
		return noReason
	}
}

// isForUpdate tells whether the pod was deleted for an update.
func (a act) isForUpdate() bool { return a.why == outdated || a.why == timedOut }

// isUpdating tells whether an update is going on, one back included.
func (a act) isUpdating() bool {
	return a.current != a.image || a.count(func(p place) bool { return p.isUpdated && p.isOutdated() }) > 0
}

func (a act) count(is func(place) bool) int {
	n := 0
	for _, p := range a.places {
		if is(p) {
			n++
		}
	}
	return n
}

func (a act) unavailable() int {
	return a.count(func(p place) bool { return !p.isAvailable() })
}
