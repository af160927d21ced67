package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// troubled says what is wrong with the container that podstate singled out; the
// container's full status says more than the reduced one.
func (s *situation) troubled(at slot, reduced *corev1.ContainerStatus) Cause {
	status := containerStatus(at.pod, reduced.Name)
	trouble := reduced.State.Waiting.Reason
	since := podstate.UnreadySince(at.pod)
	switch trouble {
	case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable":
		image := imageOf(at.pod, reduced.Name)
		return about(ImagePull, at, "cannot get the image %s of container %s (%s)", image, reduced.Name, trouble).
			with(waitingMessage(status)).with(s.pullMessage(at)).since(since).mendedBy(s.describePod(at))
	case "CrashLoopBackOff":
		return s.crashing(at, status).since(since)
	case "CreateContainerConfigError", "CreateContainerError":
		return about(ConfigError, at, "cannot start container %s (%s)", reduced.Name, trouble).
			with(waitingMessage(status)).since(since).mendedBy(s.describePod(at))
	default:
		return about(ContainerWaiting, at, "waits with container %s (%s)", reduced.Name, trouble).
			with(waitingMessage(status)).since(since).mendedBy(s.describePod(at))
	}
}

// crashing says how the container ended the last time.
func (s *situation) crashing(at slot, status *corev1.ContainerStatus) Cause {
	cause := about(CrashLoop, at, "crashes: container %s, image %s, was restarted %s", status.Name, imageOf(at.pod, status.Name), times(status.RestartCount))
	end := status.LastTerminationState.Terminated
	if end == nil {
		end = status.State.Terminated
	}
	if end != nil {
		cause = cause.with(describeEnd(end)).with(oneLine(end.Message))
	}
	return cause.mendedBy(s.logs(at, status.Name, true), s.describePod(at))
}

func describeEnd(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("it last ended with exit code %d", end.ExitCode)
	if end.Signal != 0 {
		text = fmt.Sprintf("it was last ended by signal %d", end.Signal)
	}
	switch end.Reason {
	case "", "Error", "Completed":
	case "OOMKilled":
		text += " (OOMKilled: it wanted more memory than its limit)"
	default:
		text += " (" + end.Reason + ")"
	}
	return text
}

func times(n int32) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}

func containerStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == name {
				return &statuses[i]
			}
		}
	}
	return &corev1.ContainerStatus{Name: name}
}

// imageOf is the image as the pod asks for it, which is what its user wrote.
func imageOf(pod *corev1.Pod, name string) string {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if containers[i].Name == name {
				return containers[i].Image
			}
		}
	}
	return containerStatus(pod, name).Image
}

func waitingMessage(status *corev1.ContainerStatus) string {
	if status.State.Waiting == nil {
		return ""
	}
	return oneLine(status.State.Waiting.Message)
}

// pullMessage is what the registry said: a status alternates between that and
// "back-off", an event keeps it.
func (s *situation) pullMessage(at slot) string {
	if e := s.warning("Pod", at.name, "Failed"); e != nil {
		return oneLine(e.Message)
	}
	return ""
}
