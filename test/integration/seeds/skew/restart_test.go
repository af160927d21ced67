package skew

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// hasBegun tells whether a pod has been deleted.
func hasBegun(tape []string) error {
	if !slices.ContainsFunc(tape, func(line string) bool { return strings.HasPrefix(line, "delete ") }) {
		return errors.New("no pod has been deleted")
	}
	return nil
}

// Seed 000, e2e 7: the controller is killed in every phase, after each pod that it deletes or creates, and goes on where
// it was. Each pod is deleted once and created once, all deletions before the first creation.
func TestRestartDuringRecreate(t *testing.T) {
	t.Parallel()
	story := prepare(t, plan.AllGates())
	story.Create(scenario.Replicas(3), scenario.Strategy(v1.RecreateStrategy), scenario.Image("web:1-stop-1s"))
	story.ThenUpdated(3)
	stop := story.restartAfterEachLine()
	story.When(scenario.Image(good))
	story.ThenUpdated(3)
	wantRestarts(t, stop(), 4)

	tape := story.Tape()[3:]
	slices.Sort(tape[:3])
	want := []string{
		"delete web-0", "delete web-1", "delete web-2",
		"create web-0 r2", "create web-1 r2", "create web-2 r2",
	}
	if diff := cmp.Diff(want, tape); diff != "" {
		t.Errorf("tape (-want +got):\n%s", diff)
	}
	story.ThenCondition(v1.ConditionProgressing, "True RecreateComplete")
}

// Seed 003, recovery: an enforced update goes on from the state it finds.
func TestRestartDuringEnforcedRollingUpdate(t *testing.T) {
	t.Parallel()
	story := prepare(t, plan.AllGates())
	story.Create(scenario.Replicas(3), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
	story.ThenUpdated(3)
	stop := story.restartAfterEachLine()
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(2, crashing)
	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
	wantRestarts(t, stop(), 8)
	story.ThenTape(
		"create web-0 r1", "create web-1 r1", "create web-2 r1",
		"delete web-2", "create web-2 r2",
		"delete web-2", "create web-2 r3", "delete web-1", "create web-1 r3", "delete web-0", "create web-0 r3")
}

// Seed 004, implementation 1 and 6: what was replaced how often is remembered across restarts, so a template that never
// works is given up after three replacements all the same.
func TestRestartDuringProgressTimeout(t *testing.T) {
	t.Parallel()
	story := prepare(t, plan.AllGates())
	story.Create(scenario.Replicas(2), scenario.ProgressTimeout(1))
	story.ThenUpdated(2)
	stop := story.restartAfterEachLine()
	story.When(scenario.Image(crashing))
	story.ThenCondition(v1.ConditionProgressing, "False ProgressHalted")
	wantRestarts(t, stop(), 8)
	story.operator.Restart()
	story.ThenQuiet()
	want := append([]string{"create web-0 r1", "create web-1 r1"}, slices.Repeat([]string{"delete web-1", "create web-1 r2"}, 4)...)
	story.ThenTape(want...)
}

// restartAfterEachLine kills the operator and starts it anew whenever the tape grows, until the test ends or the
// function returned is called, which tells how often it happened.
func (s *skewed) restartAfterEachLine() (stop func() int) {
	ended, counted := make(chan struct{}), make(chan int)
	go func() { counted <- s.restartUntil(ended) }()
	stop = sync.OnceValue(func() int {
		close(ended)
		return <-counted
	})
	s.t.Cleanup(func() { stop() })
	return stop
}

// restartUntil restarts the operator whenever the tape grows, and returns how often it did.
func (s *skewed) restartUntil(ended <-chan struct{}) (restarts int) {
	lines := len(s.Tape())
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return restarts
		case <-ticker.C:
		}
		if now := len(s.Tape()); now > lines {
			lines = now
			s.operator.Restart()
			restarts++
		}
	}
}

func wantRestarts(t *testing.T, got, atLeast int) {
	t.Helper()
	if got < atLeast {
		t.Errorf("the operator was killed %d times, want at least %d", got, atLeast)
	}
}
