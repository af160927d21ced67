package play

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// editors is how many sets are edited at a time, as by a deployment tool.
const editors = 8

// newSet is one of the sets of a scenario. It makes no claims: binding them would be measured more than anything else.
func newSet(scenario scenarios.Scenario, contestant scenarios.Contestant, namespace, name string) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas:            ptr.To(int32(scenario.Pods)),
			ServiceName:         name,
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			PodManagementPolicy: scenario.PodManagementPolicy,
			UpdateStrategy:      strategyOf(scenario.TermsOf(0), contestant),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: imageOf(0)}}},
			},
		},
	}
}

// strategyOf spells the terms of an update out.
func strategyOf(terms scenarios.Terms, contestant scenarios.Contestant) v1.UpdateStrategy {
	strategy := v1.UpdateStrategy{Type: terms.Strategy(contestant)}
	tuning := &v1.RollingUpdate{MaxUnavailable: ptr.To(intstr.Parse(terms.MaxUnavailable))}
	switch strategy.Type {
	case v1.RollingUpdateStrategy:
		strategy.RollingUpdate = tuning
	case v1.EnforcedRollingUpdateStrategy:
		strategy.EnforcedRollingUpdate = tuning
	}
	return strategy
}

// imageOf is the image of an act.
func imageOf(act int) string { return fmt.Sprintf("web:%d", act+1) }

// brokenImage is one that never runs.
func brokenImage(act int) string { return imageOf(act) + "-image-pull-backoff" }

// apiVersion is the one line in which the sets of contestants differ.
func apiVersion(contestant scenarios.Contestant) string {
	if contestant == scenarios.BuiltIn {
		return "apps/v1"
	}
	return v1.GroupVersion.String()
}

// encode writes a set down for the contestant who plays it.
func encode(set *v1.StatefulSet, contestant scenarios.Contestant) (*unstructured.Unstructured, error) {
	set.APIVersion, set.Kind = apiVersion(contestant), v1.Kind.Kind
	data, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding a set: %w", err)
	}
	encoded := &unstructured.Unstructured{}
	return encoded, encoded.UnmarshalJSON(data)
}

// forEach edits all sets, several at a time.
func forEach(sets []*v1.StatefulSet, edit func(*v1.StatefulSet) error) error {
	work := make(chan *v1.StatefulSet)
	errs := make(chan error, len(sets))
	var running sync.WaitGroup
	for range editors {
		running.Go(func() {
			for set := range work {
				if err := edit(set); err != nil {
					errs <- err
				}
			}
		})
	}
	for _, set := range sets {
		work <- set
	}
	close(work)
	running.Wait()
	close(errs)
	return <-errs
}

func (p *performance) createSet(ctx context.Context, set *v1.StatefulSet) error {
	encoded, err := encode(set, p.contestant)
	if err != nil {
		return err
	}
	if err := p.stage.Client().Create(ctx, encoded); err != nil {
		return fmt.Errorf("creating set %s: %w", set.Name, err)
	}
	return nil
}

// patchSet brings the spec of a set to the goal, on the terms of the act.
func (p *performance) patchSet(ctx context.Context, set *v1.StatefulSet, terms scenarios.Terms, target goal) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/spec/replicas", "value": target.replicas},
		{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": target.image},
		{"op": "replace", "path": "/spec/updateStrategy", "value": strategyOf(terms, p.contestant)},
	})
	if err != nil {
		return fmt.Errorf("encoding an edit: %w", err)
	}
	if err := p.stage.Client().Patch(ctx, p.blank(set.Name), client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return fmt.Errorf("editing set %s: %w", set.Name, err)
	}
	return nil
}

func (p *performance) blank(name string) *unstructured.Unstructured {
	set := &unstructured.Unstructured{}
	set.SetAPIVersion(apiVersion(p.contestant))
	set.SetKind(v1.Kind.Kind)
	set.SetNamespace(p.namespace)
	set.SetName(name)
	return set
}

// checkStatuses returns nil when every set's status says that it is where it should be.
func (p *performance) checkStatuses(ctx context.Context, target goal) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion(p.contestant))
	list.SetKind(v1.Kind.Kind + "List")
	if err := p.stage.Client().List(ctx, list, client.InNamespace(p.namespace)); err != nil {
		return fmt.Errorf("listing sets: %w", err)
	}
	for i := range list.Items {
		if err := checkStatus(&list.Items[i], target); err != nil {
			return err
		}
	}
	return nil
}

func checkStatus(set *unstructured.Unstructured, target goal) error {
	number := func(field string) int64 {
		value, _, _ := unstructured.NestedInt64(set.Object, "status", field)
		return value
	}
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(set.Object, "status", field)
		return value
	}
	want := int64(target.replicas)
	isThere := number("replicas") == want && number("readyReplicas") == want && number("availableReplicas") == want &&
		number("observedGeneration") == set.GetGeneration() && text("currentRevision") == text("updateRevision")
	if !isThere {
		return fmt.Errorf("the status of set %s is %v", set.GetName(), set.Object["status"])
	}
	return nil
}
