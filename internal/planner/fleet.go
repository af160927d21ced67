package planner

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// fleet is the set's pods, called by their ordinals.
type fleet struct {
	// slots are in ascending order and complete: a missing pod leaves its slot empty.
	slots []slot
	// condemned are the pods outside the range, from the highest ordinal down.
	condemned []slot
	// tally counts the slots.
	tally tally
}

// slot is an ordinal and what holds it.
type slot struct {
	ordinal int
	// pod is nil when the slot is missing.
	pod   *corev1.Pod
	state podstate.State
	// revision is the pod's, wanted the one the slot should have. No revision is
	// wanted outside the range.
	revision, wanted string
	// isUpdated: updates reach the slot, because it is not below the partition.
	isUpdated bool
	// isCondemned: the ordinal is outside the range.
	isCondemned bool
	// isTaken: the strategy takes the pod down.
	isTaken bool
}

// muster calls the roll: each pod of ours to its slot, the rest aside.
func muster(d *decision) fleet {
	f := fleet{slots: make([]slot, d.settings.slots.Count)}
	for i := range f.slots {
		number := d.settings.slots.Start + i
		f.slots[i] = slot{ordinal: number, wanted: d.wantedRevision(number), isUpdated: d.strategy.targets(number)}
	}
	for _, member := range d.ownership.pods {
		if d.settings.slots.Contains(member.ordinal) {
			f.slots[member.ordinal-d.settings.slots.Start].occupy(d, member.pod)
		} else {
			condemned := slot{ordinal: member.ordinal, isCondemned: true}
			condemned.occupy(d, member.pod)
			f.condemned = append(f.condemned, condemned)
		}
	}
	slices.SortFunc(f.condemned, func(a, b slot) int { return b.ordinal - a.ordinal })
	f.tally = count(f.slots)
	return f
}

// wantedRevision is a function of the ordinal, the strategy, the partition and
// the two revisions, and of nothing else: a pod lost at any time comes back as
// what it was meant to be.
func (d *decision) wantedRevision(ordinal int) string {
	if d.strategy.targets(ordinal) {
		return d.history.targetName()
	}
	return d.history.currentName()
}

func (s *slot) occupy(d *decision, pod *corev1.Pod) {
	s.pod = pod
	s.state = podstate.Classify(pod, d.settings.minReady, d.now)
	s.revision = pod.Labels[v1.RevisionLabel]
}

func (s *slot) isMissing() bool { return s.state.Class == podstate.Missing }

func (s *slot) isTerminating() bool { return s.state.Class == podstate.Terminating }

func (s *slot) isAvailable() bool { return s.state.IsAvailable() }

// isOutdated tells whether there is a pod and it is not the one the slot wants.
func (s *slot) isOutdated() bool { return s.pod != nil && s.revision != s.wanted }

// isInFlight tells whether the slot is on its way to what it wants.
func (s *slot) isInFlight() bool {
	return s.isMissing() || s.isTerminating() || (!s.isOutdated() && !s.isAvailable())
}

// candidates yields the slots whose pods the update still has to replace, from
// the highest ordinal down. None is below the partition.
func (d *decision) candidates() iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for i := len(d.fleet.slots) - 1; i >= 0; i-- {
			s := &d.fleet.slots[i]
			if s.isUpdated && s.isOutdated() && !yield(s) {
				return
			}
		}
	}
}
