package view

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Phase is the one word for how a roll-out is.
type Phase string

// The phases, in the order in which they are tried.
const (
	// Deleting: the set is on its way out.
	Deleting Phase = "Deleting"
	// Unobserved: the operator has not seen the latest edit yet.
	Unobserved Phase = "Unobserved"
	// Halted: the operator says that it can't go on until somebody changes something.
	Halted Phase = "Halted"
	// Complete: every slot is available at the target revision.
	Complete Phase = "Complete"
	// Staged: every slot that the partition lets through is available at the target revision.
	Staged Phase = "Staged"
	// Paused: spec.paused holds the update back, and nothing else is left to do.
	Paused Phase = "Paused"
	// Waiting: with OnDelete, outdated pods wait for somebody to delete them, and nothing else is left to do.
	Waiting Phase = "Waiting"
	// Stuck: a pod is in trouble, and the operator does nothing but wait for it to get over that.
	Stuck Phase = "Stuck"
	// Progressing: none of these.
	Progressing Phase = "Progressing"
)

// troubleGrace is how long a pod may be in trouble before that counts: a registry may fail once, a database may not be up
// yet.
const troubleGrace = 10 * time.Second

// judge finds the phase and why: first match wins.
func (r *Rollout) judge(o plan.Observation, p plan.Plan) {
	set := o.Set
	stalled, progressing := find(set, v1.ConditionStalled), find(set, v1.ConditionProgressing)
	switch {
	case set.DeletionTimestamp != nil:
		r.Phase, r.Why = Deleting, "the set is being deleted"
	case isUnobserved(set):
		r.Phase, r.Why = Unobserved, fmt.Sprintf("the operator has not seen generation %d of the set yet", set.Generation)
	case stalled.Status == metav1.ConditionTrue:
		r.Phase, r.Why = Halted, stalled.Message
	case find(set, v1.ConditionReady).Status == metav1.ConditionTrue:
		r.Phase, r.Why = r.judgeReady(progressing)
	default:
		r.Phase, r.Why = Progressing, work(set, p)
		r.accuse(culprit(o, p, r), o)
	}
}

// accuse names the pod that the roll-out is stuck on; nil if it is not.
func (r *Rollout) accuse(pod *corev1.Pod, o plan.Observation) {
	if pod == nil {
		return
	}
	r.Phase, r.Culprit = Stuck, pod.Name
	r.Why = fmt.Sprintf("pod %s is %s at revision %s, and nothing will replace it",
		pod.Name, podstate.Describe(pod, podstate.Classify(pod, 0, o.Now)), refer(o, pod.Labels[v1.RevisionLabel]))
}

// judgeReady tells apart the ways in which nothing is left to do.
func (r *Rollout) judgeReady(progressing metav1.Condition) (phase Phase, why string) {
	switch progressing.Reason {
	case v1.ReasonUpdateStaged:
		return Staged, fmt.Sprintf("%d of %d pods are at revision %s, those below ordinal %d wait for the partition",
			r.Updated, r.Replicas, r.Target, r.firstUpdated())
	case v1.ReasonUpdatePaused:
		return Paused, progressing.Message
	case v1.ReasonUpdateWaiting:
		return Waiting, progressing.Message
	default:
		return Complete, fmt.Sprintf("all %d pods are available at revision %s", r.Replicas, r.Target)
	}
}

// firstUpdated is the lowest ordinal that the update reaches.
func (r *Rollout) firstUpdated() int { return r.Start + min(r.Partition, r.Replicas) }

// work says what the operator is at, in its words: about the update while there is one, else about the pods. They are made
// anew from the pods as they are, because the operator does not write down every step.
func work(set *v1.StatefulSet, p plan.Plan) string {
	if !p.NeedsLiveRead.Any() {
		set = &v1.StatefulSet{Status: p.Status}
	}
	progressing, ready := find(set, v1.ConditionProgressing), find(set, v1.ConditionReady)
	switch progressing.Reason {
	case "", v1.ReasonUpdateComplete, v1.ReasonRecreateComplete, v1.ReasonUpdateStaged:
		return ready.Message
	default:
		return progressing.Message
	}
}

// culprit returns the highest pod that has been in trouble for a while if the operator does nothing about it; nil if there
// is none. What a pod's containers say counts as trouble. A pod without a node does not: nodes may be added.
func culprit(o plan.Observation, p plan.Plan, r *Rollout) *corev1.Pod {
	if p.NeedsLiveRead.Any() || actsOnPods(p) {
		return nil
	}
	slots := ordinal.RangeOf(o.Set)
	var highest *corev1.Pod
	best := -1
	for _, pod := range o.Pods {
		number, ok := ordinal.Parse(o.Set.Name, pod.Name)
		if ok && number > best && slots.Contains(number) && isInTrouble(pod, o.Now) && !isOnTheClock(o, r, number, pod) {
			highest, best = pod, number
		}
	}
	return highest
}

func isInTrouble(pod *corev1.Pod, now time.Time) bool {
	return podstate.Troubled(pod) != nil && !now.Before(podstate.UnreadySince(pod).Add(troubleGrace))
}

// isOnTheClock tells whether podProgressTimeoutSeconds will replace the pod: the operator gives up by itself, and says so.
func isOnTheClock(o plan.Observation, r *Rollout, number int, pod *corev1.Pod) bool {
	return hasTimeout(o) && r.Target.Name != r.Current.Name && number >= r.firstUpdated() && !podstate.WasReady(pod)
}

// actsOnPods tells whether a plan does anything but look after revisions and claims.
func actsOnPods(p plan.Plan) bool {
	for action := range p.Actions() {
		switch action.(type) {
		case plan.CreatePod, plan.DeletePod:
			return true
		}
	}
	return false
}

func isUnobserved(set *v1.StatefulSet) bool {
	return set.Status.ObservedGeneration < set.Generation || set.Status.ObservedGeneration == 0
}

// find returns a condition, or one that says nothing.
func find(set *v1.StatefulSet, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(set.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{Type: kind, Status: metav1.ConditionUnknown}
}

// Obstacle returns the name of a broken pod that the operator waits for and would not replace, "" if there is none. Unlike
// the phase it looks at what is, and gives no grace: it is for whoever is about to change the set.
func Obstacle(o plan.Observation) string {
	p := planner.Compute(o)
	if p.NeedsLiveRead.Any() || actsOnPods(p) {
		return ""
	}
	slots := ordinal.RangeOf(o.Set)
	for _, pod := range o.Pods {
		number, ok := ordinal.Parse(o.Set.Name, pod.Name)
		if ok && slots.Contains(number) && podstate.Troubled(pod) != nil && !hasTimeout(o) {
			return pod.Name
		}
	}
	return ""
}

func hasTimeout(o plan.Observation) bool {
	tuning := Tuning(o.Set)
	return tuning != nil && tuning.PodProgressTimeoutSeconds != nil && o.Gates.ProgressDeadline
}
