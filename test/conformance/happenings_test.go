package conformance

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// happen makes a step of nodes, users or strangers happen at the real server.
func (s *server) happen(step simulation.Step) error {
	switch step.Verb {
	case simulation.Edit:
		return s.edit()
	case simulation.Squat:
		return s.squat(step.On)
	case simulation.DropClaim:
		return s.space.Client.Delete(s.space.Context, &corev1.PersistentVolumeClaim{ObjectMeta: s.named(step.On)})
	case simulation.Evict:
		return s.space.Client.Delete(s.space.Context, &corev1.Pod{ObjectMeta: s.named(step.On)})
	case simulation.Finish, simulation.Vanish, simulation.Leave:
		return s.space.Client.Delete(s.space.Context, &corev1.Pod{ObjectMeta: s.named(step.On)}, client.GracePeriodSeconds(0))
	case simulation.Start:
		return s.start(step.On)
	}
	if change, ok := statusChanges[step.Verb]; ok {
		return s.changeStatus(step.On, change)
	}
	if change, ok := metaChanges[step.Verb]; ok {
		return s.changeMeta(step.On, change)
	}
	return fmt.Errorf("no way is known to make %q happen", step)
}

// statusChanges are what kubelets report, metaChanges what users do to pods.
var (
	statusChanges = map[simulation.Verb]func(*corev1.PodStatus){
		simulation.Recover: func(status *corev1.PodStatus) { setReady(status, corev1.ConditionTrue) },
		simulation.Unready: func(status *corev1.PodStatus) { setReady(status, corev1.ConditionFalse) },
		simulation.Fail: func(status *corev1.PodStatus) {
			status.Phase = corev1.PodFailed
			setReady(status, corev1.ConditionFalse)
		},
		simulation.Succeed: func(status *corev1.PodStatus) {
			status.Phase = corev1.PodSucceeded
			setReady(status, corev1.ConditionFalse)
		},
	}
	metaChanges = map[simulation.Verb]func(*corev1.Pod){
		simulation.Hold:    func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/hold"} },
		simulation.Free:    func(pod *corev1.Pod) { pod.Finalizers = nil },
		simulation.Unlabel: func(pod *corev1.Pod) { delete(pod.Labels, v1.PodNameLabel) },
		simulation.Orphan:  func(pod *corev1.Pod) { pod.OwnerReferences = nil },
	}
)

func (s *server) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.space.Name, Name: name}
}

// start is what scheduler and kubelet do.
func (s *server) start(name string) error {
	binding := &corev1.Binding{ObjectMeta: s.named(name), Target: corev1.ObjectReference{Kind: "Node", Name: s.node}}
	if err := s.space.Client.SubResource("binding").Create(s.space.Context, &corev1.Pod{ObjectMeta: s.named(name)}, binding); err != nil {
		return fmt.Errorf("bind pod %s: %w", name, err)
	}
	isBroken := false
	for _, pod := range s.model.world.Truth.Pods {
		isBroken = isBroken || (pod.Name == name && strings.HasPrefix(pod.Spec.Containers[0].Image, "x"))
	}
	return s.changeStatus(name, func(status *corev1.PodStatus) {
		now := metav1.Now()
		status.Phase, status.StartTime = corev1.PodRunning, &now
		setReady(status, corev1.ConditionFalse)
		if !isBroken {
			setReady(status, corev1.ConditionTrue)
		}
	})
}

func setReady(status *corev1.PodStatus, ready corev1.ConditionStatus) {
	status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
}

func (s *server) changeStatus(name string, change func(*corev1.PodStatus)) error {
	pod := &corev1.Pod{}
	if err := s.space.Client.Get(s.space.Context, client.ObjectKey{Namespace: s.space.Name, Name: name}, pod); err != nil {
		return err
	}
	change(&pod.Status)
	return s.space.Client.Status().Update(s.space.Context, pod)
}

func (s *server) changeMeta(name string, change func(*corev1.Pod)) error {
	pod := &corev1.Pod{}
	if err := s.space.Client.Get(s.space.Context, client.ObjectKey{Namespace: s.space.Name, Name: name}, pod); err != nil {
		return err
	}
	change(pod)
	return s.space.Client.Update(s.space.Context, pod)
}

// squat puts somebody else's pod in the place of a missing one.
func (s *server) squat(name string) error {
	pod := &corev1.Pod{ObjectMeta: s.named(name)}
	pod.Labels = map[string]string{v1.PodNameLabel: name}
	pod.OwnerReferences = []metav1.OwnerReference{s.stranger}
	pod.Spec.SchedulerName = nobody
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "other"}}
	return s.space.Client.Create(s.space.Context, pod)
}

// policies are how sets are deleted.
var policies = map[string]metav1.DeletionPropagation{
	"deleted=background": metav1.DeletePropagationBackground,
	"deleted=foreground": metav1.DeletePropagationForeground,
	"deleted=orphan":     metav1.DeletePropagationOrphan,
}

// edit does what the user of the model has just done. What a user writes is the
// spec; what becomes of the rest is up to the server.
func (s *server) edit() error {
	world := s.model.world
	text := world.Scenario.Edits[world.Edits-1]
	set := &v1.StatefulSet{ObjectMeta: s.named("web")}
	if policy, ok := policies[text]; ok {
		return s.space.Client.Delete(s.space.Context, set, client.PropagationPolicy(policy))
	}
	if text == "recreated" {
		return s.makeSet()
	}
	if err := s.space.Client.Get(s.space.Context, client.ObjectKeyFromObject(set), set); err != nil {
		return err
	}
	set.Spec = *world.Truth.Set.Spec.DeepCopy()
	return s.space.Client.Update(s.space.Context, set)
}
