// Package features holds the feature gates of the operator.
//
// Webhook and controller are processes of their own, each with its own --feature-gates. Off in the webhook, a gate
// keeps new uses of the feature out and leaves stored ones editable; off in the controller, what is stored is acted on
// as if the feature had not been asked for. Switching a gate on again takes effect at once on what is stored.
package features

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

const (
	// MaxUnavailable lets an update take down more than one pod at a time. Off: the webhook resets maxUnavailable to 1,
	// the controller counts it as 1.
	MaxUnavailable featuregate.Feature = "MaxUnavailableStatefulSet"
	// Recreate offers the Recreate strategy. Off: the webhook refuses it, the controller acts as RollingUpdate.
	Recreate featuregate.Feature = "StatefulSetRecreateStrategy"
	// EnforcedRollingUpdate offers the EnforcedRollingUpdate strategy. Off: as for Recreate.
	EnforcedRollingUpdate featuregate.Feature = "EnforcedRollingUpdateInStatefulSet"
	// ProgressDeadline offers podProgressTimeoutSeconds. Off: the webhook refuses the field, the controller ignores it.
	ProgressDeadline featuregate.Feature = "StatefulSetProgressDeadline"
)

// All are the gates in the order in which they are listed to users.
var All = []featuregate.Feature{MaxUnavailable, Recreate, EnforcedRollingUpdate, ProgressDeadline}

// Set is the gates of one process, each on or off.
type Set struct {
	gate featuregate.MutableFeatureGate
}

// New returns the gates with their defaults: all Beta, all on.
func New() *Set {
	gate := featuregate.NewFeatureGate()
	specs := map[featuregate.Feature]featuregate.FeatureSpec{}
	for _, name := range All {
		specs[name] = featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}
	}
	if err := gate.Add(specs); err != nil {
		panic(fmt.Sprintf("adding the feature gates, which are constants: %v", err))
	}
	return &Set{gate: gate}
}

// AddFlag adds --feature-gates.
func (s *Set) AddFlag(flags *pflag.FlagSet) { s.gate.AddFlag(flags) }

// Assign switches gates as --feature-gates does: "Name=true,Other=false".
func (s *Set) Assign(text string) error { return s.gate.Set(text) }

// Enabled tells whether a gate is on.
func (s *Set) Enabled(name featuregate.Feature) bool { return s.gate.Enabled(name) }

// Stage is how mature a feature is: "ALPHA", "BETA" or "" for general availability.
func (s *Set) Stage(name featuregate.Feature) string { return string(s.gate.GetAll()[name].PreRelease) }

// Gates is the form in which the planner reads the gates.
func (s *Set) Gates() plan.Gates {
	return plan.Gates{
		MaxUnavailable:        s.Enabled(MaxUnavailable),
		Recreate:              s.Enabled(Recreate),
		EnforcedRollingUpdate: s.Enabled(EnforcedRollingUpdate),
		ProgressDeadline:      s.Enabled(ProgressDeadline),
	}
}
