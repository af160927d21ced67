// Package controller connects the parts of the operator:
//
//	observe -> planner.Compute -> execute
//
// and says when: on events that change what decisions read, at the time a plan
// asks for, and with a growing delay after an error. At rest nothing runs.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/metrics"
	"github.com/rollcall-dev/rollcall/internal/observe"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// reconciler brings one set a step closer to its spec at a time.
type reconciler struct {
	observer *observe.Observer
	executor *execute.Executor
	metrics  *metrics.Metrics
	now      func() time.Time
}

// Reconcile observes a set, decides, acts, and says when to look again.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	observation, todo, err := r.decide(ctx, request.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		r.observer.Forget(request.NamespacedName)
		r.executor.Forget(request.NamespacedName)
		r.metrics.Forget(request.NamespacedName)
		return reconcile.Result{}, nil
	case errors.Is(err, observe.ErrBehind):
		return reconcile.Result{RequeueAfter: observe.Patience}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	outcome := r.executor.Run(ctx, observation.Set, todo, func(failures []plan.Failure) v1.StatefulSetStatus {
		return planner.Conclude(observation, todo, failures)
	})
	r.observer.Remember(observation.Set, outcome.Written, outcome.Deleted)
	r.metrics.Note(observation, todo, outcome)
	return r.next(todo, outcome)
}

// maxRounds is how often a plan may ask for live reads: once for each there is,
// as each may lead to the question that needs the next.
const maxRounds = 3

// decide computes a plan from what is in view, and from live reads where the
// plan asks for them.
func (r *reconciler) decide(ctx context.Context, key types.NamespacedName) (plan.Observation, plan.Plan, error) {
	observation, err := r.observer.Observe(ctx, key)
	if err != nil {
		return plan.Observation{}, plan.Plan{}, err
	}
	todo := planner.Compute(observation)
	for round := 0; todo.NeedsLiveRead.Any(); round++ {
		if round == maxRounds {
			return plan.Observation{}, plan.Plan{}, fmt.Errorf("decide about set %s: live reads %+v do not satisfy the planner", key, todo.NeedsLiveRead)
		}
		if observation, err = r.observer.Complete(ctx, observation, todo.NeedsLiveRead); err != nil {
			return plan.Observation{}, plan.Plan{}, err
		}
		todo = planner.Compute(observation)
	}
	return observation, todo, nil
}

// next says when to look at the set again if no event comes first. Errors are
// retried with back-off. Two are not errors to anybody: what no retry can mend
// is left to its end, and a status that was refused because the set has changed
// waits for the view to show the change.
func (r *reconciler) next(todo plan.Plan, outcome execute.Outcome) (reconcile.Result, error) {
	at := earliest(todo.WakeAt, outcome.WakeAt)
	switch {
	case len(outcome.Failures) == 0 && apierrors.IsConflict(outcome.StatusErr):
		at = earliest(at, r.now().Add(observe.Patience))
	case outcome.Err() != nil && !outcome.IsTerminal():
		return reconcile.Result{}, outcome.Err()
	}
	if at.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(at.Sub(r.now()), time.Millisecond)}, nil
}

// earliest returns the earlier of two times, zero meaning never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
