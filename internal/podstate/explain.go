package podstate

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Reasons that the kubelet gives for a container that waits.
const (
	crashLoop       = "CrashLoopBackOff"
	waitsForImage   = "ImagePullBackOff"
	failedToPull    = "ErrImagePull"
	hasBadImageName = "InvalidImageName"
	isMisconfigured = "CreateContainerConfigError"
	isBeingCreated  = "ContainerCreating"
	waitsForInit    = "PodInitializing"
)

// maxExplanation bounds texts that come from elsewhere, in bytes.
const maxExplanation = 256

// Describe says what a pod is doing and, if it is not available, why: "pending
// (ImagePullBackOff: container web, image web:typo)". The text changes only when
// something has changed that people would call news: no restarts are counted, no
// time is told, and a container that crashes, waits and runs in turn makes one
// text and not three.
func Describe(pod *corev1.Pod, state State) string {
	text, why := describeClass(pod, state.Class), Explain(pod)
	if state.IsAvailable() || why == "" {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, why)
}

func describeClass(pod *corev1.Pod, class Class) string {
	switch {
	case class == Running:
		return "running but not ready"
	case class == Ready:
		return "ready, but not yet for minReadySeconds"
	case class == Terminating && pod.Spec.NodeName != "":
		return "terminating on node " + pod.Spec.NodeName
	default:
		return class.String()
	}
}

// Explain says what keeps a pod from being ready, as far as its status tells, or
// "" if that tells nothing: first match wins.
func Explain(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	if pod.Status.Reason != "" {
		return pod.Status.Reason
	}
	if unscheduled := Unscheduled(pod); unscheduled != nil {
		return explainUnscheduled(unscheduled)
	}
	if container := Troubled(pod); container != nil {
		return explainContainer(container)
	}
	return ""
}

// Unscheduled returns the condition by which the scheduler says that it has no
// node for the pod, or nil.
func Unscheduled(pod *corev1.Pod) *corev1.PodCondition {
	condition := findCondition(pod, corev1.PodScheduled)
	if condition == nil || condition.Status != corev1.ConditionFalse || hasNoFuture(pod) {
		return nil
	}
	return condition
}

// explainUnscheduled leaves out what the scheduler adds about preemption: it says
// the same once more.
func explainUnscheduled(condition *corev1.PodCondition) string {
	message, _, _ := strings.Cut(condition.Message, " preemption:")
	return join(condition.Reason, message)
}

// Troubled returns the first container that keeps the pod from getting ready for
// a reason that it gives, init containers first, or nil. Of its status only what
// an explanation needs is left, in a form that lasts as long as the trouble: so
// it is also all that is worth being told about a container.
func Troubled(pod *corev1.Pod) *corev1.ContainerStatus {
	if hasNoFuture(pod) {
		return nil
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if reason := troubleOf(pod, &statuses[i]); reason != "" {
				return reduce(&statuses[i], reason)
			}
		}
	}
	return nil
}

// hasNoFuture tells whether nobody waits for the pod to get ready any more.
func hasNoFuture(pod *corev1.Pod) bool {
	class := classOf(pod)
	return class == Terminating || class == Failed || class == Succeeded
}

// troubleOf names the trouble that a container is in, or "". The kubelet
// alternates between ErrImagePull and ImagePullBackOff; that is one trouble.
func troubleOf(pod *corev1.Pod, status *corev1.ContainerStatus) string {
	waiting := status.State.Waiting
	switch {
	case status.Ready:
		return ""
	case waiting == nil && isCrashLooping(pod, status):
		return crashLoop
	case waiting == nil, waiting.Reason == isBeingCreated, waiting.Reason == waitsForInit:
		return ""
	case waiting.Reason == failedToPull:
		return waitsForImage
	default:
		return waiting.Reason
	}
}

const (
	// fewRestarts are no loop yet: the first crash is followed by a start at once.
	fewRestarts = 1
	// longRun is how long a container has to run for the kubelet to forgive its crashes.
	longRun = 10 * time.Minute
)

// isCrashLooping tells whether a container that does not wait is between two
// waits of a crash loop: it has just crashed once more, or runs again without
// having been of use since.
func isCrashLooping(pod *corev1.Pod, status *corev1.ContainerStatus) bool {
	end, run := status.State.Terminated, status.State.Running
	if run != nil {
		end = status.LastTerminationState.Terminated
		if ready := readyCondition(pod); ready != nil && ready.LastTransitionTime.After(run.StartedAt.Time) {
			return false
		}
	}
	return end != nil && status.RestartCount > fewRestarts && end.FinishedAt.Sub(end.StartedAt.Time) < longRun
}

// reduce leaves of a container's status the trouble it is in. Most messages name
// ids and delays, which are different every time, and are left out.
func reduce(status *corev1.ContainerStatus, trouble string) *corev1.ContainerStatus {
	reduced := &corev1.ContainerStatus{Name: status.Name}
	reduced.State.Waiting = &corev1.ContainerStateWaiting{Reason: trouble}
	switch trouble {
	case crashLoop:
		reduced.LastTerminationState.Terminated = lastEnd(status)
	case waitsForImage, hasBadImageName:
		reduced.Image = status.Image
	case isMisconfigured:
		reduced.State.Waiting.Message = status.State.Waiting.Message
	}
	return reduced
}

// lastEnd is how the container ended the last time.
func lastEnd(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	end := status.LastTerminationState.Terminated
	if end == nil {
		return nil
	}
	return &corev1.ContainerStateTerminated{ExitCode: end.ExitCode, Reason: end.Reason}
}

func explainContainer(status *corev1.ContainerStatus) string {
	waiting, end := status.State.Waiting, status.LastTerminationState.Terminated
	text := fmt.Sprintf("%s: container %s", waiting.Reason, status.Name)
	if status.Image != "" {
		text += ", image " + status.Image
	}
	if end != nil {
		text += fmt.Sprintf(", exit code %d", end.ExitCode)
	}
	if end != nil && end.Reason != "" && end.Reason != "Error" && end.Reason != "Completed" {
		text += ", " + end.Reason
	}
	return join(text, waiting.Message)
}

// join puts a text from elsewhere behind one of ours, on one line and within bounds.
func join(ours, theirs string) string {
	theirs = strings.TrimRight(strings.Join(strings.Fields(theirs), " "), ".")
	if len(theirs) > maxExplanation {
		theirs = strings.ToValidUTF8(theirs[:maxExplanation], "") + "..."
	}
	if ours == "" || theirs == "" {
		return ours + theirs
	}
	return ours + ": " + theirs
}

// UnreadySince is since when a pod that is not ready has not been: since it was
// last seen ready, or since it exists.
func UnreadySince(pod *corev1.Pod) time.Time {
	if WasReady(pod) {
		return readyCondition(pod).LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}
