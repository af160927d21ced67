package explain

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// longStart is how long a pod may be on its way, without a word about trouble,
// before its events are read for one.
const longStart = 30 * time.Second

// podCause says what keeps the pod of a slot from being available: first match
// wins. The slot has a pod, and it is not available.
func (s *situation) podCause(at slot) Cause {
	switch class := at.state.Class; {
	case class == podstate.Terminating:
		return s.terminating(at)
	case at.state.HasEnded():
		return s.ended(at)
	case class == podstate.Ready:
		return s.almostAvailable(at)
	}
	if node := s.lostNode(at.pod); node != nil {
		return s.onLostNode(at, node)
	}
	if claim, found := s.claimCause(at); found {
		return claim
	}
	if unscheduled := podstate.Unscheduled(at.pod); unscheduled != nil {
		return s.unscheduled(at, unscheduled)
	}
	if troubled := podstate.Troubled(at.pod); troubled != nil {
		return s.troubled(at, troubled)
	}
	if at.state.Class == podstate.Running {
		return s.notReady(at)
	}
	return s.starting(at)
}

// about begins a cause that is about a pod.
func about(code Code, at slot, format string, args ...any) Cause {
	return Cause{Code: code, Object: "pod/" + at.name, Text: "pod " + at.name + " " + fmt.Sprintf(format, args...)}
}

// almostAvailable: only time is missing.
func (s *situation) almostAvailable(at slot) Cause {
	cause := about(MinReadySeconds, at, "is ready and counts as available once it has been for minReadySeconds (%d s)", s.set.Spec.MinReadySeconds)
	cause.Passes = true
	return cause.since(readySince(at.pod)).until(at.state.AvailableAt)
}

func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// ended: the controller replaces the pod itself.
func (s *situation) ended(at slot) Cause {
	verb := "has failed"
	if at.state.Class == podstate.Succeeded {
		verb = "has ended, as if its work were done,"
	}
	if at.pod.Status.Reason != "" {
		verb += " (" + at.pod.Status.Reason + ")"
	}
	cause := about(Ended, at, "%s and is replaced", verb).with(oneLine(at.pod.Status.Message))
	cause.Passes = true
	return cause.mendedBy(s.describePod(at))
}

// starting: nothing is known to be wrong, unless an event says so.
func (s *situation) starting(at slot) Cause {
	since := at.pod.CreationTimestamp.Time
	if s.now.Sub(since) >= longStart {
		if e := s.warning("Pod", at.name); e != nil {
			code := ContainerWaiting
			if strings.Contains(e.Reason, "Mount") || strings.Contains(e.Reason, "Attach") {
				code = VolumeProblem
			}
			return about(code, at, "does not start: %s", e.Reason).with(oneLine(e.Message)).since(since).mendedBy(s.describePod(at))
		}
	}
	cause := about(Starting, at, "is starting")
	if at.pod.Spec.NodeName == "" {
		cause = about(Starting, at, "waits to be given a node")
	}
	cause.Passes = true
	return cause.since(since)
}

// notReady: the containers run, and the pod is not ready. For a moment that is
// nothing special.
func (s *situation) notReady(at slot) Cause {
	since := podstate.UnreadySince(at.pod)
	if s.now.Sub(since) < longStart {
		cause := about(Starting, at, "runs and is not ready yet")
		if podstate.WasReady(at.pod) {
			cause = about(NotReady, at, "is not ready any more").with(s.probeMessage(at))
		}
		cause.Passes = true
		return cause.since(since)
	}
	text := "runs but does not become ready"
	if podstate.WasReady(at.pod) {
		text = "runs but is not ready any more"
	}
	if gate := closedGate(at.pod); gate != "" {
		text += fmt.Sprintf(": its readiness gate %s is not true", gate)
	}
	return about(NotReady, at, "%s", text).with(s.probeMessage(at)).since(since).
		mendedBy(s.describePod(at), s.logs(at, "", false))
}

// probeMessage is what the last probe that failed said.
func (s *situation) probeMessage(at slot) string {
	if e := s.warning("Pod", at.name, "Unhealthy"); e != nil {
		return oneLine(e.Message)
	}
	return ""
}

// closedGate returns a readiness gate of the pod that nobody has opened, while
// its containers are ready.
func closedGate(pod *corev1.Pod) corev1.PodConditionType {
	status := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range pod.Status.Conditions {
		status[c.Type] = c.Status
	}
	if status[corev1.ContainersReady] != corev1.ConditionTrue {
		return ""
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if status[gate.ConditionType] != corev1.ConditionTrue {
			return gate.ConditionType
		}
	}
	return ""
}

// unscheduled: the scheduler has no node for the pod.
func (s *situation) unscheduled(at slot, condition *corev1.PodCondition) Cause {
	since := condition.LastTransitionTime.Time
	if since.IsZero() {
		since = at.pod.CreationTimestamp.Time
	}
	if condition.Reason == corev1.PodReasonSchedulingGated {
		return about(Unschedulable, at, "is not scheduled: a scheduling gate holds it").with(gates(at.pod)).since(since).mendedBy(s.describePod(at))
	}
	message, _, _ := strings.Cut(condition.Message, " preemption:")
	cause := about(Unschedulable, at, "cannot be scheduled: no node takes it").with(oneLine(message)).with(requests(at.pod))
	return cause.since(since).mendedBy(s.describePod(at), Remedy{"see what the nodes have left", "kubectl describe nodes"})
}

func gates(pod *corev1.Pod) string {
	var names []string
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return "gates: " + strings.Join(names, ", ")
}

// requests says what the containers ask for, which is most often why no node has it.
func requests(pod *corev1.Pod) string {
	var words []string
	for _, container := range pod.Spec.Containers {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity, ok := container.Resources.Requests[name]; ok {
				words = append(words, fmt.Sprintf("%s %s (container %s)", name, quantity.String(), container.Name))
			}
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "it asks for " + strings.Join(words, ", ")
}
