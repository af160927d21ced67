package execute

import (
	"context"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
// which one fails: what is refused once will be refused a thousand times.
func (r *run) slowStart(ctx context.Context, lanes []plan.Lane) {
	for size := 1; len(lanes) > 0; size *= 2 {
		batch := lanes[:min(size, len(lanes))]
		if !r.atOnce(ctx, batch) {
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
// reason, an event, and its part of the outcome.
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
	r.recordSuccess(done)
}

// traceOf leaves of a written object what tells it and its version apart from
// others. Whole, those of a plan that creates hundreds of pods would take more
// memory than everything else.
func traceOf(object client.Object) client.Object {
	identity := metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}
	switch object.(type) {
	case *corev1.Pod:
		return &corev1.Pod{ObjectMeta: identity}
	case *corev1.PersistentVolumeClaim:
		return &corev1.PersistentVolumeClaim{ObjectMeta: identity}
	case *appsv1.ControllerRevision:
		return &appsv1.ControllerRevision{ObjectMeta: identity}
	default:
		return object
	}
}

// recordSuccess records the event about an action that was carried out, unless
// an earlier event has announced it.
func (r *run) recordSuccess(done effect) {
	if done.action == nil || r.replacements.isExpected(client.ObjectKeyFromObject(r.set), done.action) {
		return
	}
	if event, ok := plan.ActionEvent(done.action, nil); ok {
		r.record(event, event.Message)
	}
}

// recordFailures records one event per reason, whatever the number of failures:
// a thousand pods over quota are one piece of news, and still the same one when
// the back-off has them tried again. In a namespace that is being deleted nobody
// wants to know, and no event can be recorded.
func (r *run) recordFailures(failures []plan.Failure) {
	told := map[string]bool{}
	for _, failure := range failures {
		event, ok := plan.ActionEvent(failure.Action, failure.Err)
		if ok && !told[event.Reason] && !isNamespaceEnding(failure.Err) {
			told[event.Reason] = true
			r.record(event, event.Reason)
		}
	}
}

// The longest texts that the API server takes in an event.
const (
	maxNote   = 1024
	maxAction = 128
)

// record records an event about the set. The recorder merges events that agree
// in reason and action into one that counts them, and keeps the first text: so
// the action is what tells news apart.
func (r *run) record(event plan.Event, action string) {
	r.events.Eventf(reference(r.set), nil, event.Type, event.Reason, shorten(action, maxAction), "%s", shorten(event.Message, maxNote))
}

// reference names the set without its version, or every status write would make
// the same news new.
func reference(set *v1.StatefulSet) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: v1.GroupVersion.String(), Kind: v1.Kind.Kind,
		Namespace: set.Namespace, Name: set.Name, UID: set.UID,
	}
}

// shorten cuts a text to at most so many bytes and marks the cut.
func shorten(text string, most int) string {
	const mark = "..."
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}
