// Package nodes plays the nodes of a cluster: it registers them, keeps their
// leases, moves the pods that the real scheduler puts on them through their
// lives, and finishes their deletion. No container runs.
//
// The rule: what a pod's status should be is a pure function of the life its
// annotations or image ask for and of how long the pod has been here (life.go,
// stage.go). The simulator compares that with the status it sees and writes the
// difference. Every write names the UID of the pod it means, so a pod recreated
// under the same name is never touched by what was meant for its predecessor.
package nodes
