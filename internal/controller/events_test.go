package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func unscheduled(message string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{
		Phase:      corev1.PodPending,
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: message}},
	}}
}

// TestPodChanged: a decision is made for news, not for numbers in a text.
func TestPodChanged(t *testing.T) {
	onNode := unscheduled("")
	onNode.Spec.NodeName, onNode.Status.Conditions = "node-7", nil
	tests := map[string]struct {
		before, after *corev1.Pod
		want          bool
	}{
		"nothing":              {unscheduled("a"), unscheduled("a"), false},
		"another count":        {unscheduled("0/3 nodes are available: 3 Insufficient cpu"), unscheduled("0/12 nodes are available: 12 Insufficient cpu"), false},
		"another reason":       {unscheduled("0/3 nodes are available: 3 Insufficient cpu"), unscheduled("0/3 nodes are available: 3 Insufficient memory"), true},
		"a node took it":       {unscheduled("a"), onNode, true},
		"it runs":              {onNode, &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, true},
		"it is out of trouble": {&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "web"}}}}, &corev1.Pod{}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.before.DeepCopy()
			if got := podChanged().Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("passes: %t, want %t", got, test.want)
			}
			if test.before.String() != before.String() {
				t.Error("the comparison modified what everybody shares")
			}
		})
	}
}
