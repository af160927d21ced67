// Package simulation is a model of everything around the planner, to find out
// what the planner does in every situation there is.
//
// A World is one situation: the truth as the API server stores it, what the
// controller sees of it and remembers of its own writes, the time. A Step is
// one thing that can happen next: a node starts a pod, a user edits the set, a
// view catches up, the controller decides and writes, or dies doing so. Both
// are plain data, and
//
//	Apply: World, Step -> World, Transition
//
// is a pure function, so a list of steps is a trace that replays exactly.
//
// The decisions are those of the real planner.Compute and planner.Conclude; the
// order of the writes is that of internal/execute, the rules for views that lag
// are those of internal/observe. The model adds an API server (name conflicts,
// graceful deletion, preconditions on UID and version, generations, finalizers),
// the garbage collector, nodes and users.
//
// What must hold is said in invariants.go, one function per property. Explore
// tries every order of steps within the bounds of a Scenario, Walk one of many
// in a big one; both end at the first violation, with a trace that Shrink makes
// as short as it gets. Whether all ends well once nothing goes wrong any more is
// judged by Liveness.
package simulation
