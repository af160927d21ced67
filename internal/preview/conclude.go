package preview

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// conclude sums a replay up.
func (r *replay) conclude() Preview {
	set, final := r.request.Set, r.finalPlan()
	p := Preview{
		Namespace: set.Namespace, Name: set.Name,
		Strategy: r.summary.Strategy, Policy: set.Spec.PodManagementPolicy, Budget: r.summary.MaxUnavailable,
		Replicas: ordinal.RangeOf(set).Count, Revision: final.Status.UpdateRevision,
		Steps: r.steps, Down: r.watch.report(set.Name),
		Duration:    r.lastStep.Sub(r.request.Now).Seconds(),
		Assumptions: r.assumptions(),
	}
	p.IsNewRevision = !slices.ContainsFunc(r.request.Revisions, func(known *appsv1.ControllerRevision) bool { return known.Name == p.Revision })
	r.countPods(&p)
	p.Outcome, p.Controller = r.outcome(final)
	if p.Outcome == Stuck {
		answer := explain.Ask(explain.Question{Observation: r.observation()})
		p.Rule = answer.Rule
		for _, cause := range answer.Causes {
			p.Causes = append(p.Causes, cause.Text)
		}
	}
	return p
}

// countPods counts what becomes of the pods.
func (r *replay) countPods(p *Preview) {
	before, after := namesOf(r.request.Pods), namesOf(r.world.Truth.Pods)
	touched := map[string]bool{}
	for _, step := range r.steps {
		if step.Kind == "Pod" && step.Verb == "delete" {
			touched[step.Object] = true
		}
	}
	slots := ordinal.RangeOf(r.request.Set)
	for name := range touched {
		number, _ := ordinal.Parse(r.request.Set.Name, name)
		switch {
		case before[name] && slots.Contains(number):
			p.Replaced++
		case before[name]:
			p.Removed++
		}
	}
	for name := range after {
		if !before[name] {
			p.Created++
		}
	}
}

func namesOf(pods []*corev1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, pod := range pods {
		names[pod.Name] = true
	}
	return names
}

// outcome reads the end off the controller's own conditions: first match wins.
func (r *replay) outcome(final plan.Plan) (Outcome, string) {
	find := func(kind string) metav1.Condition {
		if c := meta.FindStatusCondition(final.Status.Conditions, kind); c != nil {
			return *c
		}
		return metav1.Condition{}
	}
	ready, progressing := find(v1.ConditionReady), find(v1.ConditionProgressing)
	isUnderWay := !slices.Contains([]string{"", v1.ReasonUpdateComplete, v1.ReasonRecreateComplete}, progressing.Reason)
	switch {
	case ready.Status != metav1.ConditionTrue && isUnderWay:
		return Stuck, progressing.Message
	case ready.Status != metav1.ConditionTrue:
		return Stuck, ready.Message
	case progressing.Reason == v1.ReasonUpdatePaused:
		return Paused, progressing.Message
	case progressing.Reason == v1.ReasonUpdateWaiting:
		return Waiting, progressing.Message
	case len(r.steps) == 0:
		return Unchanged, ready.Message
	case progressing.Reason == v1.ReasonUpdateStaged:
		return Staged, progressing.Message
	default:
		return Complete, progressing.Message
	}
}

// assumptions are what the replay takes for granted.
func (r *replay) assumptions() []string {
	assumptions := slices.Clone(r.nodes.assumptions)
	status := r.world.Truth.Set.Status
	for name := range r.nodes.samples {
		if name != status.UpdateRevision && name != status.CurrentRevision {
			continue
		}
		assumptions = append(assumptions, fmt.Sprintf("pods of revision %s do not become ready: none is now, and one is broken", name))
	}
	slices.Sort(assumptions)
	if r.request.Gates != plan.AllGates() {
		assumptions = append(assumptions, "the operator's feature gates that its status calls off stay off")
	}
	if r.lastStep.After(r.request.Now) {
		return append([]string{r.request.Pace.String()}, assumptions...)
	}
	return assumptions
}

// stepOf describes an action.
func (r *replay) stepOf(action plan.Action) Step {
	step := Step{
		After: r.world.Now.Sub(r.request.Now).Seconds(), Action: action.String(),
		Object: action.Object().GetName(), Reason: action.Why().String(),
	}
	step.Verb, _, _ = strings.Cut(step.Action, " ")
	switch a := action.(type) {
	case plan.CreatePod:
		step.Kind, step.Revision = "Pod", a.Revision
	case plan.DeletePod:
		step.Kind, step.Revision = "Pod", a.Pod.Labels[v1.RevisionLabel]
	case plan.AdoptPod, plan.ReleasePod, plan.UpdatePod:
		step.Kind = "Pod"
	case plan.CreateClaim, plan.UpdateClaimOwner:
		step.Kind = "PersistentVolumeClaim"
	default:
		step.Kind = "ControllerRevision"
	}
	return step
}
