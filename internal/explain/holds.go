package explain

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
)

// maxNames is how many pods a sentence names before it counts the rest.
const maxNames = 5

// holdCauses are what the user asked for and may have forgotten.
func (s *situation) holdCauses() []Cause {
	var causes []Cause
	for _, look := range []func() (Cause, bool){s.paused, s.onDelete, s.staged} {
		if cause, found := look(); found {
			causes = append(causes, cause)
		}
	}
	return causes
}

func (s *situation) paused() (Cause, bool) {
	if !s.set.Spec.Paused || !s.isUpdating() {
		return Cause{}, false
	}
	text := fmt.Sprintf("the update to revision %s is paused (spec.paused)", s.target())
	cause := Cause{Code: Paused, Text: text}.with(s.namesOfOutdated("still to be updated: "))
	return cause.since(s.progressingSince(v1.ReasonUpdatePaused)).mendedBy(Remedy{"let it go on", s.plugin("resume")}), true
}

// progressingSince is since when the status gives a reason for Progressing; zero
// if it gives another.
func (s *situation) progressingSince(reason string) (at time.Time) {
	if c := s.stored(v1.ConditionProgressing); c != nil && c.Reason == reason {
		return c.LastTransitionTime.Time
	}
	return at
}

func (s *situation) onDelete() (Cause, bool) {
	if s.strategy() != v1.OnDeleteStrategy || s.outdated() == 0 {
		return Cause{}, false
	}
	text := fmt.Sprintf("the update to revision %s waits for you to delete pods (updateStrategy OnDelete)", s.target())
	cause := Cause{Code: OnDelete, Text: text}.with(s.namesOfOutdated("still to be deleted: "))
	highest := s.outdatedNames()[0]
	return cause.since(s.progressingSince(v1.ReasonUpdateWaiting)).
		mendedBy(Remedy{"update one pod, then the next", s.kubectl("delete pod %s", highest)}), true
}

// staged: the partition keeps the update from pods that still have the old
// revision.
func (s *situation) staged() (Cause, bool) {
	below := s.count(func(at slot) bool { return !at.isReached })
	if s.partition == 0 || below == 0 || s.plan.Status.CurrentRevision == s.target() {
		return Cause{}, false
	}
	text := fmt.Sprintf("the partition is %d, so %s below ordinal %d keep revision %s",
		s.partition, countPods(below), ordinal.RangeOf(s.set).Start+s.partition, s.plan.Status.CurrentRevision)
	cause := Cause{Code: Partition, Text: text}
	return cause.since(s.progressingSince(v1.ReasonUpdateStaged)).mendedBy(
		Remedy{"update one more pod", s.plugin("promote --pods=1")}, Remedy{"update all of them", s.plugin("promote --full")}), true
}

// outdatedNames are the pods to be updated, from the highest ordinal down.
func (s *situation) outdatedNames() []string {
	var names []string
	for i := len(s.slots) - 1; i >= 0; i-- {
		if s.slots[i].isOutdated {
			names = append(names, s.slots[i].name)
		}
	}
	return names
}

func (s *situation) namesOfOutdated(intro string) string {
	names := s.outdatedNames()
	if len(names) == 0 {
		return ""
	}
	return intro + listOf(names)
}

func listOf(names []string) string {
	rest := ""
	if len(names) > maxNames {
		rest = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return strings.Join(names, ", ") + rest
}

func countPods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
