package preview

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// String says how long pods take, and how that is known.
func (p Pace) String() string {
	because := func(basis string) string {
		if basis == "" {
			return ""
		}
		return " (" + basis + ")"
	}
	return fmt.Sprintf("a pod takes %s%s to become ready and %s%s to stop", p.Start, because(p.StartBasis), p.Stop, because(p.StopBasis))
}

// PastStart is how long the pods that are ready now took from their creation
// until then: the median, and of how many. A pod whose containers were restarted
// got ready more than once, and says nothing about the first time.
func PastStart(pods []*corev1.Pod, now time.Time) (median time.Duration, count int) {
	var durations []time.Duration
	for _, pod := range pods {
		if took := startOf(pod, now); took >= 0 {
			durations = append(durations, took)
		}
	}
	if len(durations) == 0 {
		return 0, 0
	}
	slices.Sort(durations)
	return durations[len(durations)/2], len(durations)
}

// startOf is how long a pod took to get ready; negative if that can't be told.
func startOf(pod *corev1.Pod, now time.Time) time.Duration {
	const unknown = -1
	if !podstate.Classify(pod, 0, now).IsAvailable() {
		return unknown
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.RestartCount > 0 {
			return unknown
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Sub(pod.CreationTimestamp.Time)
		}
	}
	return unknown
}
