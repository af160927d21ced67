package integration

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

// The ground that everything stands on: a pod with a claim runs on a simulated node.
func TestPodRunsAndClaimBinds(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: ns.Name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	create(t, ns, claim)
	pod := newPod(ns, "web")
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	create(t, ns, pod)

	ns.Eventually(t, "the pod is Running and Ready", func(ctx context.Context) error {
		if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning || !isReady(pod) || pod.Spec.NodeName == "" {
			return fmt.Errorf("phase %s, ready %v, node %q", pod.Status.Phase, isReady(pod), pod.Spec.NodeName)
		}
		return nil
	})
	ns.Eventually(t, "the claim is bound", func(ctx context.Context) error {
		if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("phase %s", claim.Status.Phase)
		}
		return nil
	})
}

// Each course of docs/local-cluster.md, as kubectl would show it.
func TestCourses(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	cases := map[string]struct {
		image       string
		annotations map[string]string
		want        string
	}{
		"healthy":           {image: "web:1", want: "Running ready"},
		"slow":              {image: "web:1-start-1h", want: "Pending ContainerCreating"},
		"no-image":          {image: "web:1-image-pull-backoff", want: "Pending ImagePullBackOff"},
		"crashing":          {image: "web:1-crash-loop", want: "Running CrashLoopBackOff"},
		"unready":           {annotations: map[string]string{"sim.rollcall.dev/course": "never-ready"}, want: "Running unready"},
		"failing":           {image: "web:1-after-1s-ready-then-failing", want: "Running unready"},
		"evicted":           {image: "web:1-after-1s-failed", want: "Failed unready"},
		"done":              {image: "web:1-after-1s-succeeded", want: "Succeeded unready"},
		"misspelt":          {annotations: map[string]string{"sim.rollcall.dev/course": "happy"}, want: "Pending CreateContainerConfigError"},
		"annotation-before": {image: "web:1-crash-loop", annotations: map[string]string{"sim.rollcall.dev/course": "ready"}, want: "Running ready"},
	}
	for name, tc := range cases {
		pod := newPod(ns, name)
		pod.Annotations = tc.annotations
		pod.Spec.Containers[0].Image = "web"
		if tc.image != "" {
			pod.Spec.Containers[0].Image = tc.image
		}
		create(t, ns, pod)
	}
	for name, tc := range cases {
		ns.Eventually(t, name+" is "+tc.want, func(ctx context.Context) error {
			var pod corev1.Pod
			if err := ns.Client.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: name}, &pod); err != nil {
				return err
			}
			if got := describe(&pod); got != tc.want {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}
}

// A pod that is changed while it runs follows its new course: how tests break a pod and mend it.
func TestCourseCanChange(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	pod := newPod(ns, "web")
	create(t, ns, pod)
	for _, step := range []struct{ course, want string }{{"ready", "Running ready"}, {"never-ready", "Running unready"}, {"ready", "Running ready"}} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"sim.rollcall.dev/course":%q}}}`, step.course)
		if err := ns.Client.Patch(ns.Context, pod, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
		ns.Eventually(t, "the pod is "+step.want, func(ctx context.Context) error {
			if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
				return err
			}
			if got := describe(pod); got != step.want {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}
}

// The scheduler is real: what fits nowhere stays Pending, and says why.
func TestImpossibleRequestStaysPending(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	pod := newPod(ns, "huge")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}
	create(t, ns, pod)
	ns.Eventually(t, "the scheduler gives up on the pod", func(ctx context.Context) error {
		if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
				return nil
			}
		}
		return fmt.Errorf("conditions %v", pod.Status.Conditions)
	})
}

// A pod that is recreated under its predecessor's name is never touched by what was meant for the predecessor. The
// predecessors here are taken away at every point of their lives, with writes and a deletion still due for them.
func TestSuccessorIsNeverTouched(t *testing.T) {
	const pods = 60
	ns := cluster.Namespace(t, cluster.Nodes)
	for i := range pods {
		predecessor := newPod(ns, fmt.Sprintf("web-%d", i))
		predecessor.Annotations = map[string]string{
			"sim.rollcall.dev/course":      "crash-loop",
			"sim.rollcall.dev/start-delay": fmt.Sprintf("%dms", 10*i),
			"sim.rollcall.dev/stop-delay":  "700ms",
		}
		create(t, ns, predecessor)
	}
	successors := map[string]*corev1.Pod{}
	for i := range pods {
		name := fmt.Sprintf("web-%d", i)
		if i%2 == 0 { // half of them are terminating when they are forced out
			deletePod(t, ns, name)
		}
		deletePod(t, ns, name, client.GracePeriodSeconds(0))
		successors[name] = newPod(ns, name)
		successors[name].Annotations = map[string]string{"sim.rollcall.dev/start-delay": "1s"}
		create(t, ns, successors[name])
	}
	for name, successor := range successors {
		ns.Eventually(t, name+" is Ready", func(ctx context.Context) error {
			var pod corev1.Pod
			if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(successor), &pod); err != nil {
				return err
			}
			if pod.UID != successor.UID {
				t.Fatalf("%s has UID %s, was created with %s", name, pod.UID, successor.UID)
			}
			if got := describe(&pod); got == "Running CrashLoopBackOff" {
				t.Fatalf("%s took over its predecessor's status", name)
			} else if got != "Running ready" {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}
}

// Pods of a lost node hang in termination until it comes back.
func TestLostNode(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	pod := newPod(ns, "web")
	pod.Spec.NodeName = "node-1"
	create(t, ns, pod)
	ns.Eventually(t, "the pod is Ready", func(ctx context.Context) error {
		if err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil || !isReady(pod) {
			return fmt.Errorf("ready %v: %w", isReady(pod), err)
		}
		return nil
	})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	lose := func(value string) {
		patch := `{"metadata":{"annotations":{"sim.rollcall.dev/lost":` + value + `}}}`
		if err := ns.Client.Patch(context.Background(), node, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	lose(`"true"`)
	t.Cleanup(func() { lose("null") })

	// A second pod on another node is told to go at the same time; when it is gone, the first would be, too.
	other := newPod(ns, "other")
	other.Spec.NodeName = "node-2"
	create(t, ns, other)
	deletePod(t, ns, "web")
	deletePod(t, ns, "other")
	awaitGone(t, ns, other)
	if err := ns.Client.Get(ns.Context, client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp == nil {
		t.Fatalf("pod on the lost node: %v, deletion %v; want it terminating", err, pod.DeletionTimestamp)
	}
	lose("null")
	awaitGone(t, ns, pod)
}

func newPod(ns *cluster.Space, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns.Name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

// create waits for the namespace's service account, without which the API server takes no pods.
func create(t *testing.T, ns *cluster.Space, object client.Object) {
	t.Helper()
	ns.Eventually(t, object.GetName()+" is created", func(ctx context.Context) error {
		return ns.Client.Create(ctx, object)
	})
}

func deletePod(t *testing.T, ns *cluster.Space, name string, options ...client.DeleteOption) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns.Name}}
	if err := ns.Client.Delete(ns.Context, pod, options...); client.IgnoreNotFound(err) != nil {
		t.Fatalf("deleting pod %s: %v", name, err)
	}
}

func awaitGone(t *testing.T, ns *cluster.Space, pod *corev1.Pod) {
	t.Helper()
	ns.Eventually(t, pod.Name+" is gone", func(ctx context.Context) error {
		err := ns.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod.DeepCopy())
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there (%w)", err)
	})
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// describe is a pod's phase and why it is not ready, if a container says so.
func describe(pod *corev1.Pod) string {
	state := "unready"
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			state = c.State.Waiting.Reason
		}
	}
	if isReady(pod) {
		state = "ready"
	}
	return fmt.Sprintf("%s %s", pod.Status.Phase, state)
}
