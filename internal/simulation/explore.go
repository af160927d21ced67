package simulation

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
	seen     map[Digest]struct{}
	nodes    []node
	// frontier are the worlds to go on from, and their nodes.
	frontier []waiting
	liveness *Liveness
	report   Report
}

// waiting is a world whose successors are still to be visited.
type waiting struct {
	world *World
	node  int
	depth int
}

// Explore visits every world that the scenario leads to, breadth first, but no
// more than maxStates. It judges every transition, and lets every world come to
// rest to judge where that ends. It stops at the first violation, the trace to
// which is therefore one of the shortest.
func Explore(scenario *Scenario, maxStates int) (Report, error) {
	first, err := Begin(scenario)
	if err != nil {
		return Report{}, err
	}
	s := &search{scenario: scenario, seen: map[Digest]struct{}{}, liveness: NewLiveness()}
	s.visit(first, node{parent: -1}, 0)
	for len(s.frontier) > 0 && s.report.Counterexample == nil && s.report.States < maxStates {
		next := s.frontier[0]
		s.frontier[0] = waiting{}
		s.frontier = s.frontier[1:]
		s.expand(next)
	}
	s.report.IsComplete = len(s.frontier) == 0 && s.report.Counterexample == nil
	return s.report, nil
}

// expand visits all successors of a world.
func (s *search) expand(from waiting) {
	writes := 0
	for _, step := range from.world.Enabled() {
		t := s.try(from, step)
		if t != nil && step.Verb == Reconcile {
			writes = len(t.Writes)
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
	if _, isKnown := s.seen[digest]; isKnown {
		return
	}
	s.seen[digest] = struct{}{}
	s.report.States++
	s.report.Depth = max(s.report.Depth, depth)
	s.nodes = append(s.nodes, reached)
	s.frontier = append(s.frontier, waiting{world: w, node: len(s.nodes) - 1, depth: depth})
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
