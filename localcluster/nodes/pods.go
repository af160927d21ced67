package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// podKey names one life of a pod: a recreated pod has another UID and thus another key.
type podKey struct {
	namespace, name string
	uid             types.UID
}

func keyOf(pod *corev1.Pod) podKey { return podKey{pod.Namespace, pod.Name, pod.UID} }

// retryAfter is the pause after a write that the API server did not take.
const retryAfter = time.Second

func (s *Simulator) onPod(object any) {
	s.queue.Add(keyOf(object.(*corev1.Pod)))
}

func (s *Simulator) onPodGone(object any) {
	if gone, is := object.(cache.DeletedFinalStateUnknown); is {
		object = gone.Obj
	}
	if pod, is := object.(*corev1.Pod); is {
		s.memory.forget(pod.UID)
	}
}

// work takes keys off the queue until it shuts down.
func (s *Simulator) work(ctx context.Context) {
	for {
		key, done := s.queue.Get()
		if done {
			return
		}
		again, err := s.advance(ctx, key, time.Now())
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Advancing a pod", "namespace", key.namespace, "pod", key.name, "uid", key.uid)
			again = retryAfter
		}
		if again > 0 {
			s.queue.AddAfter(key, again)
		}
		s.queue.Done(key)
	}
}

// advance brings a pod to where its life says it is now, and says when to look again (0: when the pod changes).
func (s *Simulator) advance(ctx context.Context, key podKey, now time.Time) (time.Duration, error) {
	pod := s.find(key)
	if pod == nil || !s.isServed(pod.Spec.NodeName) {
		return 0, nil
	}
	lives, complaint := lifeOf(pod, s.Delays)
	if pod.DeletionTimestamp != nil {
		return s.finish(ctx, pod, lives, now)
	}
	at, told, next := stageAt(lives, now.Sub(s.memory.arrival(pod, lives, now)))
	if complaint != nil {
		at, told, next = stage{waiting: "CreateContainerConfigError", message: complaint.Error()}, true, 0
	}
	if !told || isOver(pod) || shows(pod, at) {
		return next, nil
	}
	return next, s.report(ctx, pod, at, now)
}

// find is the pod with the key's UID; its successor under the same name is another pod.
func (s *Simulator) find(key podKey) *corev1.Pod {
	object, found, err := s.pods.GetStore().GetByKey(key.namespace + "/" + key.name)
	if err != nil || !found || object.(*corev1.Pod).UID != key.uid {
		return nil
	}
	return object.(*corev1.Pod)
}

// isServed tells whether a node is one of ours and not lost.
func (s *Simulator) isServed(node string) bool {
	object, found, err := s.nodes.GetStore().GetByKey(node)
	return err == nil && found && !IsLost(object.(*corev1.Node))
}

// isOver tells whether a pod has ended for good; nothing brings it back.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// finish removes a terminating pod once it has taken its time to stop, its grace period at the longest.
func (s *Simulator) finish(ctx context.Context, pod *corev1.Pod, lives life, now time.Time) (time.Duration, error) {
	if lives.hangs {
		return 0, nil
	}
	delay := min(lives.stopDelay, graceOf(pod))
	if left := delay - now.Sub(s.memory.departure(pod, now)); left > 0 {
		return left, nil
	}
	if len(pod.Finalizers) > 0 && *pod.DeletionGracePeriodSeconds == 0 {
		return 0, nil // stopped; whoever set the finalizer has the last word
	}
	if left := s.memory.removal(pod, now); left > 0 {
		return left, nil
	}
	err := s.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      &metav1.Preconditions{UID: &pod.UID},
	})
	return 0, ignoreSuccessor(err)
}

// report writes the status of a stage, for this UID alone.
func (s *Simulator) report(ctx context.Context, pod *corev1.Pod, at stage, now time.Time) error {
	ip := pod.Status.PodIP
	if ip == "" && at.running {
		ip = s.addresses.take()
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   statusOf(pod, at, ip, now),
	})
	if err != nil {
		return fmt.Errorf("encoding the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	_, err = s.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return ignoreSuccessor(err)
}

// ignoreSuccessor drops the answers that mean: the pod is gone, or the name belongs to another pod now.
func ignoreSuccessor(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
