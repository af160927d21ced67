package plan

import (
	"fmt"
	"iter"
	"strings"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Plan is what should be done about one observation.
type Plan struct {
	// NeedsLiveRead names what must be read from the API server before anything
	// can be decided. When it names anything, the rest of the plan is empty:
	// complete the observation and compute again.
	NeedsLiveRead LiveReads

	// Steps are run in order.
	Steps []Step

	// Status is the set's status as observed. What failed while the plan ran is
	// worked in by planner.Conclude before it is written, once per plan, and
	// also when an action failed. It equals the set's status when nothing is
	// to be written.
	Status v1.StatefulSetStatus

	// Events tell the user what the plan as a whole is about. They are recorded
	// when the status that goes with them has been written; events about single
	// actions come from ActionEvent.
	Events []Event

	// WakeAt is when to look again although nothing may have happened; zero if
	// something is bound to happen first, or nothing is left to do.
	WakeAt time.Time

	// Summary is what metrics want to know.
	Summary Summary
}

// Step is a group of lanes that serve one purpose.
type Step struct {
	Purpose Purpose
	Pace    Pace
	// Essential steps end the plan when they fail: no later step runs. The
	// status is written all the same.
	Essential bool
	// StatusFirst steps must not start before the plan's status is written,
	// because their effects are counted in it.
	StatusFirst bool
	Lanes       []Lane
}

// Lane is work that must happen in order; an action that fails ends it.
type Lane []Action

// Purpose says what a step is for.
type Purpose string

// The purposes in the order in which their steps stand in a plan.
const (
	// PurposeOwnership adopts and releases. All else relies on what is ours.
	PurposeOwnership Purpose = "ownership"
	// PurposeUpkeep repairs identities and the owners of claims.
	PurposeUpkeep Purpose = "upkeep"
	// PurposeScaleDown removes pods outside the range.
	PurposeScaleDown Purpose = "scale down"
	// PurposeHistory removes revisions beyond the history limit. It stands early
	// because it depends on nothing and frees quota.
	PurposeHistory Purpose = "history"
	// PurposeRevision records the target revision. No pod may name a revision
	// that does not exist.
	PurposeRevision Purpose = "revision"
	// PurposeFill creates what is missing and removes pods that have ended.
	PurposeFill Purpose = "fill"
	// PurposeUpdate takes pods down for the target revision.
	PurposeUpdate Purpose = "update"
)

// Pace says how the lanes of a step follow each other.
type Pace string

const (
	// InTurn runs one lane after another; a lane that fails ends the step.
	InTurn Pace = "in turn"
	// SlowStart runs 1 lane, then 2 at once, then 4 and so on; a batch in which
	// a lane fails is the last.
	SlowStart Pace = "slow start"
	// Independent runs all lanes, at once or not; one that fails ends no other.
	Independent Pace = "independent"
)

// Summary is the state of the set in numbers.
type Summary struct {
	// Strategy is the strategy in force, after feature gates.
	Strategy v1.UpdateStrategyType
	// Unavailable is how many slots have no available pod.
	Unavailable int32
	// MaxUnavailable is the budget.
	MaxUnavailable int32
}

// Actions yields every action in the order of the plan.
func (p Plan) Actions() iter.Seq[Action] {
	return func(yield func(Action) bool) {
		for _, step := range p.Steps {
			for _, lane := range step.Lanes {
				for _, action := range lane {
					if !yield(action) {
						return
					}
				}
			}
		}
	}
}

// IsEmpty tells whether the plan writes nothing but, possibly, a status.
func (p Plan) IsEmpty() bool {
	for range p.Actions() {
		return false
	}
	return !p.NeedsLiveRead.Any()
}

// String lists the plan's actions with their reasons, one per line.
func (p Plan) String() string {
	var b strings.Builder
	for action := range p.Actions() {
		fmt.Fprintf(&b, "%s (%s)\n", action, action.Why())
	}
	return b.String()
}
