package planner

// tally counts the slots. All budgets are taken from it, and nothing else counts.
type tally struct {
	// unavailable slots have no available pod, those below the partition included.
	unavailable int
	// inFlight slots are on their way to the revision they want.
	inFlight int
	// unreached slots are in flight, but below the partition.
	unreached int
	// outdated slots hold a pod that the update has to replace. One below the
	// partition keeps what it has and does not count.
	outdated int
	missing  int
}

func count(slots []slot) tally {
	var t tally
	for i := range slots {
		t.add(&slots[i])
	}
	return t
}

func (t *tally) add(s *slot) {
	if !s.isAvailable() {
		t.unavailable++
	}
	if s.isInFlight() {
		t.inFlight++
		if !s.isUpdated {
			t.unreached++
		}
	}
	if s.isUpdated && s.isOutdated() {
		t.outdated++
	}
	if s.isMissing() {
		t.missing++
	}
}

// budget is a number of pods that may be taken down.
type budget struct{ left int }

// newBudget returns what maxUnavailable leaves when some of it is used already.
func newBudget(maxUnavailable, used int) *budget {
	return &budget{left: max(0, maxUnavailable-used)}
}

// spend takes one pod from the budget, if it has one left.
func (b *budget) spend() bool {
	if b.left == 0 {
		return false
	}
	b.left--
	return true
}

// creationGate is the rule by which slots are filled in ascending order. Parallel
// keeps it open. OrderedReady closes it behind the first slot that is not
// available; during an update it lets as many such slots pass as the budget has,
// provided that each is in flight: so a batch that was taken down together
// comes up together.
type creationGate struct {
	isParallel  bool
	allowance   int
	unavailable int
	isBlocked   bool
}

func (d *decision) creationGate() creationGate {
	gate := creationGate{isParallel: d.settings.isParallel, allowance: 1}
	if d.isUpdating() {
		gate.allowance = d.settings.budget
	}
	return gate
}

// isOpen tells whether the next slot may be filled.
func (g *creationGate) isOpen() bool {
	return g.isParallel || g.unavailable == 0 || (!g.isBlocked && g.unavailable < g.allowance)
}

// pass notes a slot that lies below all that follow.
func (g *creationGate) pass(s *slot) {
	if s.isAvailable() {
		return
	}
	g.unavailable++
	if !s.isInFlight() {
		g.isBlocked = true
	}
}

// isUpdating tells whether an update is going on, one back to the current
// revision included.
func (d *decision) isUpdating() bool {
	return d.history.currentName() != d.history.targetName() || d.fleet.tally.outdated > 0
}
