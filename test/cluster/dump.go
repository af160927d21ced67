package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostPods keeps the log of a failed test readable.
const mostPods = 30

// dump says what is in the namespace, for the log of a failed test.
func (s *Space) dump() string {
	var out strings.Builder
	fmt.Fprintf(&out, "namespace %s\n", s.Name)
	s.dumpPods(&out)
	s.dumpEvents(&out)
	return out.String()
}

func (s *Space) dumpPods(out *strings.Builder) {
	var pods corev1.PodList
	if err := s.Client.List(context.Background(), &pods, client.InNamespace(s.Name)); err != nil {
		fmt.Fprintf(out, "listing pods: %v\n", err)
	}
	for i, pod := range pods.Items {
		if i == mostPods {
			fmt.Fprintf(out, "… and %d more pods\n", len(pods.Items)-i)
			break
		}
		fmt.Fprintf(out, "pod %s uid=%s node=%q phase=%s deleted=%v labels=%v\n",
			pod.Name, pod.UID, pod.Spec.NodeName, pod.Status.Phase, pod.DeletionTimestamp, pod.Labels)
		for _, c := range pod.Status.Conditions {
			fmt.Fprintf(out, "  %s=%s %s %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
		for _, c := range pod.Status.ContainerStatuses {
			fmt.Fprintf(out, "  container %s ready=%v restarts=%d %s\n", c.Name, c.Ready, c.RestartCount, c.State.String())
		}
	}
}

func (s *Space) dumpEvents(out *strings.Builder) {
	var events corev1.EventList
	if err := s.Client.List(context.Background(), &events, client.InNamespace(s.Name)); err != nil {
		fmt.Fprintf(out, "listing events: %v\n", err)
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int { return eventTime(a).Compare(eventTime(b)) })
	for _, e := range events.Items {
		fmt.Fprintf(out, "event %s %s/%s %s: %s\n", eventTime(e).Format("15:04:05"), e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
	}
}

// eventTime is when an event last happened, whichever of the two recorders wrote it.
func eventTime(e corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}
