package simulation

import "slices"

// mishaps are the verbs that a scenario has to allow.
var mishaps = []Verb{Unready, Fail, Succeed, Evict, Vanish, Hold, Unlabel, Orphan, Squat, DropClaim}

func isMishap(verb Verb) bool { return slices.Contains(mishaps, verb) }

// ordinary are the steps that happen to pods in any scenario.
var ordinary = []Verb{Start, Recover, Finish, Free, Leave}

// Enabled lists what can happen next, but for what goes wrong with the writes of
// a plan: see Upsets.
func (w *World) Enabled() []Step {
	var steps []Step
	if w.Controller.Run == nil {
		steps = append(steps, Step{Verb: Reconcile})
	}
	for _, kind := range w.Scenario.Lags {
		if !w.Controller.View.shows(kind, w.Truth) {
			steps = append(steps, Step{Verb: See, On: string(kind)})
		}
	}
	if w.Edits < len(w.Scenario.Edits) && w.isPossible(w.Scenario.Edits[w.Edits]) {
		steps = append(steps, Step{Verb: Edit})
	}
	steps = append(steps, w.podSteps(ordinary)...)
	for _, name := range w.garbage() {
		steps = append(steps, Step{Verb: Collect, On: name})
	}
	if w.isTimeRelevant() {
		steps = append(steps, Step{Verb: Tick})
	}
	if w.Mishaps < w.Scenario.MaxMishaps {
		steps = append(steps, w.mishaps()...)
	}
	return steps
}

// podSteps are the steps with these verbs that can happen to pods.
func (w *World) podSteps(verbs []Verb) []Step {
	var steps []Step
	for _, pod := range w.Truth.Pods {
		for _, verb := range verbs {
			if suits(verb, pod) {
				steps = append(steps, Step{Verb: verb, On: pod.Name})
			}
		}
	}
	return steps
}

// mishaps are those that the scenario allows.
func (w *World) mishaps() []Step {
	steps := w.podSteps(w.Scenario.Mishaps)
	if slices.Contains(w.Scenario.Mishaps, Squat) {
		for _, name := range w.missingNames() {
			steps = append(steps, Step{Verb: Squat, On: name})
		}
	}
	if slices.Contains(w.Scenario.Mishaps, DropClaim) {
		for _, claim := range w.Truth.Claims {
			if claim.DeletionTimestamp == nil {
				steps = append(steps, Step{Verb: DropClaim, On: claim.Name})
			}
		}
	}
	return steps
}

// Upsets lists what can go wrong with a reconcile that makes so many writes, and
// with views.
func (w *World) Upsets(writes int) []Step {
	if w.Faults >= w.Scenario.MaxFaults {
		return nil
	}
	var steps []Step
	for _, verb := range w.Scenario.Faults {
		if verb == Relist {
			steps = append(steps, w.relists()...)
			continue
		}
		for at := range writes {
			steps = append(steps, Step{Verb: verb, At: at})
		}
	}
	return steps
}

// relists are the views that can go back.
func (w *World) relists() []Step {
	var steps []Step
	for _, kind := range w.Scenario.Lags {
		if !w.Controller.View.shows(kind, w.Controller.Before) {
			steps = append(steps, Step{Verb: Relist, On: string(kind)})
		}
	}
	return steps
}
