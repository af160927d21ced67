// Package judge tells from a history whether the operator kept its promises.
//
// A history is what watches showed of sets, pods, claims and revisions, in the
// order of their resourceVersions, which is the order in which the API server
// carried the changes out. The judge replays it and asks, at every change that
// only the operator makes, whether the properties of shared/invariants.md that
// bear on it hold in truth at that moment. It knows nothing of plans: why a pod
// was deleted follows from what the set asks for and from what the pod was.
//
// What a decision was made on is older than the moment it took effect. So an act
// may follow any spec from the one that the status says is observed up to the
// newest; one of them must justify it wholly. Pods are judged by the truth,
// without such allowance: nothing but the operator itself makes an available
// pod unavailable in the histories that are judged here, so what a lagging view
// hides from it is its own doing.
//
// What it can't see:
//
//   - which acts belong to one plan. A status write ends a plan, so acts on both
//     sides of one belong to different plans; acts without one in between get
//     the benefit of the doubt (R3, F2);
//   - requests that were refused or changed nothing, so neither preconditions
//     nor grace periods (G2), nor what was decided and not done (F1, C2, G8);
//   - who deleted a pod: what users deleted has to be told (History.ByUser);
//   - a pod that was created and removed while no watch was up.
package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Violation is a property that did not hold at a change.
type Violation struct {
	Property string
	Entry    Entry
	Err      error
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s at version %d, %s: %v", v.Property, v.Entry.Object.GetName(), v.Entry.Version, v.Entry.At.Format("15:04:05.000"), v.Err)
}

// Verdict is what the judge found.
type Verdict struct {
	// Checks counts how often each property was asked for.
	Checks     map[string]int
	Violations []Violation
}

// Total is the number of checks.
func (v Verdict) Total() int {
	total := 0
	for _, count := range v.Checks {
		total += count
	}
	return total
}

// String lists the properties with the number of checks, and the violations.
func (v Verdict) String() string {
	var out strings.Builder
	for _, property := range slices.Sorted(maps.Keys(v.Checks)) {
		fmt.Fprintf(&out, "%7d  %s\n", v.Checks[property], property)
	}
	for _, violation := range v.Violations {
		fmt.Fprintf(&out, "VIOLATION %s\n", violation)
	}
	return out.String()
}

// property is a promise about one kind of change.
type property[T any] struct {
	name  string
	holds func(T) error
}

// Judge replays a history.
func Judge(history History) Verdict {
	w := newWorld(history)
	for _, entry := range history.sorted() {
		w.see(entry)
	}
	return w.verdict
}

// ask asks all properties of a list about one change.
func ask[T any](w *world, entry Entry, properties []property[T], about T) {
	for _, p := range properties {
		w.verdict.Checks[p.name]++
		if err := p.holds(about); err != nil {
			w.verdict.Violations = append(w.verdict.Violations, Violation{p.name, entry, err})
		}
	}
}

// askAny asks all properties about one change under several readings of it, the
// newest first. One of them must satisfy all. It returns those that do, or the
// newest: which of them it was can't be known.
func askAny[T any](w *world, entry Entry, properties []property[T], readings []T) []T {
	isRefuted := func(reading T) bool { return !satisfies(properties, reading) }
	possible := slices.DeleteFunc(slices.Clone(readings), isRefuted)
	if len(possible) == 0 {
		possible = readings[:1]
	}
	ask(w, entry, properties, possible[0])
	return possible
}

func satisfies[T any](properties []property[T], reading T) bool {
	return !slices.ContainsFunc(properties, func(p property[T]) bool { return p.holds(reading) != nil })
}
