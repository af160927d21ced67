package simulation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// What the world does by itself: nodes, users, the garbage collector, time.

// tick is how much time passes at once. It is what the times of scenarios
// (minReady, timeout) are multiples of, so that every order of deadlines and
// other steps is explored.
const tick = 10 * time.Second

// changes are the steps that change one pod.
var changes = map[Verb]func(w *World, pod *corev1.Pod){
	Start: func(w *World, pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Spec.NodeName = "node"
		pod.Status.StartTime = &metav1.Time{Time: w.Now}
		setReady(pod, corev1.ConditionFalse, w.Now)
		if !isBroken(pod.Spec.Containers[0].Image) {
			setReady(pod, corev1.ConditionTrue, w.Now.Add(readyDelay))
		}
	},
	Recover: func(w *World, pod *corev1.Pod) { setReady(pod, corev1.ConditionTrue, w.Now.Add(readyDelay)) },
	Unready: func(w *World, pod *corev1.Pod) { setReady(pod, corev1.ConditionFalse, w.Now.Add(readyDelay)) },
	Fail: func(w *World, pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		setReady(pod, corev1.ConditionFalse, w.Now.Add(readyDelay))
	},
	Succeed: func(w *World, pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodSucceeded
		setReady(pod, corev1.ConditionFalse, w.Now.Add(readyDelay))
	},
	Hold:    func(_ *World, pod *corev1.Pod) { pod.Finalizers = []string{"example.com/hold"} },
	Unlabel: func(_ *World, pod *corev1.Pod) { delete(pod.Labels, v1.PodNameLabel) },
	Orphan:  func(_ *World, pod *corev1.Pod) { pod.OwnerReferences = nil },
}

// readyDelay is how long a pod takes from one state of readiness to the next.
// Timestamps are whole seconds: a pod that was ready for less than one can't be
// told from one that never was, by anybody.
const readyDelay = time.Second

// setReady sets the condition, which keeps its time if it does not change.
func setReady(pod *corev1.Pod, status corev1.ConditionStatus, since time.Time) {
	if before := pod.Status.Conditions; len(before) > 0 && before[0].Status == status {
		return
	}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(since),
	}}
}

// look is what decides about what can happen to a pod.
type look struct {
	pod                                              *corev1.Pod
	isReady, isRunning, isLeaving, isForeign, isHeld bool
}

func lookAt(pod *corev1.Pod) look {
	return look{
		pod: pod, isReady: podstate.Classify(pod, 0, epoch).Ready, isRunning: pod.Status.Phase == corev1.PodRunning,
		isLeaving: pod.DeletionTimestamp != nil, isForeign: metav1.GetControllerOfNoCopy(pod) != nil && !isOfSet(pod),
		isHeld: len(pod.Finalizers) > 0,
	}
}

// isStaying: the pod is one of ours, or was, and nobody has deleted it.
func (l look) isStaying() bool { return !l.isLeaving && !l.isForeign }

// conditions say when a step of the environment can happen to a pod.
var conditions = map[Verb]func(look) bool{
	Start: func(l look) bool { return l.isStaying() && l.pod.Status.Phase == corev1.PodPending },
	Recover: func(l look) bool {
		return l.isStaying() && l.isRunning && !l.isReady && !isBroken(l.pod.Spec.Containers[0].Image)
	},
	Unready: func(l look) bool { return !l.isForeign && l.isReady },
	Fail:    func(l look) bool { return l.isStaying() && l.isRunning },
	Succeed: func(l look) bool { return l.isStaying() && l.isRunning },
	Evict:   look.isStaying,
	Vanish:  func(l look) bool { return !l.isForeign && !l.isHeld },
	Finish:  func(l look) bool { return l.isLeaving && !l.isHeld },
	Hold:    func(l look) bool { return l.isStaying() && !l.isHeld },
	Free:    func(l look) bool { return l.isHeld },
	Unlabel: func(l look) bool { return !l.isForeign && l.pod.Labels[v1.PodNameLabel] != "" },
	Orphan:  func(l look) bool { return isOfSet(l.pod) && !l.isLeaving },
	Leave:   func(l look) bool { return l.isForeign },
}

