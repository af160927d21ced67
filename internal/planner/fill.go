package planner

import (
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// minLifetime is how old a pod gets at least before it is replaced because it
// has ended. A pod that no node admits fails at once; without this it would be
// deleted and created as fast as the API server answers.
const minLifetime = 10 * time.Second

// fill brings the slots up, from the lowest ordinal, as far as the creation gate
// lets it.
func (d *decision) fill(verdict verdict) []plan.Lane {
	if verdict.holdsFill {
		return nil
	}
	var lanes []plan.Lane
	gate := d.creationGate()
	for i := range d.fleet.slots {
		s := &d.fleet.slots[i]
		if !gate.isOpen() {
			break
		}
		if lane := d.fillSlot(s); len(lane) > 0 && !s.isTaken {
			lanes = append(lanes, lane)
		}
		gate.pass(s)
	}
	return lanes
}

// fillSlot is what one slot needs to have a pod that can run: first match wins.
func (d *decision) fillSlot(s *slot) plan.Lane {
	switch {
	case s.isMissing():
		return d.createPod(s)
	case s.state.HasEnded() && s.replaceableAt().After(d.now):
		return nil
	case s.state.HasEnded():
		return plan.Lane{plan.DeletePod{Ordinal: s.ordinal, Pod: s.pod, Reason: whyEnded(s)}}
	case s.needsClaims():
		return d.missingClaims(s)
	default:
		return nil
	}
}

// createPod creates what a slot lacks, claims first. A slot whose name or claim
// is in other hands stays empty for now.
func (d *decision) createPod(s *slot) plan.Lane {
	if stranger := d.ownership.strangers[s.ordinal]; stranger != nil {
		d.blockers.nameTaken(stranger, d.set)
		return nil
	}
	if claim := d.doomedClaim(s); claim != nil {
		d.blockers.claimDoomed(claim)
		return nil
	}
	template, err := d.history.templateOf(s.wanted, d.set)
	if err != nil {
		d.blockers.unreadable(err)
		return nil
	}
	lane := append(d.missingClaims(s), d.claimOwners(s)...)
	return append(lane, plan.CreatePod{
		Ordinal:  s.ordinal,
		Revision: s.wanted,
		Pod:      podbuild.Pod(d.set, template, s.wanted, s.ordinal),
		Reason:   plan.Because(plan.SlotMissing, "slot %d has no pod", s.ordinal),
	})
}

// replaceableAt is when a pod that has ended may be replaced.
func (s *slot) replaceableAt() time.Time { return s.pod.CreationTimestamp.Add(minLifetime) }

func whyEnded(s *slot) plan.Reason {
	verb := "failed"
	if s.state.Class == podstate.Succeeded {
		verb = "ended"
	}
	detail := ""
	if s.pod.Status.Reason != "" {
		detail = fmt.Sprintf(" (%s)", s.pod.Status.Reason)
	}
	return plan.Because(plan.PodEnded, "it has %s%s and will never run again", verb, detail)
}
