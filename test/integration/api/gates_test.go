package api

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// step is one write of a user, to a webhook with certain gates.
type step struct {
	gates plan.Gates
	// strategy is the updateStrategy that the user writes.
	strategy string
	// replicas is written along, so that a step can edit another field.
	replicas int64
	// refused is the field that the webhook refuses; "" if the write is accepted.
	refused string
	// stored is the updateStrategy after the write.
	stored string
}

const (
	typeField    = "spec.updateStrategy.type"
	timeoutField = "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds"

	rolling    = "{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}"
	rollingBy3 = "{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 3}}"
	rollingBy5 = "{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 5}}"
	timeout600 = "{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1, podProgressTimeoutSeconds: 600}}"
	timeout900 = "{type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1, podProgressTimeoutSeconds: 900}}"
	recreate   = "{type: Recreate}"
	onDelete   = "{type: OnDelete}"
	enforced   = "{type: EnforcedRollingUpdate, enforcedRollingUpdate: {partition: 0, maxUnavailable: 1}}"
	enforced3  = "{type: EnforcedRollingUpdate, enforcedRollingUpdate: {partition: 0, maxUnavailable: 3}}"
)

// TestGates plays the version skew of the seed documents as far as admission goes: each scenario is the history of one
// set under a webhook that is restarted with other gates.
func TestGates(t *testing.T) {
	on := plan.AllGates()
	noMaxUnavailable, noRecreate, noEnforced, noDeadline := on, on, on, on
	noMaxUnavailable.MaxUnavailable = false
	noRecreate.Recreate = false
	noEnforced.EnforcedRollingUpdate = false
	noDeadline.ProgressDeadline = false
	scenarios := map[string][]step{
		"MaxUnavailable on": {
			{gates: on, strategy: rollingBy3, stored: rollingBy3},
			{gates: on, strategy: rollingBy5, stored: rollingBy5},
		},
		"MaxUnavailable off: dropped at creation and in updates": {
			{gates: noMaxUnavailable, strategy: rollingBy3, stored: rolling},
			{gates: noMaxUnavailable, strategy: rollingBy5, stored: rolling},
			{gates: noMaxUnavailable, strategy: enforced3, stored: enforced},
		},
		"MaxUnavailable stored, then off, then on again": {
			{gates: on, strategy: rollingBy3, stored: rollingBy3},
			{gates: noMaxUnavailable, strategy: rollingBy3, replicas: 5, stored: rollingBy3},
			{gates: noMaxUnavailable, strategy: rollingBy5, stored: rollingBy5},
			{gates: noMaxUnavailable, strategy: rolling, stored: rolling},
			{gates: noMaxUnavailable, strategy: rollingBy3, stored: rolling},
			{gates: on, strategy: rollingBy3, stored: rollingBy3},
		},
		"Recreate on": {
			{gates: on, strategy: recreate, stored: recreate},
		},
		"Recreate off: refused at creation": {
			{gates: noRecreate, strategy: recreate, refused: typeField},
		},
		"Recreate off: refused in updates": {
			{gates: noRecreate, strategy: onDelete, stored: onDelete},
			{gates: noRecreate, strategy: recreate, refused: typeField, stored: onDelete},
		},
		"Recreate stored, then off, then on again": {
			{gates: on, strategy: recreate, stored: recreate},
			{gates: noRecreate, strategy: recreate, replicas: 5, stored: recreate},
			{gates: noRecreate, strategy: onDelete, stored: onDelete},
			{gates: noRecreate, strategy: recreate, refused: typeField, stored: onDelete},
			{gates: on, strategy: recreate, stored: recreate},
		},
		"Enforced on": {
			{gates: on, strategy: enforced3, stored: enforced3},
		},
		"Enforced off: refused at creation": {
			{gates: noEnforced, strategy: enforced, refused: typeField},
		},
		"Enforced stored, then off, then on again": {
			{gates: on, strategy: enforced, stored: enforced},
			{gates: noEnforced, strategy: enforced3, stored: enforced3},
			{gates: noEnforced, strategy: rolling, stored: rolling},
			{gates: noEnforced, strategy: enforced, refused: typeField, stored: rolling},
			{gates: on, strategy: enforced, stored: enforced},
		},
		"timeout on": {
			{gates: on, strategy: timeout600, stored: timeout600},
		},
		"timeout off: refused at creation": {
			{gates: noDeadline, strategy: timeout600, refused: timeoutField},
		},
		"timeout off: refused in updates": {
			{gates: noDeadline, strategy: rolling, stored: rolling},
			{gates: noDeadline, strategy: timeout600, refused: timeoutField, stored: rolling},
		},
		"timeout stored, then off, then on again": {
			{gates: on, strategy: timeout600, stored: timeout600},
			{gates: noDeadline, strategy: timeout600, replicas: 5, stored: timeout600},
			{gates: noDeadline, strategy: timeout900, stored: timeout900},
			{gates: noDeadline, strategy: rolling, stored: rolling},
			{gates: noDeadline, strategy: timeout600, refused: timeoutField, stored: rolling},
			{gates: on, strategy: timeout600, stored: timeout600},
		},
		"all off: apps/v1 remains": {
			{strategy: rolling, stored: rolling},
			{strategy: onDelete, stored: onDelete},
			{strategy: recreate, refused: typeField, stored: onDelete},
			{strategy: enforced, refused: typeField, stored: onDelete},
			{strategy: timeout600, refused: timeoutField, stored: onDelete},
		},
	}
	for name, steps := range scenarios {
		t.Run(name, func(t *testing.T) {
			space := cluster.Namespace(t)
			hook := admission.Serve(t, space, on)
			set := minimalSet(space.Name)
			for i, step := range steps {
				hook.Switch(t, step.gates)
				play(t, space, set, i, step)
			}
		})
	}
}

