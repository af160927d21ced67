package judge

import "slices"

// ledger is what properties need to know of the past of a family.
type ledger struct {
	// down are the slots that an update took down while they were available, until
	// an available pod holds them again.
	down []downSlot
	// batch are the slots that an update took since the last status write.
	batch []int
	// timeouts count the pods that the progress timeout took, in a row.
	timeouts []timeouts
}

// downSlot is a slot taken down within a budget.
type downSlot struct{ ordinal, budget int }

// timeouts are the replacements of an ordinal at one target.
type timeouts struct {
	ordinal int
	image   string
	count   int
}

// take enters a pod that was deleted. Where there are several readings of why, the
// one counts that is best for the accused: it belongs to a batch if it may, and it
// counts against the budget or as a timeout only if it must.
func (l *ledger) take(readings []act) {
	if slices.ContainsFunc(readings, act.isForUpdate) {
		l.batch = append(l.batch, readings[0].pod.ordinal)
	}
	if slices.ContainsFunc(readings, func(a act) bool { return !a.isForUpdate() || a.why != readings[0].why }) {
		return
	}
	a := readings[0]
	isDown := slices.ContainsFunc(l.down, func(d downSlot) bool { return d.ordinal == a.pod.ordinal })
	if a.isBudgeted() && a.own().isAvailable() && !isDown {
		l.down = append(l.down, downSlot{a.pod.ordinal, a.budget})
	}
	if a.why == timedOut {
		next := timeouts{a.pod.ordinal, a.image, l.replacements(a.pod.ordinal, a.image) + 1}
		l.timeouts = slices.DeleteFunc(l.timeouts, func(t timeouts) bool { return t.ordinal == next.ordinal })
		l.timeouts = append(l.timeouts, next)
	}
}

// replacements is how many pods in a row the timeout has taken so far.
func (l *ledger) replacements(number int, image string) int {
	for _, t := range l.timeouts {
		if t.ordinal == number && t.image == image {
			return t.count
		}
	}
	return 0
}
