package simulation

// Walk takes steps at random, as many as given, and judges each; at the end it
// lets all come to rest. Unlike Explore it carries plans out write by write, in
// any order that their pace allows, with other steps in between, so it suits
// big sets. The same seed takes the same steps. The counterexample is nil if all
// properties hold.
func Walk(scenario *Scenario, seed uint64, steps int) (Report, error) {
	w, err := Begin(scenario)
	if err != nil {
		return Report{}, err
	}
	dice := dice(seed)
	report := Report{States: 1}
	trace := Trace{Scenario: scenario}
	for range steps {
		step := w.draw(&dice)
		t, err := Apply(w, step)
		if err != nil {
			continue // such as a collection that somebody else made unnecessary
		}
		trace.Steps = append(trace.Steps, step)
		report.States, report.Transitions = report.States+1, report.Transitions+1
		if violation := Judge(t); violation != nil {
			report.Counterexample = &Counterexample{Trace: trace, Violation: violation}
			return report, nil
		}
		w = t.After
	}
	if violation := NewLiveness().Judge(w); violation != nil {
		report.Counterexample = &Counterexample{Trace: trace, Violation: violation}
	}
	report.IsComplete = report.Counterexample == nil
	report.Edits, report.Mishaps, report.Faults = w.Edits, w.Mishaps, w.Faults
	return report, nil
}

// dice is a stream of numbers that follows from a seed, by the method known as
// splitmix.
type dice uint64

// roll returns a number below n.
func (d *dice) roll(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// draw picks a step. The controller and its views get as many chances as all
// pods together, or nothing would ever advance in a big set.
func (w *World) draw(dice *dice) Step {
	run := w.Controller.Run
	hasFaults := w.Faults < w.Scenario.MaxFaults && len(w.Scenario.Faults) > 0
	switch chance := dice.roll(100); {
	case run != nil && hasFaults && chance < 2:
		return w.drawFault(dice)
	case run != nil && chance < 60:
		return Step{Verb: Proceed, At: dice.roll(len(run.open()))}
	case run == nil && chance < 25:
		return Step{Verb: Decide}
	case chance < 70 && len(w.Scenario.Lags) > 0:
		return Step{Verb: See, On: string(w.Scenario.Lags[dice.roll(len(w.Scenario.Lags))])}
	default:
		return w.drawOther(dice)
	}
}

// drawFault picks what goes wrong with the plan under way or a view.
func (w *World) drawFault(dice *dice) Step {
	verb := w.Scenario.Faults[dice.roll(len(w.Scenario.Faults))]
	if verb == Relist {
		return Step{Verb: Relist, On: string(w.Scenario.Lags[dice.roll(len(w.Scenario.Lags))])}
	}
	return Step{Verb: Proceed, On: string(verb), At: dice.roll(len(w.Controller.Run.open()))}
}

// drawOther picks what anybody else does; mishaps and edits are rare.
func (w *World) drawOther(dice *dice) Step {
	var often, rarely []Step
	for _, step := range w.Enabled() {
		switch {
		case step.Verb == Reconcile || step.Verb == See:
		case isMishap(step.Verb) || step.Verb == Edit || step.Verb == Tick:
			rarely = append(rarely, step)
		default:
			often = append(often, step)
		}
	}
	if len(rarely) > 0 && (len(often) == 0 || dice.roll(10) == 0) {
		return rarely[dice.roll(len(rarely))]
	}
	if len(often) > 0 {
		return often[dice.roll(len(often))]
	}
	return Step{Verb: Tick}
}
