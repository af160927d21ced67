package observe

import (
	"context"
	"fmt"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Census returns an observation of every set in view, with its pods and nothing
// else, as statistics want it: at the cost of a look at the informers, and
// whether or not the operator's own writes are visible yet.
func (o *Observer) Census(ctx context.Context) ([]plan.Observation, error) {
	var sets v1.StatefulSetList
	if err := o.cached.List(ctx, &sets); err != nil {
		return nil, fmt.Errorf("list all sets: %w", err)
	}
	observations := make([]plan.Observation, 0, len(sets.Items))
	for i := range sets.Items {
		set := withDefaults(&sets.Items[i])
		pods, err := o.pods(ctx, set)
		if err != nil {
			return nil, err
		}
		observations = append(observations, plan.Observation{Set: set, Pods: pods, Gates: o.gates, Now: o.now()})
	}
	return observations, nil
}

// withDefaults returns the set with its defaults. Only what they are put into is
// copied; the template, which is most of a set, is shared.
func withDefaults(set *v1.StatefulSet) *v1.StatefulSet {
	defaulted := *set
	defaulted.Spec.UpdateStrategy = *set.Spec.UpdateStrategy.DeepCopy()
	defaulted.Spec.PersistentVolumeClaimRetentionPolicy = set.Spec.PersistentVolumeClaimRetentionPolicy.DeepCopy()
	v1.SetDefaults(&defaulted)
	return &defaulted
}
