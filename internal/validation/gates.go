package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

var strategyPath = field.NewPath("spec", "updateStrategy")

// Gates refuses what a disabled feature gate keeps out. A stored set that has it already stays editable, so that
// switching a gate off never locks anybody out of their own objects; stored is nil when the set is new.
func Gates(gates plan.Gates, set, stored *v1.StatefulSet) field.ErrorList {
	if stored == nil {
		stored = &v1.StatefulSet{}
	}
	next, before := set.Spec.UpdateStrategy, stored.Spec.UpdateStrategy
	errs := refuseStrategies(gates, next.Type, before.Type)
	if !gates.ProgressDeadline && progressTimeout(next) != nil && progressTimeout(before) == nil {
		errs = append(errs, field.Forbidden(strategyPath.Child("rollingUpdate", "podProgressTimeoutSeconds"),
			"needs the feature gate StatefulSetProgressDeadline, which is off: remove the field or have the gate switched on"))
	}
	return errs
}

// refuseStrategies refuses a change to a strategy whose gate is off.
func refuseStrategies(gates plan.Gates, next, before v1.UpdateStrategyType) field.ErrorList {
	offered := map[v1.UpdateStrategyType]struct {
		enabled bool
		gate    string
	}{
		v1.RecreateStrategy:              {gates.Recreate, "StatefulSetRecreateStrategy"},
		v1.EnforcedRollingUpdateStrategy: {gates.EnforcedRollingUpdate, "EnforcedRollingUpdateInStatefulSet"},
	}
	strategy, gated := offered[next]
	if !gated || strategy.enabled || next == before {
		return nil
	}
	return field.ErrorList{field.Forbidden(strategyPath.Child("type"), fmt.Sprintf(
		"%s needs the feature gate %s, which is off: choose RollingUpdate or OnDelete, or have the gate switched on",
		next, strategy.gate))}
}

func progressTimeout(strategy v1.UpdateStrategy) *int32 {
	if strategy.RollingUpdate == nil {
		return nil
	}
	return strategy.RollingUpdate.PodProgressTimeoutSeconds
}
