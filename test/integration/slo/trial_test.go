package slo

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// trials is how many sets each service level is measured with. Each is updated twice: to a template that does not work
// and to one that does.
const trials = 18

var seed = flag.Uint64("seed", 0, "seed of the random trials; 0 takes one from the clock")

// chosenSeed is the seed of this run.
var chosenSeed = sync.OnceValue(func() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
})

// trial is an update that goes wrong and is put right, with random circumstances.
type trial struct {
	replicas, budget int
	isParallel       bool
	// timeout is podProgressTimeoutSeconds, for those who use it.
	timeout int
	// breakage is how pods of the first template fail.
	breakage string
	// start and stop are how long pods of the second template take to start, and of all templates to stop.
	start, stop time.Duration
	// isPatient: the second template comes late.
	isPatient bool
	// isStaggered: the lowest of the first pods stops at once, long before the others.
	isStaggered bool
}

// draw returns the trials of a service, which a seed determines.
func draw(t *testing.T, service uint64) []trial {
	t.Helper()
	t.Logf("seed %d", chosenSeed())
	random := rand.New(rand.NewPCG(chosenSeed(), service))
	drawn := make([]trial, trials)
	for i := range drawn {
		drawn[i] = trial{
			replicas: 1 + random.IntN(4), budget: 1 + random.IntN(2), isParallel: random.IntN(2) == 0,
			timeout:   2 + random.IntN(2),
			breakage:  []string{"image-pull-backoff", "crash-loop", "never-ready"}[random.IntN(3)],
			start:     time.Duration(random.IntN(1500)) * time.Millisecond,
			stop:      time.Duration(random.IntN(1000)) * time.Millisecond,
			isPatient: random.IntN(2) == 0, isStaggered: random.IntN(2) == 0,
		}
	}
	return drawn
}

func (tr trial) String() string {
	return fmt.Sprintf("%d pods, parallel %t, maxUnavailable %d, timeout %d, %s, start %s, stop %s, patient %t, staggered %t",
		tr.replicas, tr.isParallel, tr.budget, tr.timeout, tr.breakage, tr.start, tr.stop, tr.isPatient, tr.isStaggered)
}

func (tr trial) stopTag() string { return fmt.Sprintf("stop-%dms", tr.stop.Milliseconds()) }

// bad and good are the images of the two templates.
func (tr trial) bad() string { return fmt.Sprintf("web:2-%s-%s", tr.stopTag(), tr.breakage) }

func (tr trial) good() string {
	return fmt.Sprintf("web:3-%s-start-%dms", tr.stopTag(), tr.start.Milliseconds())
}

// course is how a trial went.
type course struct {
	trial
	lives []life
	// broken and fixed are when the two templates were written, or a moment before.
	broken, fixed time.Time
}

// play creates a set, breaks it, waits until the breakage is seen as far as until says, puts it right, and waits until
// all is well.
func (tr trial) play(t *testing.T, r *recorder, until func(*scenario.Story), edits ...scenario.Edit) course {
	t.Helper()
	if tr.isParallel {
		edits = append(edits, scenario.Parallel())
	}
	edits = append(edits, scenario.Replicas(int32(tr.replicas)), scenario.Image("web:1-"+tr.stopTag()))
	story := scenario.Given(t, scenario.Rollcall, edits...)
	story.ThenUpdated(int32(tr.replicas))
	if tr.isStaggered {
		story.AnnotatePod(0, "sim.rollcall.dev/stop-delay", "0s")
	}
	went := course{trial: tr, broken: time.Now()}
	story.When(scenario.Image(tr.bad()))
	until(story)
	went.fixed = time.Now()
	story.When(scenario.Image(tr.good()))
	story.ThenUpdated(int32(tr.replicas))
	went.lives = thenSeen(t, r, story, tr)
	return went
}

// thenSeen waits until the recorder, too, has seen all pods ready at the second template.
func thenSeen(t *testing.T, r *recorder, story *scenario.Story, tr trial) []life {
	t.Helper()
	var lives []life
	story.Eventually(t, "the recorder has seen the end", func(context.Context) error {
		var err error
		if lives, err = r.in(story.Name); err != nil {
			return err
		}
		ready := 0
		for _, l := range lives {
			if l.image == tr.good() && !l.ready.IsZero() && l.deleted.IsZero() {
				ready++
			}
		}
		if ready != tr.replicas {
			return fmt.Errorf("%d pods are ready", ready)
		}
		return nil
	})
	return lives
}

// playAll plays trials side by side and returns how they went.
func playAll(t *testing.T, drawn []trial, play func(*testing.T, *recorder, trial) course) []course {
	t.Helper()
	r := record(t)
	courses := make([]course, len(drawn))
	t.Run("trials", func(t *testing.T) {
		for i, tr := range drawn {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				defer func() {
					if t.Failed() {
						t.Log(tr)
					}
				}()
				courses[i] = play(t, r, tr)
			})
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return courses
}

// thenTopBroken waits until the highest pod has the first template and is broken.
func (tr trial) thenTopBroken(story *scenario.Story) { story.ThenPodBroken(tr.replicas-1, tr.bad()) }

// strategy sets a strategy with the trial's budget.
func (tr trial) strategy(strategy v1.UpdateStrategyType) scenario.Edit {
	return func(set *v1.StatefulSet) {
		scenario.Strategy(strategy)(set)
		scenario.MaxUnavailable(strconv.Itoa(tr.budget))(set)
	}
}
