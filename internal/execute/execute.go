// Package execute carries plans out at the API server.
//
// The rules of a plan (see package plan) are kept literally: steps one after
// another, the lanes of a step at its pace, the actions of a lane in strict
// order. What happened comes back as data, an Outcome. The status is written
// once, at the end, and also when an action failed; only a step that must not
// start before its status is on record costs a second write.
//
// No delete is forced: the grace period is always the pod's own.
package execute

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Executor carries out plans. It is safe for concurrent use, as long as no two
// calls are about the same set.
type Executor struct {
	writer client.Client
	live   client.Reader
	events events.EventRecorder
	pacer  *pacer
	news   *news
	now    func() time.Time

	momentum *momentum
}

// Targets are what an Executor acts on.
type Targets struct {
	// Writer writes to the API server.
	Writer client.Client
	// Live reads from the API server, past any cache.
	Live client.Reader
	// Events records events.
	Events events.EventRecorder
	// Now tells the time.
	Now func() time.Time
}

// New returns an Executor that acts on the targets.
func New(targets Targets) *Executor {
	return &Executor{
		writer: targets.Writer,
		live:   targets.Live,
		events: targets.Events,
		pacer:  newPacer(),
		news:   newNews(),
		now:    targets.Now,

		momentum: newMomentum(),
	}
}

// Conclude works the failures of a run into the status that its plan foresaw.
type Conclude func(failures []plan.Failure) v1.StatefulSetStatus

// Outcome is what came of a plan.
type Outcome struct {
	// Written are the objects as the API server answered their write: the set as a whole, of others what identifies
	// them and their version.
	Written []client.Object
	// Deleted are the objects whose deletion the API server accepted.
	Deleted []client.Object
	// Failures are the actions that failed.
	Failures []plan.Failure
	// StatusErr is why the status could not be written.
	StatusErr error
	// WakeAt is when to look at the set again because of its status: when one that
	// was held back is due, or at once when one was written that the next decision
	// reads, such as the end of an update. Zero if there is no such reason.
	WakeAt time.Time
}

// Err returns everything that went wrong, or nil.
func (o Outcome) Err() error {
	var errs []error
	for _, failure := range o.Failures {
		errs = append(errs, failure.Err)
	}
	return errors.Join(append(errs, o.StatusErr)...)
}

// IsTerminal tells whether no retry can mend what went wrong: the namespace is
// being deleted, and the set with it. An object that is called invalid is no
// such case: admission policies say so, too, and may be changed.
func (o Outcome) IsTerminal() bool {
	if len(o.Failures) == 0 || o.StatusErr != nil {
		return false
	}
	for _, failure := range o.Failures {
		if !isNamespaceEnding(failure.Err) {
			return false
		}
	}
	return true
}

func isNamespaceEnding(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Forget drops what is remembered of a set that is gone.
func (e *Executor) Forget(key types.NamespacedName) {
	e.pacer.forget(key)
	e.news.forget(key)
	e.momentum.forget(key)
}

// Run carries out a plan about the set and returns what came of it.
//
// When the context ends, nothing more is started. What is under way is finished,
// for a request that was sent may have been carried out anyway, but no status is
// written: it would speak of a plan that was broken off.
func (e *Executor) Run(ctx context.Context, set *v1.StatefulSet, todo plan.Plan, conclude Conclude) Outcome {
	r := &run{Executor: e, set: set, plan: todo, conclude: conclude, isOver: func() bool { return ctx.Err() != nil }}
	toTheEnd := context.WithoutCancel(ctx)
	for _, step := range todo.Steps {
		if step.StatusFirst && !r.writeStatus(toTheEnd, urgent) {
			break
		}
		if failed := r.step(toTheEnd, step); failed && step.Essential {
			break
		}
	}
	r.writeStatus(toTheEnd, r.haste())
	return r.outcome
}
