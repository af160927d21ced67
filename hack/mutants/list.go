package main

// mutant is one mistake: in a file, a text that occurs once, and what it becomes.
type mutant struct {
	name, file, from, to string
}

// mutants are mistakes that controllers like this one have made, or could.
var mutants = []mutant{
	{
		"a delete without the UID", "internal/planner/strategy.go",
		"\t\tlanes = append(lanes, plan.Lane{plan.DeletePod{\n\t\t\tOrdinal: t.slot.ordinal, Pod: t.slot.pod,",
		"\t\tnameless := t.slot.pod.DeepCopy()\n\t\tnameless.UID = \"\"\n\t\tlanes = append(lanes, plan.Lane{plan.DeletePod{\n\t\t\tOrdinal: t.slot.ordinal, Pod: nameless,",
	},
	{
		"ready counts as available", "internal/planner/fleet.go",
		"return s.state.IsAvailable() }", "return s.state.Ready && !s.isTerminating() }",
	},
	{
		"no live read before Recreate creates", "internal/planner/strategy_recreate.go",
		"if isFirst && !d.observation.Live.Pods {", "if isFirst && d.observation.Live.Pods && !d.observation.Live.Pods {",
	},
	{
		"Recreate ignores terminating pods", "internal/planner/strategy_recreate.go",
		"!s.isMissing() && s.revision != d.history.targetName()", "!s.isMissing() && !s.isTerminating() && s.revision != d.history.targetName()",
	},
	{
		"the partition is off by one", "internal/planner/settings.go",
		"return s.slots.Start + s.partition }", "return s.slots.Start + s.partition - 1 }",
	},
	{
		"the partition forgets the start ordinal", "internal/planner/settings.go",
		"return s.slots.Start + s.partition }", "return s.partition }",
	},
	{
		"no wake-up for minReadySeconds", "internal/planner/wakeup.go",
		"\t\tat = earlier(at, s.state.AvailableAt)\n", "",
	},
	{
		"no wake-up for the progress timeout", "internal/planner/strategy_timeout.go",
		"v.wakeAt = earlier(v.wakeAt, deadline)", "_ = deadline",
	},
	{
		"no wake-up for pods that have just ended", "internal/planner/wakeup.go",
		"at = earlier(at, s.replaceableAt())", "_ = s",
	},
	{
		"the budget forgets what is down", "internal/planner/strategy_rolling.go",
		"newBudget(d.settings.budget, d.fleet.tally.unavailable)", "newBudget(d.settings.budget, 0)",
	},
	{
		"an ordered update does not wait", "internal/planner/strategy_rolling.go",
		"if d.fleet.tally.unavailable > 0 || len(d.fleet.condemned) > 0 {", "if len(d.fleet.condemned) > 0 {",
	},
	{
		"an ordered update does not wait for scaling", "internal/planner/strategy_rolling.go",
		"if d.fleet.tally.unavailable > 0 || len(d.fleet.condemned) > 0 {", "if d.fleet.tally.unavailable > 0 {",
	},
	{
		"replacements are counted after the delete", "internal/planner/strategy_timeout.go",
		"v.statusFirst = true", "v.statusFirst = false",
	},
	{
		"the timeout takes pods that were ready", "internal/planner/strategy_timeout.go",
		"s.isTerminating() || podstate.WasReady(s.pod) {\n\t\t\tcontinue", "s.isTerminating() || s.isAvailable() {\n\t\t\tcontinue",
	},
	{
		"the timeout's delete has no precondition", "internal/planner/strategy_timeout.go",
		"ifUnchanged: true", "ifUnchanged: false",
	},
	{
		"the timeout tries four times", "internal/planner/strategy_timeout.go",
		"const maxReplacements = 3", "const maxReplacements = 4",
	},
	{
		"no safety halt", "internal/planner/strategy_enforced.go",
		"return top.isUpdated && !top.isMissing()", "return false && top.isUpdated && !top.isMissing()",
	},
	{
		"Enforced waits for broken pods", "internal/planner/strategy_enforced.go",
		"newBudget(d.settings.budget, e.used(d, s)+inTheWay+len(taken))", "newBudget(d.settings.budget, d.fleet.tally.unavailable+inTheWay+len(taken))",
	},
	{
		"updated pods are candidates", "internal/planner/fleet.go",
		"if s.isUpdated && s.isOutdated() && !yield(s) {", "if s.isUpdated && s.pod != nil && !yield(s) {",
	},
	{
		"paused is ignored", "internal/planner/strategy.go",
		"\tif d.settings.isPaused {\n\t\tverdict.takeDowns", "\tif d.settings.isPaused && d.isDeleting() {\n\t\tverdict.takeDowns",
	},
	{
		"revisions of pods are not live", "internal/planner/history.go",
		"live[member.pod.Labels[v1.RevisionLabel]] = true", "_ = member",
	},
	{
		"complete before all is available", "internal/planner/status.go",
		"if d.fleet.tally.unavailable > 0 || len(d.fleet.condemned) > 0 || d.settings.partition > 0 {", "if len(d.fleet.condemned) > 0 || d.settings.partition > 0 {",
	},
	{
		"ordered scale-down all at once", "internal/planner/scale.go",
		"if i > 0 || d.isHeldUp() {", "if d.isHeldUp() {",
	},
	{
		"ordered creation does not wait", "internal/planner/budget.go",
		"return g.isParallel || g.unavailable == 0", "return g.isParallel || g.unavailable <= 1",
	},
	{
		"pods on claims that go", "internal/planner/fill.go",
		"if claim := d.doomedClaim(s); claim != nil {", "if claim := d.doomedClaim(s); claim != nil && d.isDeleting() {",
	},
	{
		"claims of slots belong to their pods", "internal/podbuild/claim.go",
		"isOutside := !ordinal.RangeOf(set).Contains(number)", "isOutside := set != nil || !ordinal.RangeOf(set).Contains(number)",
	},
	{
		"numbers of revisions do not grow", "internal/revision/revision.go",
		"return sorted[len(sorted)-1].Revision + 1", "return sorted[len(sorted)-1].Revision",
	},
	{
		"two revisions keep one number", "internal/planner/history.go",
		"case last > 0 && h.sorted[last-1].Revision == found.Revision:", "case last < 0:",
	},
	{
		"Recreate without its gate", "internal/planner/settings.go",
		"asked == v1.RecreateStrategy && gates.Recreate,", "asked == v1.RecreateStrategy,",
	},
	{
		"maxUnavailable without its gate", "internal/planner/settings.go",
		"case gates.MaxUnavailable:", "case gates.MaxUnavailable || maxUnavailable != nil:",
	},
	{
		"a failed revision is no reason to stop", "internal/planner/steps.go",
		"{Purpose: plan.PurposeRevision, Pace: plan.InTurn, Essential: true,", "{Purpose: plan.PurposeRevision, Pace: plan.InTurn, Essential: false,",
	},
	{
		"a status that claims what failed", "internal/planner/conclude.go",
		"case plan.CreateRevision, plan.BumpRevision:\n\t\t\tdisclaimTarget(&status, observation.Set.Status, failure)", "case plan.CreateRevision, plan.BumpRevision:",
	},
	{
		"succeeded pods are ignored", "internal/podstate/podstate.go",
		"return s.Class == Failed || s.Class == Succeeded }", "return s.Class == Failed }",
	},
	{
		"adoption without a live read", "internal/planner/planner.go",
		"d.ownership.adopts() && !live.Set,", "d.ownership.adopts() && live.Set && !live.Set,",
	},
	{
		"update before scale-down", "internal/planner/steps.go",
		"return withoutEmpty(steps)", "steps[2], steps[6] = steps[6], steps[2]\n\treturn withoutEmpty(steps)",
	},
	{
		"pods of a set that goes are replaced", "internal/planner/planner.go",
		"\tif d.isDeleting() {\n\t\treturn d.conclusion(nil, verdict{})\n\t}\n", "",
	},
}
