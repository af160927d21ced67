// Package podstate classifies a pod at a point in time.
//
// A pod is in exactly one class, the first that applies:
//
//	Missing      there is no pod
//	Terminating  it is being deleted
//	Failed       it has ended, badly
//	Succeeded    it has ended, well
//	Pending      it has not started
//	Available    it runs and has been ready for minReadySeconds
//	Ready        it runs and is ready, but not for long enough yet
//	Running      it runs and is not ready
package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Class is the one word for what a pod is doing.
type Class int

// The classes in the order in which they are tried.
const (
	Missing Class = iota
	Terminating
	Failed
	Succeeded
	Pending
	Available
	Ready
	Running
)

// String returns the class as it stands in reasons and traces.
func (c Class) String() string {
	return [...]string{"missing", "terminating", "failed", "succeeded", "pending", "available", "ready", "running"}[c]
}

// State is what decisions want to know of a pod at a time.
type State struct {
	Class Class
	// Ready tells whether the pod runs and is ready, be it terminating or not.
	Ready bool
	// AvailableAt is when a pod of class Ready will become Available if it stays
	// ready; zero for all others.
	AvailableAt time.Time
}

// Classify returns the state of a pod, nil meaning that there is none.
func Classify(pod *corev1.Pod, minReady time.Duration, now time.Time) State {
	if pod == nil {
		return State{Class: Missing}
	}
	ready := readyCondition(pod)
	isReady := pod.Status.Phase == corev1.PodRunning && ready != nil && ready.Status == corev1.ConditionTrue
	class := classOf(pod)
	if class != Running || !isReady {
		return State{Class: class, Ready: isReady}
	}
	availableAt := ready.LastTransitionTime.Add(minReady)
	switch {
	case minReady <= 0, !ready.LastTransitionTime.IsZero() && !availableAt.After(now):
		return State{Class: Available, Ready: true}
	case ready.LastTransitionTime.IsZero():
		// Ready since nobody knows when: only a new transition can help.
		return State{Class: Ready, Ready: true}
	default:
		return State{Class: Ready, Ready: true, AvailableAt: availableAt}
	}
}

// classOf returns the class as far as it does not depend on readiness. A pod
// of phase Unknown counts as running: its node is only out of sight.
func classOf(pod *corev1.Pod) Class {
	switch {
	case pod.DeletionTimestamp != nil:
		return Terminating
	case pod.Status.Phase == corev1.PodFailed:
		return Failed
	case pod.Status.Phase == corev1.PodSucceeded:
		return Succeeded
	case pod.Status.Phase == corev1.PodPending, pod.Status.Phase == "":
		return Pending
	default:
		return Running
	}
}

// HasEnded tells whether nothing will ever run in the pod again.
func (s State) HasEnded() bool { return s.Class == Failed || s.Class == Succeeded }

// IsAvailable tells whether the pod serves.
func (s State) IsAvailable() bool { return s.Class == Available }

// WasReady tells whether the pod is or has been ready at any time. Its Ready
// condition is born False when the pod starts, so one that changed later was
// True in between. When the start is not known, the pod gets the benefit of the
// doubt.
func WasReady(pod *corev1.Pod) bool {
	ready := readyCondition(pod)
	switch {
	case ready == nil:
		return false
	case ready.Status == corev1.ConditionTrue:
		return true
	default:
		start := pod.Status.StartTime
		if start == nil {
			start = &pod.CreationTimestamp
		}
		return ready.LastTransitionTime.After(start.Time)
	}
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition { return findCondition(pod, corev1.PodReady) }

func findCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
