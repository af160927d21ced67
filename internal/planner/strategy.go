package planner

import (
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// strategy is how an update proceeds. A strategy looks at the decision and
// writes down its verdict; it takes no action itself.
type strategy interface {
	// targets tells whether the slot of an ordinal wants the target revision;
	// otherwise it wants the current one.
	targets(ordinal int) bool
	// holdsUp tells whether a pod that is not available, or the lack of one,
	// makes an ordered scale-down wait.
	holdsUp(s *slot) bool
	// update says which pods are in the way of the target revision and go now.
	update(d *decision) verdict
}

// verdict is what a strategy wants.
type verdict struct {
	takeDowns []takeDown
	// pace is how the take-downs follow each other, if not as the management
	// policy has it.
	pace plan.Pace
	// holdsFill keeps missing slots empty.
	holdsFill bool
	// needs names what must be read live before the strategy can tell.
	needs plan.LiveReads
	// statusFirst demands that the status is written before pods are taken down.
	statusFirst bool
	// progressing is what the strategy has to say about its progress, if it has.
	progressing *finding
	// podProgress replaces the list in the status.
	podProgress []v1.PodProgress
	events      []plan.Event
	// wakeAt is when the strategy wants to look again; zero for never.
	wakeAt time.Time
}

// takeDown is the intent to delete a pod for the update.
type takeDown struct {
	slot   *slot
	reason plan.Reason
	// ifUnchanged lets any write to the pod in the meantime win.
	ifUnchanged bool
}

// strategyFor returns the strategy in force.
func strategyFor(s settings) strategy {
	switch s.strategy {
	case v1.OnDeleteStrategy:
		return onDelete{}
	case v1.RecreateStrategy:
		return recreate{}
	case v1.EnforcedRollingUpdateStrategy:
		return enforced{settings: s}
	default:
		return rolling{settings: s}
	}
}

// update asks the strategy, and keeps every pod where it is while paused.
func (d *decision) update() verdict {
	verdict := d.strategy.update(d)
	if d.settings.isPaused {
		verdict.takeDowns, verdict.events, verdict.statusFirst = nil, nil, false
	}
	for _, t := range verdict.takeDowns {
		t.slot.isTaken = true
	}
	return verdict
}

// lanes writes the deletions of slots; condemned pods go with the scale-down.
func (v *verdict) lanes() []plan.Lane {
	lanes := make([]plan.Lane, 0, len(v.takeDowns))
	for _, t := range v.takeDowns {
		if t.slot.isCondemned {
			continue
		}
		lanes = append(lanes, plan.Lane{plan.DeletePod{
			Ordinal: t.slot.ordinal, Pod: t.slot.pod, IfUnchanged: t.ifUnchanged, Reason: t.reason,
		}})
	}
	return lanes
}
