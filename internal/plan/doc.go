// Package plan is the language between the parts of the operator: what was
// observed, and what should be done about it. It is data and nothing else.
//
//	observe -> Observation -> planner.Compute -> Plan -> execute
//
// A Plan is a list of steps that run one after another; a step is a list of
// lanes, and a lane is the work on one object's behalf, in strict order. Two
// rules make a plan safe to abandon at any point:
//
//   - Every prefix of a plan is safe. A crash after any write leaves a state
//     from which the next observation leads on.
//   - A failed action ends its lane, so that no pod is created without its
//     claims and none is removed before its claims know their owner. What else
//     it ends is said by the step: the pace says whether other lanes of the
//     step go on, and Essential says whether later steps do. A refused create
//     never stops a scale-down.
//
// Objects in observations and plans are shared, not copied. Whoever receives
// one must not modify it.
package plan
