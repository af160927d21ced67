package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/validation"
)

func withStrategy(strategy v1.UpdateStrategyType) *v1.StatefulSet {
	return &v1.StatefulSet{Spec: v1.StatefulSetSpec{UpdateStrategy: v1.UpdateStrategy{Type: strategy}}}
}

func withTimeout(seconds int32) *v1.StatefulSet {
	set := withStrategy(v1.RollingUpdateStrategy)
	set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdate{PodProgressTimeoutSeconds: &seconds}
	return set
}

func TestGates(t *testing.T) {
	const (
		typeField    = "spec.updateStrategy.type"
		timeoutField = "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds"
	)
	allBut := func(change func(*plan.Gates)) plan.Gates {
		gates := plan.AllGates()
		change(&gates)
		return gates
	}
	noRecreate := allBut(func(g *plan.Gates) { g.Recreate = false })
	noEnforced := allBut(func(g *plan.Gates) { g.EnforcedRollingUpdate = false })
	noDeadline := allBut(func(g *plan.Gates) { g.ProgressDeadline = false })
	tests := map[string]struct {
		gates       plan.Gates
		set, stored *v1.StatefulSet
		want        []string
	}{
		"all on, Recreate":                        {gates: plan.AllGates(), set: withStrategy(v1.RecreateStrategy)},
		"all on, Enforced":                        {gates: plan.AllGates(), set: withStrategy(v1.EnforcedRollingUpdateStrategy)},
		"all on, timeout":                         {gates: plan.AllGates(), set: withTimeout(600)},
		"all off, plain strategies":               {set: withStrategy(v1.OnDeleteStrategy)},
		"Recreate off, create":                    {gates: noRecreate, set: withStrategy(v1.RecreateStrategy), want: []string{typeField}},
		"Recreate off, switch to it":              {gates: noRecreate, set: withStrategy(v1.RecreateStrategy), stored: withStrategy(v1.OnDeleteStrategy), want: []string{typeField}},
		"Recreate off, stored with it":            {gates: noRecreate, set: withStrategy(v1.RecreateStrategy), stored: withStrategy(v1.RecreateStrategy)},
		"Recreate off, switch away":               {gates: noRecreate, set: withStrategy(v1.OnDeleteStrategy), stored: withStrategy(v1.RecreateStrategy)},
		"Recreate off, Enforced unharmed":         {gates: noRecreate, set: withStrategy(v1.EnforcedRollingUpdateStrategy)},
		"Enforced off, create":                    {gates: noEnforced, set: withStrategy(v1.EnforcedRollingUpdateStrategy), want: []string{typeField}},
		"Enforced off, switch from Recreate":      {gates: noEnforced, set: withStrategy(v1.EnforcedRollingUpdateStrategy), stored: withStrategy(v1.RecreateStrategy), want: []string{typeField}},
		"Enforced off, stored with it":            {gates: noEnforced, set: withStrategy(v1.EnforcedRollingUpdateStrategy), stored: withStrategy(v1.EnforcedRollingUpdateStrategy)},
		"deadline off, create with the field":     {gates: noDeadline, set: withTimeout(600), want: []string{timeoutField}},
		"deadline off, set the field":             {gates: noDeadline, set: withTimeout(600), stored: withStrategy(v1.RollingUpdateStrategy), want: []string{timeoutField}},
		"deadline off, change a stored field":     {gates: noDeadline, set: withTimeout(900), stored: withTimeout(600)},
		"deadline off, remove a stored field":     {gates: noDeadline, set: withStrategy(v1.RollingUpdateStrategy), stored: withTimeout(600)},
		"deadline off, back after it was removed": {gates: noDeadline, set: withTimeout(600), stored: withStrategy(v1.RollingUpdateStrategy), want: []string{timeoutField}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := fieldsOf(validation.Gates(test.gates, test.set, test.stored))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
}

func fieldsOf(errs field.ErrorList) []string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return fields
}
