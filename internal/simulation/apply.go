package simulation

import (
	"fmt"
	"strings"
)

// Transition is what happened in a step, for the properties to judge.
type Transition struct {
	Step          Step
	Before, After *World
	// Decision is what the controller decided or acted upon; nil if it did neither.
	Decision *Decision
	// Writes are those of the step, in order.
	Writes []Write
	// Ended is the run that came to its end; nil if none did.
	Ended *Run
	// Err is why the controller could not decide.
	Err error
}

// Begin makes the first world of a scenario.
func Begin(scenario *Scenario) (*World, error) {
	w := &World{Scenario: scenario, Now: epoch, deadlines: deadlinesOf(scenario)}
	if err := w.putSet(); err != nil {
		return nil, fmt.Errorf("begin the scenario: %w", err)
	}
	w.crash() // the process starts after the set was made
	if scenario.Scratch {
		return w, nil
	}
	rested, err := bringToRest(w)
	if err != nil {
		return nil, fmt.Errorf("begin the scenario: %w", err)
	}
	rested.Now = rested.Now.Add(haltGrace + tick) // old enough to be beyond every deadline
	return rested, nil
}

// Apply lets a step happen in a world, which stays as it is. The error says that
// it can't happen there.
func Apply(before *World, step Step) (*Transition, error) {
	after := *before
	after.foreseen = nil
	t := &Transition{Step: step, Before: before, After: &after}
	if err := t.happen(&after); err != nil {
		return nil, fmt.Errorf("%s: %w", step, err)
	}
	after.settle()
	return t, nil
}

// happen dispatches a step to who does it.
func (t *Transition) happen(w *World) error {
	switch verb := t.Step.Verb; verb {
	case Reconcile, Crash, Refuse, Lose, Blur:
		return t.reconcile(w)
	case Decide:
		return t.decide(w)
	case Proceed:
		return t.proceed(w)
	case See:
		w.see(Kind(t.Step.On))
		return nil
	case Relist:
		w.Faults++
		w.Controller.View.take(Kind(t.Step.On), w.Controller.Before)
		return nil
	case Tick:
		w.Now = w.Now.Add(tick)
		return nil
	case Edit:
		return t.edit(w)
	default:
		return t.happenToObject(w)
	}
}

// reconcile decides and carries the plan out, up to the write that goes wrong.
func (t *Transition) reconcile(w *World) error {
	if w.Controller.Run != nil {
		return fmt.Errorf("a plan is under way")
	}
	if t.Step.Verb != Reconcile {
		w.Faults++
	}
	if err := t.decide(w); err != nil || t.Err != nil {
		return err
	}
	for w.Controller.Run != nil {
		if t.Step.Verb == Crash && len(t.Writes) == t.Step.At {
			w.crash()
			return nil
		}
		upset := Reconcile
		if len(t.Writes) == t.Step.At {
			upset = t.Step.Verb
		}
		t.advance(w, w.Controller.Run.open()[0], upset)
	}
	return nil
}

// decide begins a run. That the view is behind is not an error of the step.
func (t *Transition) decide(w *World) error {
	if w.Controller.Run != nil {
		return fmt.Errorf("a plan is under way")
	}
	t.Decision, t.Err = w.decideOnce(t.Before.foreseen)
	if t.Err == nil {
		w.Controller.Run = begin(t.Decision)
	}
	return nil
}

// proceed lets the run under way make the write of a lane, or die before it.
func (t *Transition) proceed(w *World) error {
	run := w.Controller.Run
	if run == nil {
		return fmt.Errorf("no plan is under way")
	}
	t.Decision = run.Decision
	open := run.open()
	upset := Verb(t.Step.On)
	if upset != "" {
		w.Faults++
	}
	if upset == Crash {
		w.crash()
		return nil
	}
	t.advance(w, open[t.Step.At%len(open)], upset)
	return nil
}

// advance makes one write, and takes down how the run ended if it did. A status
// that is no news costs no write.
func (t *Transition) advance(w *World, lane int, upset Verb) {
	before := w.Truth
	write, run := w.proceed(lane, upset)
	if lane != statusLane || write.Err != nil || before.Set != w.Truth.Set {
		t.Writes = append(t.Writes, write)
	}
	if run.isDone {
		t.Ended = run
	}
}

func (t *Transition) edit(w *World) error {
	if w.Edits == len(w.Scenario.Edits) {
		return fmt.Errorf("the scenario has no more edits")
	}
	text := w.Scenario.Edits[w.Edits]
	if !w.isPossible(text) {
		return fmt.Errorf("%q is not possible now", text)
	}
	w.Edits++
	return w.edit(text)
}

// happenToObject is a step of nodes, users or the garbage collector.
func (t *Transition) happenToObject(w *World) error {
	if isMishap(t.Step.Verb) {
		w.Mishaps++
	}
	switch t.Step.Verb {
	case Squat:
		w.squat(t.Step.On)
		return nil
	case Collect:
		kind, name, _ := strings.Cut(t.Step.On, "/")
		if !w.exists(Kind(kind), name) {
			return fmt.Errorf("there is no such object")
		}
		w.collect(Kind(kind), name)
		return nil
	case DropClaim:
		claim := find(w.Truth.Claims, t.Step.On)
		if claim == nil {
			return fmt.Errorf("there is no such claim")
		}
		w.deleteClaim(claim)
		return nil
	}
	pod := find(w.Truth.Pods, t.Step.On)
	if pod == nil || !suits(t.Step.Verb, pod) {
		return fmt.Errorf("there is no such pod, or it can't happen to it")
	}
	w.happenTo(t.Step.Verb, pod)
	return nil
}

// exists tells whether an object is stored.
func (w *World) exists(kind Kind, name string) bool {
	switch kind {
	case Pods:
		return find(w.Truth.Pods, name) != nil
	case Claims:
		return find(w.Truth.Claims, name) != nil
	case Revisions:
		return find(w.Truth.Revisions, name) != nil
	default:
		return w.Truth.Set != nil
	}
}
