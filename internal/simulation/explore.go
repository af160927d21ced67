package simulation

import "fmt"

// Report is what a search saw.
type Report struct {
	// States are the different worlds, Transitions the steps between them.
	States, Transitions int
	// Depth is the length of the longest of the shortest traces.
	Depth int
	// Edits, Mishaps and Faults are how many a walk met.
	Edits, Mishaps, Faults int
	// IsComplete: the search saw everything within its bounds.
	IsComplete bool
	// Counterexample is how a property was violated; nil if none was.
	Counterexample *Counterexample
}

// Counterexample is a trace that ends in a violation.
type Counterexample struct {
	Trace     Trace
	Violation *Violation
}

// node is a world that the search has seen, by how it got there.
type node struct {
	parent int
	step   Step
}

// search is one exploration.
type search struct {
	scenario *Scenario
	seen     map[Digest]costs
	nodes    []node
	// frontier are the worlds to go on from, by how much has gone wrong in them.
	frontier [][]waiting
	liveness *Liveness
	report   Report
}

// waiting is a world whose successors are still to be visited.
type waiting struct {
	world  *World
	digest Digest
	node   int
	depth  int
}

// Explore visits every world that the scenario leads to, but no more than
// maxStates. It judges every transition, and lets every world come to rest to
// judge where that ends.
//
// Worlds in which less has gone wrong come first, and those of them that take
// fewer steps. So a world need not be visited again when it is reached with more
// mishaps and faults behind it: all that can still happen there can happen where
// fewer of them are used up. The search stops at the first violation, the trace
// to which is therefore one of the simplest.
func Explore(scenario *Scenario, maxStates int) (Report, error) {
	if scenario.MaxMishaps > maxCost || scenario.MaxFaults > maxCost {
		return Report{}, fmt.Errorf("explore a scenario: at most %d mishaps and as many faults can be told apart", maxCost)
	}
	first, err := Begin(scenario)
	if err != nil {
		return Report{}, err
	}
	s := &search{
		scenario: scenario, seen: map[Digest]costs{}, liveness: NewLiveness(),
		frontier: make([][]waiting, scenario.MaxMishaps+scenario.MaxFaults+1),
	}
	s.visit(first, node{parent: -1}, 0)
	next, isLeft := s.next()
	for ; isLeft && s.report.Counterexample == nil && s.report.States < maxStates; next, isLeft = s.next() {
		s.expand(next)
	}
	s.report.IsComplete = !isLeft && s.report.Counterexample == nil
	return s.report, nil
}

// next takes a world from the frontier: one of those in which least went wrong,
// and of those the first that was reached.
func (s *search) next() (waiting, bool) {
	for i, worlds := range s.frontier {
		for len(worlds) > 0 {
			first := worlds[0]
			worlds[0] = waiting{}
			worlds = worlds[1:]
			s.frontier[i] = worlds
			if !s.seen[first.digest].beat(first.world.Mishaps, first.world.Faults) {
				return first, true
			}
		}
	}
	return waiting{}, false
}

// expand visits all successors of a world. What may go wrong with its reconcile
// goes wrong with one and the same decision.
func (s *search) expand(from waiting) {
	writes := 0
	for _, step := range from.world.Enabled() {
		t := s.try(from, step)
		if t != nil && step.Verb == Reconcile {
			writes = len(t.Writes)
			from.world.foresee(t.Decision)
		}
	}
	for _, step := range from.world.Upsets(writes) {
		s.try(from, step)
	}
}

// try makes a step, judges it, and visits where it leads.
func (s *search) try(from waiting, step Step) *Transition {
	if s.report.Counterexample != nil {
		return nil
	}
	t, err := Apply(from.world, step)
	if err != nil {
		return nil
	}
	s.report.Transitions++
	reached := node{parent: from.node, step: step}
	if violation := Judge(t); violation != nil {
		s.fail(violation, reached)
		return nil
	}
	s.visit(t.After, reached, from.depth+1)
	return t
}

// visit takes down a world that was not seen before.
func (s *search) visit(w *World, reached node, depth int) {
	digest := w.Digest()
	known := s.seen[digest]
	if known.cover(w.Mishaps, w.Faults) {
		return
	}
	s.seen[digest] = known.with(w.Mishaps, w.Faults)
	s.report.States++
	s.report.Depth = max(s.report.Depth, depth)
	s.nodes = append(s.nodes, reached)
	wrong := w.Mishaps + w.Faults
	s.frontier[wrong] = append(s.frontier[wrong], waiting{world: w, digest: digest, node: len(s.nodes) - 1, depth: depth})
	if violation := s.liveness.Judge(w); violation != nil {
		s.fail(violation, reached)
	}
}

// fail ends the search with the trace to a node.
func (s *search) fail(violation *Violation, last node) {
	trace := Trace{Scenario: s.scenario}
	for at := last; at.step != (Step{}); at = s.nodes[at.parent] {
		trace.Steps = append([]Step{at.step}, trace.Steps...)
	}
	s.report.Counterexample = &Counterexample{Trace: trace, Violation: violation}
}
