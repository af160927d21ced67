package planner

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// GatesTold returns the feature gates of the controller that wrote the status of a
// set, as far as it tells: a gate is taken to be on unless the condition about the
// strategy says that it is off. So whoever looks at a set from outside decides as
// the controller does.
func GatesTold(set *v1.StatefulSet) plan.Gates {
	gates := plan.AllGates()
	told := meta.FindStatusCondition(set.Status.Conditions, v1.ConditionUpdateStrategy)
	if told == nil {
		return gates
	}
	if told.Reason == v1.ReasonFeatureGateDisabled {
		asked := set.Spec.UpdateStrategy.Type
		gates.Recreate = asked != v1.RecreateStrategy
		gates.EnforcedRollingUpdate = asked != v1.EnforcedRollingUpdateStrategy
	}
	isOff := func(gate string) bool { return strings.Contains(told.Message, "the feature gate "+gate+" is off") }
	gates.MaxUnavailable = !isOff("MaxUnavailableStatefulSet")
	gates.ProgressDeadline = !isOff("StatefulSetProgressDeadline")
	return gates
}
