package simulation

import (
	"fmt"
	"strings"
)

// Trace is a scenario and what happened in it.
type Trace struct {
	Scenario *Scenario
	Steps    []Step
}

// String writes the trace as ParseTrace reads it: the scenario, then a step per
// line. What follows a # is a remark.
func (t Trace) String() string {
	var b strings.Builder
	b.WriteString(t.Scenario.String())
	for _, step := range t.Steps {
		fmt.Fprintln(&b, step)
	}
	return b.String()
}

// ParseTrace reads a trace.
func ParseTrace(text string) (Trace, error) {
	var head strings.Builder
	var steps []Step
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case isScenarioLine(line):
			head.WriteString(line + "\n")
		default:
			step, err := ParseStep(line)
			if err != nil {
				return Trace{}, err
			}
			steps = append(steps, step)
		}
	}
	scenario, err := ParseScenario(head.String())
	if err != nil {
		return Trace{}, err
	}
	return Trace{Scenario: scenario, Steps: steps}, nil
}

// Replay lets the steps of a trace happen and judges each, and in the end whether
// all would go well from there. It calls watch, if given, with every transition. The violation is nil if
// every property holds; the error says that a step can't happen.
func Replay(trace Trace, watch func(*Transition)) (*World, *Violation, error) {
	w, err := Begin(trace.Scenario)
	if err != nil {
		return nil, nil, err
	}
	for i, step := range trace.Steps {
		t, err := Apply(w, step)
		if err != nil {
			return w, nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if watch != nil {
			watch(t)
		}
		w = t.After
		if violation := Judge(t); violation != nil {
			return w, violation, nil
		}
	}
	return w, NewLiveness().Judge(w), nil
}

// Shrink leaves out of a trace every step that the violation of the same property
// does not need.
func Shrink(found Counterexample) Counterexample {
	for size := max(1, len(found.Trace.Steps)/2); size > 0; size /= 2 {
		for from := 0; from < len(found.Trace.Steps); {
			shorter := found.Trace.cut(from, min(from+size, len(found.Trace.Steps)))
			_, violation, err := Replay(shorter, nil)
			if err == nil && violation != nil && violation.Property == found.Violation.Property {
				found = Counterexample{Trace: shorter, Violation: violation}
			} else {
				from += size
			}
		}
	}
	return found
}

// cut leaves out some steps.
func (t Trace) cut(from, to int) Trace {
	steps := append([]Step(nil), t.Steps[:from]...)
	return Trace{Scenario: t.Scenario, Steps: append(steps, t.Steps[to:]...)}
}