// suits tells whether a step of the environment can happen to a pod.
func suits(verb Verb, pod *corev1.Pod) bool {
	condition := conditions[verb]
	return condition != nil && condition(lookAt(pod))
}

// isOfSet tells whether a set of ours, this one or an earlier, controls the pod.
func isOfSet(pod *corev1.Pod) bool {
	controller := metav1.GetControllerOfNoCopy(pod)
	return controller != nil && controller.Kind == v1.Kind.Kind
}

// happenTo carries out a step of the environment that is about a pod.
func (w *World) happenTo(verb Verb, pod *corev1.Pod) {
	switch verb {
	case Finish, Vanish, Leave:
		w.removePod(pod.Name)
	case Free:
		w.freePod(pod)
	case Evict:
		_ = w.deletePod(pod.Name, preconditions{}) // without preconditions and with a pod it succeeds
	default:
		w.changePod(pod, func(pod *corev1.Pod) { changes[verb](w, pod) })
	}
}

// freePod takes the finalizers away. A pod that is being deleted and runs nowhere
// was held by nothing else.
func (w *World) freePod(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodRunning {
		w.removePod(pod.Name)
		return
	}
	w.changePod(pod, func(pod *corev1.Pod) { pod.Finalizers = nil })
}

// strangeOwner is the UID of somebody else, who is there to stay.
const strangeOwner types.UID = "other"

// squat puts somebody else's pod in the place of a missing one.
func (w *World) squat(name string) {
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: strangeOwner, Controller: new(true)}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{v1.PodNameLabel: name}, OwnerReferences: []metav1.OwnerReference{owner},
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "other"}}
	_, _ = w.createPod(pod) // the step is only enabled when the name is free
}

// edit makes one edit of the user: a setting, or the end of the set.
func (w *World) edit(text string) error {
	switch text {
	case "deleted=foreground":
		w.deleteSet(metav1.FinalizerDeleteDependents)
	case "deleted=orphan":
		w.deleteSet(metav1.FinalizerOrphanDependents)
	case "deleted=background":
		w.deleteSet()
	case "recreated":
		return w.putSet()
	default:
		change, err := parseSetting(text)
		if err != nil {
			return fmt.Errorf("read the edit %q: %w", text, err)
		}
		w.updateSpec(change)
	}
	return nil
}

// isPossible tells whether an edit can be made now.
func (w *World) isPossible(edit string) bool {
	if edit == "recreated" {
		return w.Truth.Set == nil
	}
	return w.Truth.Set != nil && w.Truth.Set.DeletionTimestamp == nil
}

// putSet stores the scenario's set as new.
func (w *World) putSet() error {
	set, err := newSet(w.Scenario.Setup)
	if err != nil {
		return err
	}
	w.register(&set.ObjectMeta)
	w.Truth.Set = set
	return nil
}

// isTimeRelevant tells whether a deadline lies ahead, so that time matters.
func (w *World) isTimeRelevant() bool {
	if w.Truth.Set == nil {
		return false
	}
	tuning := tuningOf(&w.Truth.Set.Spec)
	for _, pod := range w.Truth.Pods {
		state := w.stateOf(pod)
		age := w.Now.Sub(pod.CreationTimestamp.Time)
		hasTimeout := tuning.PodProgressTimeoutSeconds != nil && state.Class != podstate.Terminating && !podstate.WasReady(pod)
		switch {
		case !state.AvailableAt.IsZero(),
			state.HasEnded() && age < minLifetime,
			hasTimeout && age < time.Duration(*tuning.PodProgressTimeoutSeconds)*time.Second+timeoutDelay:
			return true
		}
	}
	return false
}

// missingNames are the names of the slots that no pod has.
func (w *World) missingNames() []string {
	var names []string
	slots := w.slots()
	for number := slots.Start; number < slots.End(); number++ {
		if name := ordinal.PodName(setName, number); find(w.Truth.Pods, name) == nil {
			names = append(names, name)
		}
	}
	return names
}
