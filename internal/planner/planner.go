// Package planner decides what to do about a set. It is a pure function,
//
//	Compute: plan.Observation -> plan.Plan
//
// with neither clock nor client nor memory: what it needs to remember stands in
// the set's status. The controller, the model checker and the previews all run
// this one function.
//
// Words used throughout:
//
//	slot         an ordinal in [start, start+replicas)
//	target       the revision of spec.template; current, that of the last complete update
//	wanted       the revision a slot should have: target at or above the partition, else current
//	outdated     a pod whose revision is not the one its slot wants
//	available    running, ready for minReadySeconds, not terminating
//	in flight    missing, terminating, or at the wanted revision but not available
//	condemned    a pod of ours outside the range
//	budget       maxUnavailable: percent of replicas rounded down, at least 1
//
// A file bears the name of the rule it holds; this one holds their order.
package planner

import (
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// decision is one run of the pipeline: what is known so far.
type decision struct {
	observation plan.Observation
	set         *v1.StatefulSet
	now         time.Time
	settings    settings
	ownership   ownership
	history     history
	strategy    strategy
	fleet       fleet
	// blockers are conditions that only somebody else can lift.
	blockers blockers
}

// Compute returns what should be done about an observation. It modifies nothing.
func Compute(observation plan.Observation) plan.Plan {
	d := &decision{observation: observation, set: observation.Set, now: observation.Now}
	if err := d.understand(); err != nil {
		return d.refusal(err)
	}
	if d.awaitsNamesake() {
		return d.waitingForNamesake()
	}
	if needs := d.missingReads(); needs.Any() {
		return plan.Plan{NeedsLiveRead: needs}
	}
	d.fleet = muster(d)
	if d.isDeleting() {
		return d.conclusion(nil, verdict{})
	}
	verdict := d.update()
	if verdict.needs.Any() {
		return plan.Plan{NeedsLiveRead: verdict.needs}
	}
	return d.conclusion(d.steps(verdict), verdict)
}

// understand works out all that does not depend on the pods' states.
func (d *decision) understand() error {
	var err error
	if d.settings, err = readSettings(d.set, d.observation.Gates); err != nil {
		return err
	}
	d.ownership = sortByOwner(d)
	if d.history, err = chooseTarget(d); err != nil {
		return err
	}
	d.strategy = strategyFor(d.settings)
	return nil
}

// missingReads names what a cache can't vouch for and the rest depends on.
func (d *decision) missingReads() plan.LiveReads {
	live := d.observation.Live
	return plan.LiveReads{
		Set:       d.ownership.adopts() && !live.Set,
		Templates: d.history.isUnsure && !live.Templates,
	}
}

func (d *decision) isDeleting() bool { return d.set.DeletionTimestamp != nil }
