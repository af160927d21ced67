// Package view says what a person wants to see of a set. It is a pure function,
//
//	Of: plan.Observation -> Rollout
//
// and one model for all who show it: status, get, history and whatever is yet to come. Its words are the operator's: pods
// are classified by podstate, what is about to happen to them is computed by the planner, and what the operator itself
// said in its conditions is repeated as it stands.
package view

import (
	"strconv"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// Rollout is a set at a time.
type Rollout struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Phase is the one word for how the roll-out is, Why the sentence.
	Phase Phase  `json:"phase"`
	Why   string `json:"why"`
	// Culprit is the pod that a roll-out is stuck on.
	Culprit string `json:"culprit,omitempty"`

	Strategy v1.UpdateStrategyType `json:"strategy"`
	// Partition is counted from the first slot; 0 holds nobody back.
	Partition int  `json:"partition"`
	IsPaused  bool `json:"paused"`
	// Start is the ordinal of the first slot.
	Start int `json:"start"`
	// Replicas is the number of slots; the other counts are of slots, too.
	Replicas int `json:"replicas"`
	// Reached is how many slots the update is to reach: those not below the partition.
	Reached int `json:"reached"`
	// Done is how many of those are available at the target revision.
	Done      int `json:"done"`
	Updated   int `json:"updated"`
	Ready     int `json:"ready"`
	Available int `json:"available"`

	Target  RevisionRef `json:"target"`
	Current RevisionRef `json:"current"`
	// Revisions are the history, from the oldest to the newest.
	Revisions []Revision `json:"revisions"`
	// Pods are by ordinal; a slot without a pod is among them.
	Pods []Pod `json:"pods"`

	Created time.Time `json:"created"`
	// Now is when all this was so.
	Now time.Time `json:"now"`
}

// RevisionRef points to a revision; the number is 0 if it is gone.
type RevisionRef struct {
	Name   string `json:"name"`
	Number int64  `json:"number"`
}

// String is "3 (web-7d9c)", or the name alone.
func (r RevisionRef) String() string {
	if r.Number == 0 {
		return r.Name
	}
	return strconv.FormatInt(r.Number, 10) + " (" + r.Name + ")"
}

// Of returns what there is to see of an observation. It modifies nothing.
func Of(o plan.Observation) Rollout {
	p := planner.Compute(o)
	set, slots := o.Set, ordinal.RangeOf(o.Set)
	r := Rollout{
		Namespace: set.Namespace, Name: set.Name,
		Strategy: strategyInForce(p, set), Partition: partition(set), IsPaused: set.Spec.Paused,
		Start: slots.Start, Replicas: slots.Count,
		Created: set.CreationTimestamp.UTC(), Now: o.Now.UTC(),
	}
	r.Reached = max(0, slots.Count-r.Partition)
	target, current := names(p, set)
	r.Target, r.Current = refer(o, target), refer(o, current)
	r.Pods = callPods(o, &r)
	r.count()
	r.Revisions = list(o, &r)
	r.judge(o, p)
	return r
}

// names returns the target and the current revision: as they are now, or as the operator last said if only the API server
// could tell.
func names(p plan.Plan, set *v1.StatefulSet) (target, current string) {
	if p.NeedsLiveRead.Any() || p.Status.UpdateRevision == "" || isUnobserved(set) {
		return set.Status.UpdateRevision, set.Status.CurrentRevision
	}
	return p.Status.UpdateRevision, p.Status.CurrentRevision
}

func strategyInForce(p plan.Plan, set *v1.StatefulSet) v1.UpdateStrategyType {
	if p.Summary.Strategy != "" {
		return p.Summary.Strategy
	}
	return set.Spec.UpdateStrategy.Type
}

// partition is that of the strategy asked for, which holds also when another acts in its place.
func partition(set *v1.StatefulSet) int {
	if tuning := Tuning(set); tuning != nil && tuning.Partition != nil {
		return max(0, int(*tuning.Partition))
	}
	return 0
}

// Tuning returns the parameters of the strategy that a set asks for; nil if it has none.
func Tuning(set *v1.StatefulSet) *v1.RollingUpdate {
	switch set.Spec.UpdateStrategy.Type {
	case v1.RollingUpdateStrategy:
		return set.Spec.UpdateStrategy.RollingUpdate
	case v1.EnforcedRollingUpdateStrategy:
		return set.Spec.UpdateStrategy.EnforcedRollingUpdate
	default:
		return nil
	}
}

// count counts the slots. Pods outside the range hold none, and a stranger's slot is empty.
func (r *Rollout) count() {
	for i := range r.Pods {
		pod := &r.Pods[i]
		if pod.Role == Condemned || pod.Role == Stranger {
			continue
		}
		isUpdated := pod.Revision.Name == r.Target.Name && pod.State != stateMissing && pod.State != stateTerminating
		r.Updated += count(isUpdated)
		r.Ready += count(pod.IsReady)
		r.Available += count(pod.IsAvailable)
		r.Done += count(isUpdated && pod.IsAvailable && pod.Role != Held)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
