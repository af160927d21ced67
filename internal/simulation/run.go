package simulation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// Run is a plan that is being carried out, by the rules of package plan: steps
// one after another, lanes at the pace of their step, actions of a lane in
// order, the status before a step that demands it and at the end. It is
// modified only by the World that owns it, which copies it first.
type Run struct {
	Decision *Decision
	// set is the set as observed, or as answered to the last status write.
	set *v1.StatefulSet
	// step is the index of the step under way, len(Steps) for the last status.
	step int
	// first is the first lane of the batch under way, next how many actions of
	// each of its lanes are done; a lane that failed has none left.
	first int
	next  []int
	// hasStatus: the status that the step under way demands is written.
	hasStatus bool
	// batchFailed and stepFailed: a lane of them failed.
	batchFailed, stepFailed bool
	failures                []plan.Failure
	statusErr               error
	// isNews: a status was written that the next decision reads.
	isNews bool
	isDone bool
}

// open returns the lanes that can go on now; the status is a lane of its own,
// statusLane. It is empty only when the run is done.
func (r *Run) open() []int {
	if r.isDone {
		return nil
	}
	if r.needsStatus() {
		return []int{statusLane}
	}
	var lanes []int
	for i, done := range r.next {
		if done < len(r.lane(i)) {
			lanes = append(lanes, i)
		}
	}
	return lanes
}

// statusLane stands for the write of the status.
const statusLane = -1

// needsStatus tells whether the next write is that of the status.
func (r *Run) needsStatus() bool {
	steps := r.Decision.Plan.Steps
	return r.step == len(steps) || (steps[r.step].StatusFirst && !r.hasStatus)
}

// lane returns the i-th lane of the batch under way.
func (r *Run) lane(i int) plan.Lane { return r.Decision.Plan.Steps[r.step].Lanes[r.first+i] }

// begin starts a run.
func begin(decision *Decision) *Run {
	r := &Run{Decision: decision, set: decision.Observation.Set}
	r.startStep()
	return r
}

func (r *Run) clone() *Run {
	copied := *r
	copied.next, copied.failures = slices.Clone(r.next), slices.Clone(r.failures)
	return &copied
}

// startStep makes the first batch of a step ready.
func (r *Run) startStep() {
	r.first, r.stepFailed, r.hasStatus = 0, false, false
	r.startBatch(1)
}

// startBatch makes the next batch of at most so many lanes ready, if the pace of
// the step bounds them.
func (r *Run) startBatch(size int) {
	steps := r.Decision.Plan.Steps
	r.batchFailed, r.next = false, nil
	if r.step == len(steps) {
		return
	}
	left := len(steps[r.step].Lanes) - r.first
	if steps[r.step].Pace == plan.Independent {
		size = left
	}
	r.next = make([]int, min(size, left))
}

// note takes down what became of the next action of a lane.
func (r *Run) note(lane int, action plan.Action, err error) {
	r.next[lane]++
	if err != nil {
		r.failures = append(r.failures, plan.Failure{Action: action, Err: err})
		r.next[lane] = len(r.lane(lane))
		r.batchFailed, r.stepFailed = true, true
	}
	if len(r.open()) == 0 {
		r.endBatch()
	}
}

// endBatch goes on to the next batch, the next step, or the status at the end.
func (r *Run) endBatch() {
	step := r.Decision.Plan.Steps[r.step]
	r.first += len(r.next)
	goesOn := step.Pace == plan.Independent || !r.batchFailed
	switch {
	case goesOn && r.first < len(step.Lanes):
		r.startBatch(nextSize(step.Pace, len(r.next)))
	case r.stepFailed && step.Essential:
		r.end()
	default:
		r.step++
		r.startStep()
	}
}

// nextSize is how many lanes the batch after one has.
func nextSize(pace plan.Pace, size int) int {
	if pace == plan.SlowStart {
		return 2 * size
	}
	return 1
}

// end leaves nothing but the last status.
func (r *Run) end() {
	r.step = len(r.Decision.Plan.Steps)
	r.startStep()
}

// noteStatus takes down what became of the write of the status.
func (r *Run) noteStatus(written *v1.StatefulSet, err error) {
	switch {
	case err != nil:
		// A step that demands the status does not start, nor does any after it;
		// and a status that was refused once is not tried again.
		r.statusErr, r.isDone = err, true
	case written != nil:
		r.isNews = r.isNews || !haveSameMeaning(r.set.Status, written.Status)
		r.set = written
	}
	r.hasStatus = true
	if r.step == len(r.Decision.Plan.Steps) {
		r.isDone = true
	}
}

// status is the status to write now.
func (r *Run) status() v1.StatefulSetStatus {
	return planner.Conclude(r.Decision.Observation, r.Decision.Plan, r.failures)
}

// haveSameMeaning tells whether two statuses differ at most in what the next
// decision does not read.
func haveSameMeaning(a, b v1.StatefulSetStatus) bool {
	return a.CurrentRevision == b.CurrentRevision && a.UpdateRevision == b.UpdateRevision &&
		a.ObservedGeneration == b.ObservedGeneration &&
		equality.Semantic.DeepEqual(a.CollisionCount, b.CollisionCount) &&
		equality.Semantic.DeepEqual(a.PodProgress, b.PodProgress) &&
		slices.Equal(meanings(a), meanings(b))
}

// meanings are the conditions without texts and times.
func meanings(status v1.StatefulSetStatus) []string {
	var words []string
	for _, c := range status.Conditions {
		words = append(words, c.Type+"="+string(c.Status)+" "+c.Reason)
	}
	return words
}
