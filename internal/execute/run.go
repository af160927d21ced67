package execute

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// maxInFlight is how many requests one run has under way at a time. The API
// server's fair queueing shares itself out among clients; there is no gain in
// making it queue thousands.
const maxInFlight = 64

// run is the execution of one plan.
type run struct {
	*Executor
	// set is the set as observed, or as answered to the last status write.
	set      *v1.StatefulSet
	plan     plan.Plan
	conclude Conclude
	// isOver tells whether the process is about to end.
	isOver func() bool

	mu      sync.Mutex
	outcome Outcome
}

// step runs the lanes of a step at its pace and tells whether any failed.
func (r *run) step(ctx context.Context, step plan.Step) (failed bool) {
	before := len(r.outcome.Failures)
	switch step.Pace {
	case plan.InTurn:
		for _, lane := range step.Lanes {
			if !r.lane(ctx, lane) {
				break
			}
		}
	case plan.SlowStart:
		r.slowStart(ctx, step.Lanes)
	case plan.Independent:
		r.atOnce(ctx, step.Lanes)
	}
	failures := r.outcome.Failures[before:]
	r.recordFailures(failures)
	return len(failures) > 0
}

// slowStart runs batches of 1, 2, 4, … lanes and ends with the first batch in
// which one fails: what is refused once will be refused a thousand times. A set
// whose last batch went well goes on from there, up to a point: in an update the
// pods of one plan have to be created by several, as their predecessors go.
func (r *run) slowStart(ctx context.Context, lanes []plan.Lane) {
	key := client.ObjectKeyFromObject(r.set)
	defer r.momentum.settle(key)
	for len(lanes) > 0 {
		size := r.momentum.of(key)
		batch := lanes[:min(size, len(lanes))]
		isWell := r.atOnce(ctx, batch)
		r.momentum.note(key, len(batch), isWell)
		if !isWell {
			return
		}
		lanes = lanes[len(batch):]
	}
}

// atOnce runs lanes side by side and tells whether all went well.
func (r *run) atOnce(ctx context.Context, lanes []plan.Lane) bool {
	before := len(r.outcome.Failures)
	slots := make(chan struct{}, maxInFlight)
	var running sync.WaitGroup
	for _, lane := range lanes {
		if r.isOver() {
			break
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			r.lane(ctx, lane)
		})
	}
	running.Wait()
	return len(r.outcome.Failures) == before
}

// lane runs actions in order up to the first that fails, and tells whether none did.
func (r *run) lane(ctx context.Context, lane plan.Lane) bool {
	for _, action := range lane {
		if r.isOver() {
			return false
		}
		done, err := r.perform(ctx, action)
		r.report(ctx, action, done, err)
		if err != nil {
			return false
		}
	}
	return true
}

// report writes down what became of an action: one line in the log with its
// reason, news for the events, and its part of the outcome.
func (r *run) report(ctx context.Context, action plan.Action, done effect, err error) {
	logger := log.FromContext(ctx).WithValues("action", action.String(), "reason", action.Why().Code, "why", action.Why().Text)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		logger.Info("Failed", "error", err.Error())
		r.outcome.Failures = append(r.outcome.Failures, plan.Failure{Action: action, Err: err})
		return
	case done.isDelete:
		r.outcome.Deleted = append(r.outcome.Deleted, done.object)
	case done.object != nil:
		r.outcome.Written = append(r.outcome.Written, traceOf(done.object))
	}
	logger.Info(done.word())
	if done.action != nil {
		r.news.note(client.ObjectKeyFromObject(r.set), done.action)
	}
}

// traceOf leaves of a written object what tells it and its version apart from
// others. Whole, those of a plan that creates hundreds of pods would take more
// memory than everything else.
func traceOf(object client.Object) client.Object {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: plan.KindOf(object)},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		},
	}
}
