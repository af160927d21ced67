package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// courseAnnotation tells the simulated nodes what becomes of a pod.
const courseAnnotation = "sim.rollcall.dev/course"

// Break has a running pod fail its readiness probe, and waits until it does.
func (s *Story) Break(number int) {
	s.t.Helper()
	s.patchPod(number, fmt.Sprintf(`{"metadata":{"annotations":{%q:"never-ready"}}}`, courseAnnotation))
	s.ThenPod(number, "not ready", func(pod *corev1.Pod) error { return readiness(pod, false) })
}

// Mend has a broken pod pass its readiness probe again.
func (s *Story) Mend(number int) {
	s.t.Helper()
	s.patchPod(number, fmt.Sprintf(`{"metadata":{"annotations":{%q:"ready"}}}`, courseAnnotation))
}

// AnnotatePod sets an annotation of a pod, for example one by which its node is
// told how it fares.
func (s *Story) AnnotatePod(number int, key, value string) {
	s.t.Helper()
	s.patchPod(number, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
}

// Finish has a running pod end: "failed" or "succeeded".
func (s *Story) Finish(number int, course string) {
	s.t.Helper()
	s.patchPod(number, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q,"sim.rollcall.dev/fail-after":"1ms"}}}`, courseAnnotation, course))
}

// Relabel patches the labels of a pod; null removes one.
func (s *Story) Relabel(number int, labels string) {
	s.t.Helper()
	s.patchPod(number, `{"metadata":{"labels":`+labels+`}}`)
}

func (s *Story) patchPod(number int, patch string) {
	s.t.Helper()
	pod := s.blankPod(number)
	if err := s.Client.Patch(s.Context, pod, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.t.Fatalf("patching pod %s: %v", pod.Name, err)
	}
}

// DeletePod deletes the pod of an ordinal.
func (s *Story) DeletePod(number int, options ...client.DeleteOption) {
	s.t.Helper()
	pod := s.blankPod(number)
	if err := s.Client.Delete(s.Context, pod, options...); err != nil {
		s.t.Fatalf("deleting pod %s: %v", pod.Name, err)
	}
}

// DeleteClaim deletes a claim.
func (s *Story) DeleteClaim(name string) {
	s.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: name}}
	if err := s.Client.Delete(s.Context, claim); err != nil {
		s.t.Fatalf("deleting claim %s: %v", name, err)
	}
}

func (s *Story) blankPod(number int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: ordinal.PodName(SetName, number)}}
}

// ThenPodReady waits until the pod of an ordinal is ready.
func (s *Story) ThenPodReady(number int) {
	s.t.Helper()
	s.ThenPod(number, "ready", func(pod *corev1.Pod) error { return readiness(pod, true) })
}

// ThenPodBroken waits until the pod of an ordinal has come as far as it will
// without getting ready: its image is set and a node has taken it.
func (s *Story) ThenPodBroken(number int, image string) {
	s.t.Helper()
	s.ThenPod(number, "broken at "+image, func(pod *corev1.Pod) error {
		if pod.Spec.Containers[0].Image != image || len(pod.Status.ContainerStatuses) == 0 || pod.DeletionTimestamp != nil {
			return fmt.Errorf("image %s, %d containers", pod.Spec.Containers[0].Image, len(pod.Status.ContainerStatuses))
		}
		return readiness(pod, false)
	})
}

func readiness(pod *corev1.Pod, want bool) error {
	state := podstate.Classify(pod, 0, metav1.Now().Time)
	if state.Ready != want || pod.DeletionTimestamp != nil {
		return fmt.Errorf("it is %s", state.Class)
	}
	return nil
}
