package execute

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// CounterInterval is how often the status of a set is written for the sake of
// its counters alone. A status write is the dearest request that the operator
// makes, and during an update the counters change three times with every pod. A
// second is what a person watching does not notice, and keeps an update of pods
// that take less at one write for several of them.
const CounterInterval = time.Second

// Status writes take up at most one statusShare-th of the time, those of all sets
// together, one after another. Many sets, or an API server that takes long to
// answer, make counters wait longer, but not longer than maxCounterInterval.
const (
	statusShare        = 2
	maxCounterInterval = 30 * time.Second
)

// haste says whether a status may wait.
type haste bool

const (
	urgent  haste = true
	patient haste = false
)

// haste tells whether the run has news that goes with its status.
func (r *run) haste() haste { return haste(len(r.plan.Events) > 0) }

// writeStatus writes the status of the run so far, unless it is stored already
// or holds nothing but counters that may wait. It tells whether the status is on
// record. Events follow the write that they go with.
func (r *run) writeStatus(ctx context.Context, haste haste) bool {
	if r.outcome.StatusErr != nil || r.isOver() {
		return false
	}
	status := r.conclude(r.outcome.Failures)
	if equality.Semantic.DeepEqual(r.set.Status, status) {
		r.recordNews()
		return true
	}
	key := client.ObjectKeyFromObject(r.set)
	isNews := !haveSameMeaning(r.set.Status, status)
	isDue, at := r.pacer.isDue(key, r.now())
	if haste == patient && !isDue && !isNews {
		r.outcome.WakeAt = at
		return false
	}
	updated := *r.set // the answer replaces its parts and leaves those of r.set alone
	updated.Status = status
	start := r.now()
	if err := r.writer.Status().Update(ctx, &updated); err != nil {
		r.outcome.StatusErr = fmt.Errorf("write the status of set %s: %w", key, err)
		return false
	}
	r.pacer.wrote(key, start, r.now())
	if isNews {
		r.outcome.WakeAt = r.now()
	}
	r.set = &updated
	r.outcome.Written = append(r.outcome.Written, &updated)
	r.recordNews()
	return true
}

// haveSameMeaning tells whether two statuses differ at most in counters and in
// texts and reasons that spell counters out.
func haveSameMeaning(a, b v1.StatefulSetStatus) bool {
	return equality.Semantic.DeepEqual(withoutCounters(a), withoutCounters(b))
}

func withoutCounters(status v1.StatefulSetStatus) v1.StatefulSetStatus {
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0
	status.CurrentReplicas, status.UpdatedReplicas = 0, 0
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
		if spellsCounters(status.Conditions[i].Reason) {
			status.Conditions[i].Reason = ""
		}
		status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return status
}

// spellsCounters tells whether a reason says no more than counters do.
func spellsCounters(reason string) bool {
	switch reason {
	case v1.ReasonUnavailable, v1.ReasonOutdated, v1.ReasonScaling, v1.ReasonUpdating, v1.ReasonHealing:
		return true
	default:
		return false
	}
}

// pacer says when the counters of each set may be written next.
type pacer struct {
	mu   sync.Mutex
	next map[types.NamespacedName]time.Time
	// booked is until when the time for status writes is taken up.
	booked time.Time
}

func newPacer() *pacer { return &pacer{next: map[types.NamespacedName]time.Time{}} }

// isDue tells whether counters may be written now, and since or from when.
func (p *pacer) isDue(key types.NamespacedName, now time.Time) (bool, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !now.Before(p.next[key]), p.next[key]
}

// wrote notes a write of a set's status that took from start to end, and books
// the time for its next one, behind those of the others.
func (p *pacer) wrote(key types.NamespacedName, start, end time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.booked = later(p.booked, end).Add(statusShare * end.Sub(start))
	next := later(p.booked, end.Add(CounterInterval))
	if latest := end.Add(maxCounterInterval); latest.Before(next) {
		next = latest
	}
	p.next[key] = next
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (p *pacer) forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.next, key)
}
