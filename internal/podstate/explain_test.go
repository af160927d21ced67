package podstate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// at is a moment some seconds after the pods of this file started.
func at(seconds int) metav1.Time {
	return metav1.NewTime(now.Add(time.Duration(seconds) * time.Second))
}

// with makes a pod of a phase that started now, has not been ready since, and has a container in a state.
func with(phase corev1.PodPhase, container corev1.ContainerStatus) *corev1.Pod {
	p := pod(phase, corev1.ConditionFalse, 0)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{container}
	return p
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "web", Image: "web:typo", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

// ended is a run of a container that lasted from one moment to another.
func ended(from, to int, code int32, reason string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{StartedAt: at(from), FinishedAt: at(to), ExitCode: code, Reason: reason, ContainerID: "x://1"}
}

// restarted is a container that runs for another time.
func restarted(restarts int32, startedAt int, before *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: "web", RestartCount: restarts}
	status.State.Running = &corev1.ContainerStateRunning{StartedAt: at(startedAt)}
	status.LastTerminationState.Terminated = before
	return status
}

func crashed(restarts int32, this *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: "web", RestartCount: restarts}
	status.State.Terminated = this
	status.LastTerminationState.Terminated = ended(0, 1, 1, "Error")
	return status
}

func backingOff(before *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	status := waiting("CrashLoopBackOff", "back-off 2m40s restarting failed container=web pod=web-0")
	status.RestartCount, status.LastTerminationState.Terminated = 1, before
	return status
}

func unscheduled(message string) *corev1.Pod {
	p := pod(corev1.PodPending, corev1.ConditionFalse, 0)
	p.Status.Conditions[0] = corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message,
	}
	return p
}

func evicted(p *corev1.Pod) *corev1.Pod {
	p.Status.Reason = "Evicted"
	return p
}

func onNode(p *corev1.Pod) *corev1.Pod {
	p.Spec.NodeName = "node-7"
	return p
}

func ready(container corev1.ContainerStatus) corev1.ContainerStatus {
	container.Ready = true
	return container
}

// unreadySince makes a pod whose readiness was lost some seconds after its start.
func unreadySince(seconds int, p *corev1.Pod) *corev1.Pod {
	p.Status.StartTime = &metav1.Time{Time: now}
	p.Status.Conditions[1].LastTransitionTime = at(seconds)
	return p
}

func initializing(p *corev1.Pod, container corev1.ContainerStatus) *corev1.Pod {
	container.Name = "migrate"
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{container}
	return p
}

const hour = 3600

