package nodes

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusOf is the status of a pod at a stage of its life. What has not changed keeps its times.
func statusOf(pod *corev1.Pod, at stage, ip string, now time.Time) corev1.PodStatus {
	moment := metav1.NewTime(now)
	status := corev1.PodStatus{
		Phase:                 phaseOf(at),
		StartTime:             pod.Status.StartTime,
		HostIP:                hostIP,
		HostIPs:               []corev1.HostIP{{IP: hostIP}},
		Conditions:            conditionsOf(pod, at, moment),
		InitContainerStatuses: initStatusesOf(pod, at, moment),
		ContainerStatuses:     containerStatusesOf(pod, at, moment),
	}
	if status.StartTime == nil {
		status.StartTime = &moment
	}
	if at.running {
		status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	}
	if at.over == Failed {
		status.Reason, status.Message = "Evicted", "The node was low on resources, or so the simulator says."
	}
	return status
}

func phaseOf(at stage) corev1.PodPhase {
	switch {
	case at.over == Failed:
		return corev1.PodFailed
	case at.over == Succeeded:
		return corev1.PodSucceeded
	case at.running:
		return corev1.PodRunning
	default:
		return corev1.PodPending
	}
}

// conditionsOf are the conditions a kubelet reports; Ready also asks the pod's readiness gates.
func conditionsOf(pod *corev1.Pod, at stage, now metav1.Time) []corev1.PodCondition {
	started := at.running || at.over != ""
	ready := at.ready && gatesOpen(pod)
	return []corev1.PodCondition{
		conditionOf(pod, corev1.PodReadyToStartContainers, at.running, now),
		conditionOf(pod, corev1.PodInitialized, started, now),
		conditionOf(pod, corev1.ContainersReady, at.ready, now),
		conditionOf(pod, corev1.PodReady, ready, now),
	}
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType, is bool, now metav1.Time) corev1.PodCondition {
	want := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: now}
	if is {
		want.Status = corev1.ConditionTrue
	} else if kind == corev1.PodReady || kind == corev1.ContainersReady {
		want.Reason = "ContainersNotReady"
	}
	if had := findCondition(pod, kind); had != nil && had.Status == want.Status {
		want.LastTransitionTime = had.LastTransitionTime
	}
	return want
}

func findCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func gatesOpen(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		if c := findCondition(pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

func containerStatusesOf(pod *corev1.Pod, at stage, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range pod.Spec.Containers {
		statuses = append(statuses, containerStatusOf(&container, at, startedAt(pod, now)))
	}
	return statuses
}

// initStatusesOf shows init containers as done and sidecars as running, once the pod runs.
func initStatusesOf(pod *corev1.Pod, at stage, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range pod.Spec.InitContainers {
		is := at
		if at.running && !isSidecar(&container) {
			is = stage{over: Succeeded, ready: true}
		}
		statuses = append(statuses, containerStatusOf(&container, is, startedAt(pod, now)))
	}
	return statuses
}

func isSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func containerStatusOf(container *corev1.Container, at stage, since metav1.Time) corev1.ContainerStatus {
	runs := at.running && at.waiting == ""
	status := corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, ImageID: "simulated://" + container.Image,
		Ready: at.ready, Started: &runs, RestartCount: at.restarts,
	}
	switch {
	case at.over != "":
		status.State.Terminated = terminated(at.over, since)
	case at.waiting != "":
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: at.waiting, Message: waitingMessage(container, at)}
	default:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: since}
	}
	if at.waiting == "CrashLoopBackOff" {
		status.LastTerminationState.Terminated = terminated(Failed, since)
	}
	return status
}

func terminated(course Course, at metav1.Time) *corev1.ContainerStateTerminated {
	if course == Failed {
		return &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: at, FinishedAt: at}
	}
	return &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at}
}

func waitingMessage(container *corev1.Container, at stage) string {
	switch {
	case at.message != "":
		return at.message
	case at.waiting == "ImagePullBackOff":
		return fmt.Sprintf("Back-off pulling image %q", container.Image)
	case at.waiting == "CrashLoopBackOff":
		return fmt.Sprintf("back-off restarting failed container=%s", container.Name)
	default:
		return ""
	}
}

// startedAt is when the containers were first seen running, or now.
func startedAt(pod *corev1.Pod, now metav1.Time) metav1.Time {
	if len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Running != nil {
		return pod.Status.ContainerStatuses[0].State.Running.StartedAt
	}
	return now
}

// shows tells whether a pod's status already says what the stage is, so that nothing needs writing.
func shows(pod *corev1.Pod, at stage) bool {
	if pod.Status.Phase != phaseOf(at) || pod.Status.StartTime == nil || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	ready := findCondition(pod, corev1.PodReady)
	if ready == nil || (ready.Status == corev1.ConditionTrue) != (at.ready && gatesOpen(pod)) {
		return false
	}
	first := pod.Status.ContainerStatuses[0]
	waiting := ""
	if first.State.Waiting != nil {
		waiting = first.State.Waiting.Reason
	}
	return waiting == at.waiting && first.RestartCount == at.restarts && first.Ready == at.ready
}
