package view

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Role is what a pod is to the update.
type Role string

// The roles there are.
const (
	// Target: the pod is at the target revision.
	Target Role = "target"
	// Outdated: the pod is not at the revision that its slot should have.
	Outdated Role = "outdated"
	// Held: the slot is below the partition and at the revision it should have.
	Held Role = "held"
	// Condemned: the pod is outside the range and about to go.
	Condemned Role = "condemned"
	// Stranger: the pod bears the name of one of the set's and belongs to somebody else.
	Stranger Role = "stranger"
)

// The states that are not those of a running pod.
var (
	stateMissing     = podstate.Missing.String()
	stateTerminating = podstate.Terminating.String()
)

// Pod is a pod of the set, or a slot that has none.
type Pod struct {
	Name     string      `json:"name"`
	Ordinal  int         `json:"ordinal"`
	Revision RevisionRef `json:"revision"`
	Role     Role        `json:"role"`
	// State is the one word for what the pod is doing, Reason what keeps it from being available, if anything is known.
	State       string    `json:"state"`
	Reason      string    `json:"reason,omitempty"`
	IsReady     bool      `json:"ready"`
	IsAvailable bool      `json:"available"`
	Restarts    int       `json:"restarts"`
	Node        string    `json:"node,omitempty"`
	Created     time.Time `json:"created,omitzero"`
	// UnreadySince is since when a pod that is not ready has not been.
	UnreadySince time.Time `json:"unreadySince,omitzero"`
}

// callPods calls the roll: every slot, and the pods outside the range, by ordinal.
func callPods(o plan.Observation, r *Rollout) []Pod {
	byOrdinal := map[int]*corev1.Pod{}
	for _, pod := range o.Pods {
		if number, ok := ordinal.Parse(o.Set.Name, pod.Name); ok {
			byOrdinal[number] = pod
		}
	}
	pods := make([]Pod, 0, r.Replicas)
	for number := r.Start; number < r.Start+r.Replicas; number++ {
		seen := see(o, number, byOrdinal[number])
		seen.Role = r.roleOf(seen)
		if isStranger(o.Set, byOrdinal[number]) {
			seen.Role = Stranger
		}
		pods = append(pods, seen)
		delete(byOrdinal, number)
	}
	for number, pod := range byOrdinal {
		if metav1.IsControlledBy(pod, o.Set) {
			condemned := see(o, number, pod)
			condemned.Role = Condemned
			pods = append(pods, condemned)
		}
	}
	slices.SortFunc(pods, func(a, b Pod) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return pods
}

// see says what a pod is doing; nil means that the slot has none.
func see(o plan.Observation, number int, pod *corev1.Pod) Pod {
	state := podstate.Classify(pod, time.Duration(o.Set.Spec.MinReadySeconds)*time.Second, o.Now)
	seen := Pod{
		Name: ordinal.PodName(o.Set.Name, number), Ordinal: number, State: state.Class.String(),
		IsReady: state.Ready, IsAvailable: state.IsAvailable(),
	}
	if pod == nil {
		return seen
	}
	seen.Revision = refer(o, pod.Labels[v1.RevisionLabel])
	seen.Node, seen.Created, seen.Restarts = pod.Spec.NodeName, pod.CreationTimestamp.UTC(), restarts(pod)
	if !state.IsAvailable() {
		seen.Reason = reasonOf(pod, state)
	}
	if !state.Ready {
		seen.UnreadySince = podstate.UnreadySince(pod).UTC()
	}
	return seen
}

// reasonOf says what keeps a pod from being available.
func reasonOf(pod *corev1.Pod, state podstate.State) string {
	if why := podstate.Explain(pod); why != "" {
		return why
	}
	switch state.Class {
	case podstate.Running:
		return "not ready"
	case podstate.Ready:
		return "not yet for minReadySeconds"
	case podstate.Terminating:
		return onNode(pod)
	default:
		return ""
	}
}

func onNode(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return ""
	}
	return "on node " + pod.Spec.NodeName
}

// roleOf tells what a pod is to the update. An empty slot has the role of the pod that it waits for.
func (r *Rollout) roleOf(pod Pod) Role {
	wanted := r.Target
	if pod.Ordinal < r.firstUpdated() {
		wanted = r.Current
	}
	switch {
	case pod.State != stateMissing && pod.Revision.Name != wanted.Name:
		return Outdated
	case wanted.Name != r.Target.Name:
		return Held
	default:
		return Target
	}
}

// isStranger tells whether a pod belongs to somebody else. One that belongs to nobody will be adopted.
func isStranger(set *v1.StatefulSet, pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.UID != set.UID
}

func restarts(pod *corev1.Pod) int {
	total := 0
	for i := range pod.Status.ContainerStatuses {
		total += int(pod.Status.ContainerStatuses[i].RestartCount)
	}
	return total
}
