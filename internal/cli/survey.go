package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// survey looks at all sets in scope, with three requests however many they are.
func (p *Program) survey(ctx context.Context, c client.Reader, s scope) ([]view.Rollout, error) {
	var sets v1.StatefulSetList
	var pods corev1.PodList
	var revisions appsv1.ControllerRevisionList
	in := client.InNamespace(s.namespace)
	if err := c.List(ctx, &sets, in); err != nil {
		return nil, fmt.Errorf("listing the sets: %w", err)
	}
	if err := c.List(ctx, &pods, in, client.HasLabels{v1.PodNameLabel}); err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	if err := c.List(ctx, &revisions, in); err != nil {
		return nil, fmt.Errorf("listing the revisions: %w", err)
	}
	rollouts := []view.Rollout{}
	for i := range sets.Items {
		set := &sets.Items[i]
		if s.name != "" && set.Name != s.name {
			continue
		}
		v1.SetDefaults(set)
		rollouts = append(rollouts, view.Of(plan.Observation{
			Set: set, Pods: podsOf(set, pods.Items), Revisions: revisionsOf(set, revisions.Items),
			Now: p.Now(), Gates: planner.GatesTold(set),
		}))
	}
	slices.SortFunc(rollouts, func(a, b view.Rollout) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return rollouts, nil
}
