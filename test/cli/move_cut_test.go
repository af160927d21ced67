package cli

import (
	"errors"
	"flag"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// everyCall has moves killed after each of their API calls. What reads alone come between two kills changes nothing that
// is stored, so by default they are killed after each write. All calls take minutes for each set.
var everyCall = flag.Bool("every-call", false, "kill moves after every API call, not only after those that write")

// cut lets so many calls through. The answer to the last of them is lost, and nothing gets through any more: for the API
// server, the process was killed there.
type cut struct {
	next http.RoundTripper

	mu      sync.Mutex
	allowed int
	isCut   bool
}

var errCut = errors.New("killed here")

func (c *cut) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		return nil, errCut
	}
	response, err := c.next.RoundTrip(request)
	if err != nil || !counts(request) {
		return response, err
	}
	if c.allowed--; c.allowed == 0 {
		c.isCut = true
		response.Body.Close()
		return nil, errCut
	}
	return response, nil
}

func counts(request *http.Request) bool {
	isWrite := request.Method != http.MethodGet && !strings.Contains(request.URL.RawQuery, "dryRun")
	return isWrite || *everyCall
}

// cutAfter runs a move and kills it after so many calls. It tells whether the move was over before.
func (m *moving) cutAfter(calls int, args ...string) (isOver bool) {
	m.t.Helper()
	severed := &cut{allowed: calls}
	m.user.Wrap = func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			severed.next = next
			return severed
		})
		return config
	}
	got := m.user.run(args...)
	m.user.Wrap = nil
	if severed.isCut != (got.code != 0) {
		m.t.Fatalf("%q, cut %v after %d calls, ended with code %d:\n%s%s", args, severed.isCut, calls, got.code, got.out, got.err)
	}
	return !severed.isCut
}

// thenSpecIsSafe fails if no set of the name is stored any more.
func (m *moving) thenSpecIsSafe(when string) {
	m.t.Helper()
	if !m.As(scenario.BuiltIn).Exists() && !m.As(scenario.Rollcall).Exists() {
		m.t.Fatalf("%s: the spec is lost", when)
	}
}

// Moves in both directions survive being killed anywhere: at every moment the spec is stored, no pod or claim is touched,
// and the same command goes on.
func TestInterruptedMoves(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]struct {
		edits     []scenario.Edit
		isStaged  bool
		claimsToo bool
	}{
		"ordered": {edits: []scenario.Edit{scenario.Claims("data")}},
		"parallel, claims die with the set": {
			edits:     []scenario.Edit{scenario.Parallel(), scenario.Claims("data", "log"), scenario.Retention(v1.Delete, v1.Delete)},
			claimsToo: true,
		},
		"staged": {edits: []scenario.Edit{scenario.Claims("data")}, isStaged: true},
		"on delete, started at 3": {
			edits: []scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy), scenario.Start(3)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := givenBuiltIn(t, 3, given.edits...)
			if given.isStaged {
				m.stage(3, 2)
			}
			m.thenBelongsTo(scenario.BuiltIn, given.claimsToo)
			m.remember()
			status := m.Set().Status
			moves := []move{{"adopt", scenario.Rollcall}, {"release", scenario.BuiltIn}}
			for calls, over := 1, 0; over < len(moves); calls++ {
				over = 0
				for _, move := range moves {
					if m.interrupt(calls, move) {
						over++
					}
					m.thenBelongsTo(move.by, given.claimsToo)
					m.thenStatus(move, status)
				}
			}
			m.ThenQuiet()
			m.thenUntouched("in the end")
		})
	}
}

// move is a verb and who is in charge after it.
type move struct {
	verb string
	by   scenario.Controller
}

// interrupt kills a move, looks, and has it gone on with.
func (m *moving) interrupt(calls int, move move) (isOver bool) {
	m.t.Helper()
	isOver = m.cutAfter(calls, move.verb, "web", "--yes")
	m.thenSpecIsSafe(move.verb)
	m.thenUntouched(move.verb + " interrupted")
	m.user.must(move.verb, "web", "--yes")
	m.thenUntouched(move.verb)
	return isOver
}

// thenStatus waits until the set says of its revisions what it said before all moves.
func (m *moving) thenStatus(move move, want v1.StatefulSetStatus) {
	m.t.Helper()
	m.As(move.by).Then("the revisions are those of before", func(set *v1.StatefulSet) error {
		got := set.Status
		if got.CurrentRevision != want.CurrentRevision || got.UpdateRevision != want.UpdateRevision || got.Replicas != want.Replicas {
			return errors.New("it is " + got.CurrentRevision + " and " + got.UpdateRevision)
		}
		return nil
	})
}

// A set that changes while its adoption lies idle is adopted as it is then.
func TestAdoptFollowsChanges(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 1)
	if m.cutAfter(1, "adopt", "web", "--yes") {
		t.Fatal("adopting took no more than one write")
	}
	m.Scale(3)
	m.ThenUpdated(3)
	m.remember()
	m.user.must("adopt", "web", "--yes")
	moved := m.As(scenario.Rollcall)
	moved.ThenUpdated(3)
	m.ThenQuiet()
	m.thenUntouched("adopted")
	if set := moved.Set(); len(set.Annotations) > 0 {
		t.Errorf("annotations are left behind: %v", set.Annotations)
	}
}
