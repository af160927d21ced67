package cli

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// observe reads what the operator looks at when it decides about a set: pods and revisions. Claims are left out; few verbs
// need them, and not everybody may read them.
func (p *Program) observe(ctx context.Context, c client.Reader, set *v1.StatefulSet) (plan.Observation, error) {
	pods, err := readPods(ctx, c, set)
	if err != nil {
		return plan.Observation{}, err
	}
	revisions, err := readRevisions(ctx, c, set)
	return plan.Observation{Set: set, Pods: pods, Revisions: revisions, Now: p.Now(), Gates: planner.GatesTold(set)}, err
}

// readPods returns the pods that the set controls, and strangers that bear the name of one of its pods.
func readPods(ctx context.Context, c client.Reader, set *v1.StatefulSet) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(set.Namespace), client.HasLabels{v1.PodNameLabel}); err != nil {
		return nil, fmt.Errorf("listing the pods of %s/%s: %w", resource, set.Name, err)
	}
	return podsOf(set, list.Items), nil
}

// readRevisions returns the revisions that the set controls, from the oldest to the newest.
func readRevisions(ctx context.Context, c client.Reader, set *v1.StatefulSet) ([]*appsv1.ControllerRevision, error) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector of %s/%s: %w", resource, set.Name, err)
	}
	var list appsv1.ControllerRevisionList
	if err := c.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing the revisions of %s/%s: %w", resource, set.Name, err)
	}
	return revisionsOf(set, list.Items), nil
}

// podsOf picks the pods that a set controls, and strangers that bear the name of one of its pods.
func podsOf(set *v1.StatefulSet, pods []corev1.Pod) []*corev1.Pod {
	var picked []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if pod.Namespace != set.Namespace {
			continue
		}
		if _, bearsName := ordinal.Parse(set.Name, pod.Name); bearsName || metav1.IsControlledBy(pod, set) {
			picked = append(picked, pod)
		}
	}
	return picked
}

// revisionsOf picks the revisions that a set controls, from the oldest to the newest.
func revisionsOf(set *v1.StatefulSet, revisions []appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	var picked []*appsv1.ControllerRevision
	for i := range revisions {
		if metav1.IsControlledBy(&revisions[i], set) {
			picked = append(picked, &revisions[i])
		}
	}
	return revision.Sorted(picked)
}
