package metrics

import (
	"iter"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Values of the label result.
const (
	success = "success"
	failure = "failure"
)

// seconds are the buckets of both histograms: from pods that start at once to
// updates that take a working day.
var seconds = []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800}

// updates counts what becomes of updates.
type updates struct {
	forced   *prometheus.CounterVec
	enforced *prometheus.CounterVec
	halts    prometheus.Counter
	duration *prometheus.HistogramVec
	stuck    prometheus.Histogram

	mu sync.Mutex
	// starts are when the updates under way began. An update that is older than
	// the process is not among them.
	starts map[types.NamespacedName]time.Time
}

func newUpdates() *updates {
	u := &updates{
		forced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "statefulset_forced_pod_replacements_total",
			Help: "Number of pods that were to be replaced because they were not ready, by EnforcedRollingUpdate or by podProgressTimeoutSeconds.",
		}, []string{"result"}),
		enforced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "statefulset_enforced_rolling_updates_total",
			Help: "Number of updates with EnforcedRollingUpdate that completed (success) or came to a safety halt (failure).",
		}, []string{"result"}),
		halts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "statefulset_safety_halt_total",
			Help: "Number of safety halts: with EnforcedRollingUpdate, the highest pod did not become ready at the target revision.",
		}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "statefulset_update_duration_seconds",
			Help:    "Time from the change of a template to the completion of its update, by the strategy in force.",
			Buckets: seconds,
		}, []string{"strategy"}),
		stuck: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "statefulset_stuck_pod_duration_seconds",
			Help:    "Time for which pods had not been ready when they were replaced because of it.",
			Buckets: seconds,
		}),
		starts: map[types.NamespacedName]time.Time{},
	}
	u.announce()
	return u
}

// announce makes every series exist from the start, or the first increase of one
// would go unnoticed.
func (u *updates) announce() {
	for _, result := range []string{success, failure} {
		u.forced.WithLabelValues(result)
		u.enforced.WithLabelValues(result)
	}
	for _, strategy := range strategies {
		u.duration.WithLabelValues(string(strategy))
	}
}

func (u *updates) collectors() []prometheus.Collector {
	return []prometheus.Collector{u.forced, u.enforced, u.halts, u.duration, u.stuck}
}

// Describe implements prometheus.Collector.
func (u *updates) Describe(out chan<- *prometheus.Desc) {
	for _, collector := range u.collectors() {
		collector.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (u *updates) Collect(out chan<- prometheus.Metric) {
	for _, collector := range u.collectors() {
		collector.Collect(out)
	}
}

// noteReplacements counts the pods that were replaced because they were not ready.
func (u *updates) noteReplacements(observation plan.Observation, todo plan.Plan, outcome execute.Outcome) {
	deleted, failed := uids(outcome.Deleted), failedDeletes(outcome.Failures)
	for pod := range forcedDeletes(todo) {
		switch {
		case failed[pod.UID]:
			u.forced.WithLabelValues(failure).Inc()
		case deleted[pod.UID]:
			u.forced.WithLabelValues(success).Inc()
			u.stuck.Observe(observation.Now.Sub(podstate.UnreadySince(pod)).Seconds())
		}
	}
}

// forcedDeletes yields the pods that a plan deletes because they are not ready.
func forcedDeletes(todo plan.Plan) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for action := range todo.Actions() {
			remove, ok := action.(plan.DeletePod)
			isForced := ok && (remove.Reason.Code == plan.ForcedReplacement || remove.Reason.Code == plan.ProgressTimedOut)
			if isForced && !yield(remove.Pod) {
				return
			}
		}
	}
}

func uids(objects []client.Object) map[types.UID]bool {
	found := map[types.UID]bool{}
	for _, object := range objects {
		found[object.GetUID()] = true
	}
	return found
}

func failedDeletes(failures []plan.Failure) map[types.UID]bool {
	found := map[types.UID]bool{}
	for _, failure := range failures {
		if remove, ok := failure.Action.(plan.DeletePod); ok {
			found[remove.Pod.UID] = true
		}
	}
	return found
}

// noteProgress counts how the update has come along between the status that was
// observed and the one that is on record now.
func (u *updates) noteProgress(observation plan.Observation, todo plan.Plan, outcome execute.Outcome) {
	stored := lastStatus(outcome)
	if stored == nil {
		return
	}
	change := change{before: observation.Set.Status, after: *stored}
	start := u.follow(client.ObjectKeyFromObject(observation.Set), change, observation.Now)
	strategy := todo.Summary.Strategy
	if change.hasHalted() {
		u.halts.Inc()
		u.enforced.WithLabelValues(failure).Inc()
	}
	if change.hasCompleted() && !start.IsZero() {
		u.duration.WithLabelValues(string(strategy)).Observe(observation.Now.Sub(start).Seconds())
	}
	isUpdate := !start.IsZero() || change.hasNewCurrent()
	if change.hasCompleted() && isUpdate && strategy == v1.EnforcedRollingUpdateStrategy {
		u.enforced.WithLabelValues(success).Inc()
	}
}

// follow returns when the update that the change is about began, zero if that is
// not known or there is none.
func (u *updates) follow(key types.NamespacedName, c change, now time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.hasStarted() {
		u.starts[key] = now
	}
	start := u.starts[key]
	if c.isComplete() {
		delete(u.starts, key)
	}
	return start
}

func (u *updates) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.starts, key)
}

// lastStatus returns the status that a run put on record, or nil.
func lastStatus(outcome execute.Outcome) *v1.StatefulSetStatus {
	var status *v1.StatefulSetStatus
	for _, object := range outcome.Written {
		if set, ok := object.(*v1.StatefulSet); ok {
			status = &set.Status
		}
	}
	return status
}

// change is that of a status on record.
type change struct{ before, after v1.StatefulSetStatus }

// hasStarted tells whether an update began: there is a new target, and it is not
// that of a new set.
func (c change) hasStarted() bool {
	return c.before.UpdateRevision != "" && c.before.UpdateRevision != c.after.UpdateRevision
}

// isComplete tells whether no update is going on any more.
func (c change) isComplete() bool { return isComplete(c.after) }

// hasCompleted tells whether an update, or the first roll-out, came to its end.
func (c change) hasCompleted() bool {
	return c.isComplete() && (c.hasStarted() || !isComplete(c.before))
}

// hasHalted tells whether an update came to a safety halt.
func (c change) hasHalted() bool {
	return progress(c.after) == v1.ReasonSafetyHalt && (c.hasStarted() || progress(c.before) != v1.ReasonSafetyHalt)
}

// hasNewCurrent tells whether another revision is the current one, which only an
// update can bring about.
func (c change) hasNewCurrent() bool {
	return c.before.CurrentRevision != "" && c.before.CurrentRevision != c.after.CurrentRevision
}

func isComplete(status v1.StatefulSetStatus) bool {
	reason := progress(status)
	return reason == v1.ReasonUpdateComplete || reason == v1.ReasonRecreateComplete
}

// progress is what a status says of the update.
func progress(status v1.StatefulSetStatus) string {
	if condition := meta.FindStatusCondition(status.Conditions, v1.ConditionProgressing); condition != nil {
		return condition.Reason
	}
	return ""
}
