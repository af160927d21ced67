package behaviour

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	s "github.com/rollcall-dev/rollcall/test/scenario"
)

// difference is a script that the two controllers are meant to play differently.
type difference struct {
	script script
	reason string
	// holds tells whether they differ in just that way.
	holds func(builtIn, ours record) error
}

// differences are all there are.
var differences = map[string]difference{
	"ordered with a budget of 2": {
		script: script{given: given(s.MaxUnavailable("2"), s.Replicas(2)), when: func(story *s.Story) {
			story.ThenUpdated(2)
			story.When(s.Image("web:2-start-1s"))
			story.ThenUpdated(2)
		}},
		reason: "the built-in controller takes two pods down together but recreates one at a time, so maxUnavailable saves " +
			"little time; ours recreates the batch together",
		holds: func(builtIn, ours record) error {
			if !isBefore(builtIn.FullTape, "ready web-0 r2", "create web-1 r2") {
				return errors.New("the built-in controller recreates pods together")
			}
			if isBefore(ours.FullTape, "ready web-0 r2", "create web-1 r2") || isBefore(ours.FullTape, "ready web-1 r2", "create web-0 r2") {
				return errors.New("ours recreates one pod at a time")
			}
			return sameEnd(builtIn, ours)
		},
	},
	"complete when available": {
		script: script{given: given(s.Replicas(1), s.MinReady(2)), when: func(story *s.Story) {
			story.ThenUpdated(1)
			story.When(s.Image("web:2"))
			story.Then("the new pod is ready", func(set *v1.StatefulSet) error {
				if set.Status.UpdatedReplicas != 1 || set.Status.ReadyReplicas != 1 {
					return fmt.Errorf("status %+v", set.Status)
				}
				return nil
			})
			if set := story.Set(); set.Status.CurrentRevision == set.Status.UpdateRevision {
				story.Note("complete before available")
			}
		}},
		reason: "the built-in controller calls an update complete when pods are ready (k/k 136831); ours waits until they " +
			"have been ready for minReadySeconds",
		holds: func(builtIn, ours record) error {
			if !slices.Contains(builtIn.Tape, "complete before available") || slices.Contains(ours.Tape, "complete before available") {
				return errors.New("they do not differ in this way")
			}
			return sameEnd(builtIn, ours)
		},
	},
}

// isBefore tells whether a line stands before another on a tape.
func isBefore(tape []string, first, second string) bool {
	one, other := slices.Index(tape, first), slices.Index(tape, second)
	return one >= 0 && one < other
}

func sameEnd(builtIn, ours record) error {
	if diff := cmp.Diff(builtIn, ours, cmpopts.IgnoreFields(record{}, "Tape", "FullTape")); diff != "" {
		return fmt.Errorf("the end differs, too (-built-in +ours):\n%s", diff)
	}
	return nil
}
