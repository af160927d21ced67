package preview

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

const (
	// maxLooks bounds how often the controller looks at one moment.
	maxLooks = 20
	// maxIdle is how often it may be woken for nothing before that is taken for
	// the end: it would wait for somebody else for ever.
	maxIdle = 3
	// maxMoments bounds the moments of a replay, per pod and in all.
	maxMoments = 100
)

// errEndless is a planner that contradicts itself; none is known.
var errEndless = errors.New("the controller would never come to rest")

// replay is a request being played.
type replay struct {
	request Request
	world   *simulation.World
	nodes   nodes
	watch   watch
	steps   []Step
	// wakeAt is when the controller looks again; zero for never.
	wakeAt time.Time
	// lastStep is when something last happened.
	lastStep time.Time
	// summary is of the last decision.
	summary plan.Summary
}

func newReplay(request Request) *replay {
	r := &replay{request: request, world: simulation.Resume(request.store(), request.Now), lastStep: request.Now}
	r.nodes = newNodes(request)
	r.watch = newWatch(r.world)
	return r
}

// play lets moment follow moment until nothing is left to happen.
func (r *replay) play() error {
	most := maxMoments * (1 + len(r.request.Pods) + int(*r.request.Set.Spec.Replicas))
	for idle := 0; idle < maxIdle; {
		if most--; most < 0 {
			return errEndless
		}
		writes, err := r.lookAround()
		if err != nil {
			return err
		}
		move := r.nodes.next(r.world.Truth.Pods)
		next := earlier(move.at, r.wakeAt)
		if next.IsZero() {
			return nil
		}
		if writes == 0 && move.at.IsZero() {
			idle++
		} else {
			idle = 0
		}
		r.advance(next)
	}
	return nil
}

// lookAround lets the controller look until it has nothing more to write.
func (r *replay) lookAround() (writes int, err error) {
	for range maxLooks {
		transition, err := r.world.Reconcile()
		if err != nil {
			return writes, err
		}
		if transition.Err != nil {
			return writes, transition.Err
		}
		r.note(transition)
		r.world = transition.After.Sweep()
		r.watch.look(r.world)
		if len(transition.Writes) == 0 {
			return writes, nil
		}
		writes += len(transition.Writes)
	}
	return writes, errEndless
}

// note takes down what the controller did.
func (r *replay) note(transition *simulation.Transition) {
	decided := transition.Decision.Plan
	r.wakeAt, r.summary = decided.WakeAt, decided.Summary
	for _, write := range transition.Writes {
		r.lastStep = r.world.Now
		if write.Action != nil && write.Err == nil {
			r.steps = append(r.steps, r.stepOf(write.Action))
		}
	}
}

// advance moves time on, and lets the nodes do what is due.
func (r *replay) advance(to time.Time) {
	if to.After(r.world.Now) {
		r.world = r.world.At(to)
	}
	for {
		move := r.nodes.next(r.world.Truth.Pods)
		if move.at.IsZero() || move.at.After(r.world.Now) {
			break
		}
		r.world = r.nodes.carryOut(r.world, move)
		r.lastStep = r.world.Now
	}
	r.world = r.world.Sweep()
	r.watch.look(r.world)
}

// observation is what the controller would see in the end.
func (r *replay) observation() plan.Observation {
	stored := r.world.Truth
	o := plan.Observation{
		Set: stored.Set, Pods: stored.Pods, Revisions: stored.Revisions, Now: r.world.Now, Gates: plan.AllGates(),
		Live: plan.LiveReads{Set: true, Pods: true, Templates: true}, Claims: map[string]*corev1.PersistentVolumeClaim{},
	}
	for _, claim := range stored.Claims {
		o.Claims[claim.Name] = claim
	}
	return o
}

// finalPlan is the last decision, which changes nothing any more.
func (r *replay) finalPlan() plan.Plan { return planner.Compute(r.observation()) }

// earlier returns the earlier of two times, zero meaning never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