func TestDescribe(t *testing.T) {
	noRoom := "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"no pod":    {nil, "missing"},
		"available": {pod(corev1.PodRunning, corev1.ConditionTrue, time.Hour), "available"},
		"ready":     {pod(corev1.PodRunning, corev1.ConditionTrue, 0), "ready, but not yet for minReadySeconds"},
		"pending":   {pod(corev1.PodPending, corev1.ConditionFalse, 0), "pending"},
		"no room":   {unscheduled(noRoom), "pending (Unschedulable: 0/3 nodes are available: 3 Insufficient cpu)"},
		"no room, no word": {
			unscheduled(""), "pending (Unschedulable)",
		},
		"no room, at length": {
			unscheduled(strings.Repeat("x", 300)), "pending (Unschedulable: " + strings.Repeat("x", 256) + "...)",
		},
		"being created":           {with(corev1.PodPending, waiting("ContainerCreating", "")), "pending"},
		"waiting for init":        {with(corev1.PodPending, waiting("PodInitializing", "")), "pending"},
		"image pull":              {with(corev1.PodPending, waiting("ErrImagePull", "rpc error")), "pending (ImagePullBackOff: container web, image web:typo)"},
		"image pull, backing off": {with(corev1.PodPending, waiting("ImagePullBackOff", "Back-off")), "pending (ImagePullBackOff: container web, image web:typo)"},
		"bad image name":          {with(corev1.PodPending, waiting("InvalidImageName", "")), "pending (InvalidImageName: container web, image web:typo)"},
		"no secret": {
			with(corev1.PodPending, waiting("CreateContainerConfigError", `secret "db" not found`)),
			`pending (CreateContainerConfigError: container web: secret "db" not found)`,
		},
		"other trouble, without ids": {
			with(corev1.PodPending, waiting("RunContainerError", "container 5bd7: no such file")), "pending (RunContainerError: container web)",
		},
		"init container first": {
			initializing(with(corev1.PodPending, waiting("PodInitializing", "")), backingOff(ended(0, 1, 3, "Error"))),
			"pending (CrashLoopBackOff: container migrate, exit code 3)",
		},
		"the container in trouble": {
			initializing(with(corev1.PodPending, waiting("ErrImagePull", "")), ready(waiting("", ""))),
			"pending (ImagePullBackOff: container web, image web:typo)",
		},
		"never ready":         {with(corev1.PodRunning, restarted(0, 0, nil)), "running but not ready"},
		"first crash":         {with(corev1.PodRunning, crashed(0, ended(0, 1, 1, "Error"))), "running but not ready"},
		"first restart":       {with(corev1.PodRunning, restarted(1, 2, ended(0, 1, 1, "Error"))), "running but not ready"},
		"crash loop, waiting": {with(corev1.PodRunning, backingOff(ended(0, 1, 1, "Error"))), "running but not ready (CrashLoopBackOff: container web, exit code 1)"},
		"crash loop, running": {with(corev1.PodRunning, restarted(2, 20, ended(0, 1, 1, "Error"))), "running but not ready (CrashLoopBackOff: container web, exit code 1)"},
		"crash loop, crashed": {with(corev1.PodRunning, crashed(2, ended(0, 1, 1, "Error"))), "running but not ready (CrashLoopBackOff: container web, exit code 1)"},
		"out of memory":       {with(corev1.PodRunning, backingOff(ended(0, 1, 137, "OOMKilled"))), "running but not ready (CrashLoopBackOff: container web, exit code 137, OOMKilled)"},
		"restarted long ago, unready now": {
			unreadySince(hour, with(corev1.PodRunning, restarted(5, 20, ended(0, 1, 1, "Error")))), "running but not ready",
		},
		"restarted after a long run": {
			unreadySince(hour, with(corev1.PodRunning, restarted(5, hour+1, ended(0, hour, 1, "Error")))), "running but not ready",
		},
		"evicted":             {evicted(pod(corev1.PodFailed, corev1.ConditionFalse, 0)), "failed (Evicted)"},
		"failed":              {with(corev1.PodFailed, crashed(3, ended(0, 1, 1, "Error"))), "failed"},
		"terminating":         {terminating(with(corev1.PodRunning, backingOff(nil))), "terminating"},
		"hanging in there":    {onNode(terminating(pod(corev1.PodRunning, corev1.ConditionTrue, 0))), "terminating on node node-7"},
		"not scheduled, gone": {terminating(unscheduled(noRoom)), "terminating"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state := Classify(test.pod, time.Minute, now)
			if got := Describe(test.pod, state); got != test.want {
				t.Errorf("described as\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// TestTroubleLasts: a crash loop and a failing pull look the same at each of their turns, and what is left of them is
// left as it is when it is reduced again.
func TestTroubleLasts(t *testing.T) {
	crash := ended(0, 1, 1, "Error")
	loops := map[string][]corev1.ContainerStatus{
		"crash loop":   {backingOff(crash), restarted(2, 20, crash), crashed(2, crash), backingOff(ended(20, 21, 1, "Error")), restarted(3, 60, crash)},
		"failing pull": {waiting("ErrImagePull", "rpc error 1"), waiting("ImagePullBackOff", "Back-off"), waiting("ErrImagePull", "rpc error 2")},
	}
	for name, turns := range loops {
		t.Run(name, func(t *testing.T) {
			want := Troubled(with(corev1.PodRunning, turns[0]))
			if want == nil {
				t.Fatal("no trouble at all")
			}
			for i, turn := range turns {
				got := Troubled(with(corev1.PodRunning, turn))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("turn %d (-first +now):\n%s", i, diff)
				}
				if diff := cmp.Diff(want, Troubled(with(corev1.PodRunning, *got))); diff != "" {
					t.Errorf("turn %d, reduced again (-first +now):\n%s", i, diff)
				}
			}
		})
	}
}

func TestUnreadySince(t *testing.T) {
	created := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(-5)}}
	tests := map[string]struct {
		pod  *corev1.Pod
		want metav1.Time
	}{
		"never ready":   {created, at(-5)},
		"ready for now": {unreadySince(30, pod(corev1.PodRunning, corev1.ConditionFalse, 0)), at(30)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := UnreadySince(test.pod); !got.Equal(test.want.Time) {
				t.Errorf("unready since %v, want %v", got, test.want)
			}
		})
	}
}
