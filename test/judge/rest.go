package judge

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// atRest must hold of every set when nothing is left to do: L1 in parts.
var atRest = []property[act]{
	{"L1 all is as asked for", allIsAsAskedFor},
	{"L1 the status says so", statusSaysSo},
	{"V1 every slot has its claims", slotsHaveClaims},
	{"H1 the history is bounded", historyIsBounded},
}

// AtRest judges where a history ended, at a time after the last entry. Every set
// in it must be at rest.
func AtRest(history History, now time.Time) Verdict {
	w := newWorld(history)
	var last Entry
	for _, last = range history.sorted() {
		w.see(last)
	}
	w.verdict = Verdict{Checks: map[string]int{}}
	for _, f := range w.families {
		ask(w, Entry{Version: last.Version, At: now, Object: f.set}, atRest, newAct(f, f.set, &member{Pod: &corev1.Pod{}, ordinal: -1}, now))
	}
	return w.verdict
}

func allIsAsAskedFor(a act) error {
	isRight := func(p place) bool { return p.isAvailable() && !p.isOutdated() }
	if right := a.count(isRight); right < len(a.places) || len(a.condemned) > 0 {
		return fmt.Errorf("%d of %d slots are available as they should be, %d pods are outside the range", right, len(a.places), len(a.condemned))
	}
	return nil
}

func statusSaysSo(a act) error {
	set := a.family.set
	s, all := set.Status, int32(len(a.places))
	isTrue := s.ObservedGeneration == set.Generation && s.Replicas == all && s.ReadyReplicas == all && s.AvailableReplicas == all
	isComplete := s.CurrentRevision == s.UpdateRevision && s.UpdatedReplicas == all
	if !isTrue || !isComplete || len(s.PodProgress) > 0 {
		return fmt.Errorf("there are %d pods at generation %d, and the status is %+v", all, set.Generation, s)
	}
	return nil
}

func slotsHaveClaims(a act) error {
	for _, p := range a.places {
		if err := claimsAreThere(act{family: a.family, pod: &member{Pod: &corev1.Pod{}, ordinal: p.ordinal}}); err != nil {
			return err
		}
	}
	return nil
}

// historyIsBounded: beside the live ones there are no more than the limit.
func historyIsBounded(a act) error {
	limit := int(v1.DefaultRevisionHistoryLimit)
	if given := a.family.set.Spec.RevisionHistoryLimit; given != nil {
		limit = int(*given)
	}
	idle := 0
	for _, revision := range a.family.revisions {
		if liveRevisionsStay(revisionChange{family: a.family, after: revision, isGone: true}) == nil {
			idle++
		}
	}
	if idle > limit {
		return fmt.Errorf("%d revisions are kept that nothing runs, and the limit is %d", idle, limit)
	}
	return nil
}
