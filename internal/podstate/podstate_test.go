package podstate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pod makes a pod of a phase whose Ready condition has a status since some time ago.
func pod(phase corev1.PodPhase, ready corev1.ConditionStatus, since time.Duration) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{
		Phase: phase,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(now.Add(-since))},
		},
	}}
}

func terminating(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{Time: now}
	return pod
}

func unknownSince(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Conditions[1].LastTransitionTime = metav1.Time{}
	return pod
}

func TestClassify(t *testing.T) {
	const minReady = 10 * time.Second
	tests := map[string]struct {
		pod      *corev1.Pod
		minReady time.Duration
		want     State
	}{
		"no pod":             {nil, 0, State{Class: Missing}},
		"just created":       {&corev1.Pod{}, 0, State{Class: Pending}},
		"pending":            {pod(corev1.PodPending, corev1.ConditionFalse, 0), 0, State{Class: Pending}},
		"running, unready":   {pod(corev1.PodRunning, corev1.ConditionFalse, 0), 0, State{Class: Running}},
		"running, no word":   {&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, 0, State{Class: Running}},
		"node out of sight":  {pod(corev1.PodUnknown, corev1.ConditionTrue, 0), 0, State{Class: Running}},
		"pending says ready": {pod(corev1.PodPending, corev1.ConditionTrue, 0), 0, State{Class: Pending}},
		"ready, no wait":     {pod(corev1.PodRunning, corev1.ConditionTrue, 0), 0, State{Class: Available, Ready: true}},
		"ready, too short": {
			pod(corev1.PodRunning, corev1.ConditionTrue, 9*time.Second), minReady,
			State{Class: Ready, Ready: true, AvailableAt: now.Add(time.Second)},
		},
		"ready, just long enough": {
			pod(corev1.PodRunning, corev1.ConditionTrue, minReady), minReady, State{Class: Available, Ready: true},
		},
		"ready since nobody knows when": {
			unknownSince(pod(corev1.PodRunning, corev1.ConditionTrue, 0)), minReady, State{Class: Ready, Ready: true},
		},
		"failed":    {pod(corev1.PodFailed, corev1.ConditionFalse, 0), 0, State{Class: Failed}},
		"succeeded": {pod(corev1.PodSucceeded, corev1.ConditionFalse, 0), 0, State{Class: Succeeded}},
		"terminating while ready": {
			terminating(pod(corev1.PodRunning, corev1.ConditionTrue, 0)), 0, State{Class: Terminating, Ready: true},
		},
		"terminating after failing": {
			terminating(pod(corev1.PodFailed, corev1.ConditionFalse, 0)), 0, State{Class: Terminating},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Classify(test.pod, test.minReady, now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Classify (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClassString(t *testing.T) {
	for class, want := range map[Class]string{Missing: "missing", Available: "available", Running: "running"} {
		if got := class.String(); got != want {
			t.Errorf("Class(%d).String() = %q, want %q", class, got, want)
		}
	}
}

func TestWasReady(t *testing.T) {
	started := func(pod *corev1.Pod, ago time.Duration) *corev1.Pod {
		pod.Status.StartTime = &metav1.Time{Time: now.Add(-ago)}
		return pod
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"not started":                  {&corev1.Pod{}, false},
		"ready":                        {started(pod(corev1.PodRunning, corev1.ConditionTrue, 0), time.Hour), true},
		"unready since it started":     {started(pod(corev1.PodRunning, corev1.ConditionFalse, time.Hour), time.Hour), false},
		"unready since before":         {started(pod(corev1.PodRunning, corev1.ConditionFalse, 2*time.Hour), time.Hour), false},
		"unready since later":          {started(pod(corev1.PodRunning, corev1.ConditionFalse, time.Minute), time.Hour), true},
		"unready, start unknown":       {pod(corev1.PodRunning, corev1.ConditionFalse, time.Minute), true},
		"failed after it was ready":    {started(pod(corev1.PodFailed, corev1.ConditionFalse, time.Minute), time.Hour), true},
		"out of sight, unready before": {started(pod(corev1.PodUnknown, corev1.ConditionUnknown, time.Minute), time.Hour), true},
	}
	for name, test := range tests {
		if got := WasReady(test.pod); got != test.want {
			t.Errorf("%s: WasReady = %t, want %t", name, got, test.want)
		}
	}
}
