package explain_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// What happens to pods in the cases, beyond what the fleet notation says.

func podNamed(q *explain.Question, name string) *corev1.Pod {
	for _, pod := range q.Observation.Pods {
		if pod.Name == name {
			return pod
		}
	}
	panic(fmt.Sprintf("the case has no pod %s", name))
}

func crash(name string, code int32, reason, message string) func(*explain.Question) {
	return func(q *explain.Question) {
		status := &podNamed(q, name).Status.ContainerStatuses[0]
		status.RestartCount = 7
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: message, FinishedAt: metav1.NewTime(testkit.Now.Add(-time.Minute)),
		}
	}
}

func waiting(name, reason, message string) func(*explain.Question) {
	return func(q *explain.Question) {
		podNamed(q, name).Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	}
}

func unschedule(pod *corev1.Pod, reason, message string) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(testkit.Now.Add(-20 * time.Minute)),
	})
}

// deletedFor gives a terminating pod a grace period that ended so long ago.
func deletedFor(name string, ago time.Duration) func(*explain.Question) {
	return func(q *explain.Question) {
		podNamed(q, name).DeletionTimestamp = &metav1.Time{Time: testkit.Now.Add(-ago)}
	}
}

func lostNode(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
		LastTransitionTime: metav1.NewTime(testkit.Now.Add(-8 * time.Minute)),
	}}
	return node
}

func refused(message string) func(*explain.Question) {
	return func(q *explain.Question) {
		set := q.Observation.Set
		set.Status.Conditions = []metav1.Condition{{
			Type: v1.ConditionReplicaFailure, Status: metav1.ConditionTrue, Reason: v1.ReasonFailedCreate, Message: message,
			ObservedGeneration: set.Generation, LastTransitionTime: metav1.NewTime(testkit.Now.Add(-5 * time.Minute)),
		}}
	}
}

// unreadyFor says since when a pod that was ready is not.
func unreadyFor(name string, ago time.Duration) func(*explain.Question) {
	return func(q *explain.Question) {
		podNamed(q, name).Status.Conditions[0].LastTransitionTime = metav1.NewTime(testkit.Now.Add(-ago))
	}
}
