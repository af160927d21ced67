package preview

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

const (
	// patience is how much longer than usual a pod may take to get ready before
	// it is taken for broken, and at least.
	patience      = 2
	leastPatience = time.Minute
	// overtime is how long after its grace period a pod may still be there before
	// it is taken never to go.
	overtime = 30 * time.Second
)

// nodes decide what becomes of pods, by the assumptions of the package.
type nodes struct {
	now  time.Time
	pace Pace
	// broken are pods that never get ready, unstoppable are pods that never go, by UID.
	broken, unstoppable map[types.UID]bool
	// samples are broken pods by revisions of which no pod is well: what becomes
	// of new pods of the same revision.
	samples map[string]*corev1.Pod
	// assumptions are what was decided about pods that are there.
	assumptions []string
}

// move is what a node does next to a pod.
type move struct {
	at  time.Time
	pod *corev1.Pod
}

// newNodes looks at the pods that there are.
func newNodes(request Request) nodes {
	n := nodes{
		now: request.Now, pace: request.Pace,
		broken: map[types.UID]bool{}, unstoppable: map[types.UID]bool{}, samples: map[string]*corev1.Pod{},
	}
	isWell := map[string]bool{}
	for _, pod := range request.Pods {
		name := pod.Labels[v1.RevisionLabel]
		switch state := podstate.Classify(pod, 0, request.Now); {
		case state.Class == podstate.Terminating && request.Now.After(pod.DeletionTimestamp.Add(overtime)):
			n.unstoppable[pod.UID] = true
			n.assume(pod, "never stops: its grace period ended long ago")
		case state.Class == podstate.Terminating, state.HasEnded():
		case state.Ready:
			isWell[name] = true
		case n.isBroken(pod):
			n.broken[pod.UID] = true
			n.assume(pod, "stays as it is: "+podstate.Describe(pod, state))
			n.samples[name] = pod
		}
	}
	for name := range isWell {
		delete(n.samples, name)
	}
	return n
}

func (n *nodes) assume(pod *corev1.Pod, what string) {
	n.assumptions = append(n.assumptions, fmt.Sprintf("pod %s %s", pod.Name, what))
}

// isBroken tells whether a pod that is not ready will not be: it says what is
// wrong, it was ready and is not any more, or it takes far too long.
func (n *nodes) isBroken(pod *corev1.Pod) bool {
	age := n.now.Sub(pod.CreationTimestamp.Time)
	return podstate.Explain(pod) != "" || podstate.WasReady(pod) || age > max(leastPatience, patience*n.pace.Start)
}

// next returns the earliest move, with the zero time if there is none.
func (n *nodes) next(pods []*corev1.Pod) move {
	var first move
	for _, pod := range pods {
		at := n.dueAt(pod)
		if !at.IsZero() && (first.at.IsZero() || at.Before(first.at)) {
			first = move{at, pod}
		}
	}
	return first
}

// dueAt is when something becomes of a pod; zero for never. What is overdue is
// due now.
func (n *nodes) dueAt(pod *corev1.Pod) time.Time {
	var at time.Time
	switch state := podstate.Classify(pod, 0, n.now); {
	case n.unstoppable[pod.UID]:
		return time.Time{}
	case state.Class == podstate.Terminating && pod.DeletionTimestamp.Before(&metav1.Time{Time: n.now}):
		at = n.now
	case state.Class == podstate.Terminating:
		at = n.goneAt(pod)
	case state.HasEnded() || state.Ready || n.broken[pod.UID]:
		return time.Time{}
	default:
		at = pod.CreationTimestamp.Add(n.pace.Start)
	}
	if at.Before(n.now) {
		return n.now
	}
	return at
}

// goneAt is when a pod has stopped. The model dates a deletion when it is asked
// for; a real API server dates it when the grace period ends, and before that it
// is over at the latest.
func (n *nodes) goneAt(pod *corev1.Pod) time.Time {
	if pod.DeletionGracePeriodSeconds != nil {
		return pod.DeletionTimestamp.Time
	}
	return pod.DeletionTimestamp.Add(n.stopTime(pod))
}

// stopTime is bounded by the pod's grace period.
func (n *nodes) stopTime(pod *corev1.Pod) time.Duration {
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		return min(n.pace.Stop, time.Duration(*grace)*time.Second)
	}
	return n.pace.Stop
}

// carryOut does to a pod what is due.
func (n *nodes) carryOut(w *simulation.World, due move) *simulation.World {
	if due.pod.DeletionTimestamp != nil {
		return w.Finish(due.pod.Name)
	}
	if sample := n.samples[due.pod.Labels[v1.RevisionLabel]]; sample != nil {
		n.broken[due.pod.UID] = true
		return w.Report(due.pod.Name, func(pod *corev1.Pod) { fareLike(pod, sample) })
	}
	return w.Report(due.pod.Name, func(pod *corev1.Pod) { getReady(pod, w.Now) })
}

// fareLike gives a pod the trouble of another.
func fareLike(pod, sample *corev1.Pod) {
	pod.Status.Phase = sample.Status.Phase
	pod.Status.ContainerStatuses = sample.Status.ContainerStatuses
	pod.Status.InitContainerStatuses = sample.Status.InitContainerStatuses
	for _, c := range sample.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			pod.Status.Conditions = append(pod.Status.Conditions, c)
		}
	}
}

func getReady(pod *corev1.Pod, now time.Time) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = pod.CreationTimestamp.DeepCopy()
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
	}}
}
