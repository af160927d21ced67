package preview

import (
	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// asInForce writes a set as the controller reads it whose feature gates may be
// off: what is switched off is not there, and RollingUpdate acts in the place of a
// strategy that is, within the partition of that. In the model all gates are on.
func asInForce(set *v1.StatefulSet, gates plan.Gates) *v1.StatefulSet {
	if gates == plan.AllGates() {
		return set
	}
	set = set.DeepCopy()
	strategy := &set.Spec.UpdateStrategy
	switch {
	case strategy.Type == v1.RecreateStrategy && !gates.Recreate:
		*strategy = v1.UpdateStrategy{Type: v1.RollingUpdateStrategy}
	case strategy.Type == v1.EnforcedRollingUpdateStrategy && !gates.EnforcedRollingUpdate:
		*strategy = v1.UpdateStrategy{Type: v1.RollingUpdateStrategy, RollingUpdate: strategy.EnforcedRollingUpdate}
	}
	for _, tuning := range []*v1.RollingUpdate{strategy.RollingUpdate, strategy.EnforcedRollingUpdate} {
		switchOff(tuning, gates)
	}
	v1.SetDefaults(set)
	return set
}

func switchOff(tuning *v1.RollingUpdate, gates plan.Gates) {
	if tuning == nil {
		return
	}
	if !gates.MaxUnavailable {
		tuning.MaxUnavailable = nil
	}
	if !gates.ProgressDeadline {
		tuning.PodProgressTimeoutSeconds = nil
	}
}