// TestGatesWithoutWebhook: with no webhook nothing depends on gates, and the CRD alone decides.
func TestGatesWithoutWebhook(t *testing.T) {
	for name, strategy := range map[string]string{
		"MaxUnavailable": rollingBy3, "Recreate": recreate, "Enforced": enforced3, "timeout": timeout600,
	} {
		t.Run(name, func(t *testing.T) {
			space := cluster.Namespace(t)
			play(t, space, minimalSet(space.Name), 0, step{strategy: strategy, stored: strategy})
		})
	}
}

// play writes the set as the step says and checks what became of it.
func play(t *testing.T, space *cluster.Space, set *unstructured.Unstructured, number int, step step) {
	t.Helper()
	written := set.DeepCopy()
	setField(t, written, parsed(t, step.strategy), "spec", "updateStrategy")
	if step.replicas != 0 {
		setField(t, written, step.replicas, "spec", "replicas")
	}
	err := write(space, written)
	if refused := slices.Contains(refusedFields(err), step.refused); err != nil && !refused || step.refused != "" && err == nil {
		t.Fatalf("step %d: %s: got %v, want %q refused", number, step.strategy, err, step.refused)
	}
	if err == nil {
		*set = *written
	}
	if step.stored == "" {
		return
	}
	stored, _, _ := unstructured.NestedFieldNoCopy(set.Object, "spec", "updateStrategy")
	if diff := cmp.Diff(parsed(t, step.stored), stored); diff != "" {
		t.Errorf("step %d: stored strategy (-want +got):\n%s", number, diff)
	}
}

// write creates the set, or updates it once it has been created.
func write(space *cluster.Space, set *unstructured.Unstructured) error {
	if set.GetResourceVersion() == "" {
		return space.Client.Create(space.Context, set)
	}
	return space.Client.Update(space.Context, set)
}

func refusedFields(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(`{"kind":"Value","apiVersion":"v1","value":` + string(raw) + `}`)); err != nil {
		t.Fatal(err)
	}
	return object.Object["value"]
}

func setField(t *testing.T, set *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(set.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func minimalSet(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.rollcall.dev/v1",
		"kind":       "StatefulSet",
		"metadata":   map[string]any{"name": "web", "namespace": namespace},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "nginx"}}},
			},
		},
	}}
}
