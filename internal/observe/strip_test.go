package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/podstate"
)

var start = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// fullPod has all that a kubelet and a scheduler write, and is not ready.
func fullPod(container corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-0", Annotations: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
		},
		Spec: corev1.PodSpec{NodeName: "node-7", Containers: []corev1.Container{{Name: "web"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: &start, HostIP: "10.0.0.1", Message: "long",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: start, LastProbeTime: start, Message: "containers with unready status: [web]"},
			},
			ContainerStatuses: []corev1.ContainerStatus{container},
		},
	}
}

func strip(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	stripped, err := stripPod(pod.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	return stripped.(*corev1.Pod)
}

// TestStripKeepsWhatIsRead: class, readiness and explanation are the same before and after, and little else is left.
func TestStripKeepsWhatIsRead(t *testing.T) {
	pulling := corev1.ContainerStatus{Name: "web", Image: "web:typo", ImageID: "x", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "rpc error"},
	}}
	evicted := fullPod(pulling)
	evicted.Status.Phase, evicted.Status.Reason = corev1.PodFailed, "Evicted"
	homeless := fullPod(corev1.ContainerStatus{})
	homeless.Status.Conditions[0] = corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room", LastProbeTime: start,
	}
	for name, pod := range map[string]*corev1.Pod{"pulling": fullPod(pulling), "evicted": evicted, "homeless": homeless} {
		t.Run(name, func(t *testing.T) {
			stripped := strip(t, pod)
			before, after := podstate.Classify(pod, 0, start.Time), podstate.Classify(stripped, 0, start.Time)
			if diff := cmp.Diff(podstate.Describe(pod, before), podstate.Describe(stripped, after)); diff != "" {
				t.Errorf("description (-whole +stripped):\n%s", diff)
			}
			if podstate.WasReady(pod) != podstate.WasReady(stripped) {
				t.Error("whether the pod was ready got lost")
			}
			if diff := cmp.Diff(stripped, strip(t, stripped)); diff != "" {
				t.Errorf("stripping again changes it (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestStripTakesTheRest(t *testing.T) {
	running := corev1.ContainerStatus{Name: "web", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}}}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0"},
		Spec:       corev1.PodSpec{NodeName: "node-7"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: &start,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: start}},
		},
	}
	if diff := cmp.Diff(want, strip(t, fullPod(running))); diff != "" {
		t.Errorf("stripped pod (-want +got):\n%s", diff)
	}
}

func TestStripRefusesOtherKinds(t *testing.T) {
	for name, transform := range map[string]func(any) (any, error){"pod": stripPod, "claim": stripClaim, "revision": stripRevision} {
		if _, err := transform(&corev1.Secret{}); err == nil {
			t.Errorf("a secret passes for a %s", name)
		}
	}
}
