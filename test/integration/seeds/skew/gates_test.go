package skew

import (
	"strings"
	"testing"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

const (
	maxUnavailableGate = "MaxUnavailableStatefulSet"
	recreateGate       = "StatefulSetRecreateStrategy"
	enforcedGate       = "EnforcedRollingUpdateInStatefulSet"
	deadlineGate       = "StatefulSetProgressDeadline"
)

// recovering are the features that let a broken update recover, each with its gate.
var recovering = map[string]struct {
	gate string
	edit scenario.Edit
	// strategy is the condition StatefulSetUpdateStrategy with the gate off; the timeout belongs to RollingUpdate.
	strategy string
}{
	"Recreate":              {recreateGate, scenario.Strategy(v1.RecreateStrategy), "False FeatureGateDisabled"},
	"EnforcedRollingUpdate": {enforcedGate, scenario.Strategy(v1.EnforcedRollingUpdateStrategy), "False FeatureGateDisabled"},
	"timeout":               {deadlineGate, scenario.ProgressTimeout(1), "True RollingUpdate"},
}

// Seed 000, skew 1 and 3, seed 003, re-enablement, seed 004, skew 1: the webhook knows the feature and the controller does
// not. The set is accepted and updated as with RollingUpdate, so a broken update halts and stays halted when it is
// fixed. A controller that knows the feature, as after an upgrade or a change of the leader, acts at once on what is
// stored.
func TestControllerBehindTheWebhook(t *testing.T) {
	t.Parallel()
	for name, feature := range recovering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := prepare(t, plan.AllGates(), off(feature.gate))
			story.Create(scenario.Replicas(3), feature.edit)
			story.ThenUpdated(3)
			story.ThenCondition(v1.ConditionUpdateStrategy, feature.strategy)
			story.When(scenario.Image(crashing))
			story.ThenPodBroken(2, crashing)
			story.When(scenario.Image(fixed))
			story.ThenQuiet()
			story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")

			story.operator.Restart()
			story.ThenUpdated(3)
			story.ThenPods("web-0 r3", "web-1 r3", "web-2 r3")
		})
	}
}

// Seed 000, skew 3 and rollback: the gate is switched off in the middle of an update. The controller goes on as with
// RollingUpdate, from whatever state it finds, and an update that is not broken completes.
func TestGateSwitchedOffInMidUpdate(t *testing.T) {
	t.Parallel()
	for name, feature := range recovering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := prepare(t, plan.AllGates())
			story.Create(scenario.Replicas(3), feature.edit)
			story.ThenUpdated(3)
			story.When(scenario.Image("web:2-start-500ms"))
			story.Then("the update has begun", func(*v1.StatefulSet) error { return hasBegun(story.Tape()) })
			story.operator.Restart(off(feature.gate))
			story.ThenUpdated(3)
			story.ThenPods("web-0 r2", "web-1 r2", "web-2 r2")
			story.ThenCondition(v1.ConditionUpdateStrategy, feature.strategy)
		})
	}
}

// Seed 000, skew 2, seed 004, skew 2: the controller knows the feature and the webhook does not. Nobody can ask for it.
// A set that has it from before stays editable, which is gentler than the documents ask for, and works.
func TestWebhookBehindTheController(t *testing.T) {
	t.Parallel()
	none := plan.Gates{}
	for name, feature := range recovering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := prepare(t, none)
			story.Create(scenario.Replicas(2))
			story.ThenUpdated(2)
			asked := story.Set()
			feature.edit(asked)
			if err := story.Client.Update(story.Context, asked); err == nil || !strings.Contains(err.Error(), feature.gate) {
				t.Errorf("asking for the feature: got %v, want a refusal that names gate %s", err, feature.gate)
			}

			story.hook.Switch(t, plan.AllGates())
			story.When(feature.edit)
			story.hook.Switch(t, none)
			story.When(scenario.Image(crashing))
			story.Then("the update has begun", func(*v1.StatefulSet) error { return hasBegun(story.Tape()) })
			story.When(scenario.Image(fixed))
			story.ThenUpdated(2)
		})
	}
}

// Seed 001, upgrade, downgrade and upgrade again: the steps of the document's manual test, under both policies. A
// maxUnavailable that is stored survives the downgrade, during which pods are updated one at a time.
func TestMaxUnavailableUpgradeDowngradeUpgrade(t *testing.T) {
	t.Parallel()
	behind := plan.AllGates()
	behind.MaxUnavailable = false
	for policy, edits := range map[string][]scenario.Edit{"OrderedReady": nil, "Parallel": {scenario.Parallel()}} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			story := prepare(t, plan.AllGates())
			story.Create(append(edits, scenario.Replicas(6), scenario.MaxUnavailable("3"))...)
			story.ThenUpdated(6)
			story.wantMostDown(3, "web:2-start-300ms", "with the feature")

			story.hook.Switch(t, behind)
			story.operator.Restart(off(maxUnavailableGate))
			story.wantMostDown(1, "web:3-start-300ms", "after the downgrade")
			if stored := story.Set().Spec.UpdateStrategy.RollingUpdate.MaxUnavailable; stored.IntValue() != 3 {
				t.Errorf("the stored maxUnavailable is %v, want 3", stored)
			}

			story.hook.Switch(t, plan.AllGates())
			story.operator.Restart()
			story.wantMostDown(3, "web:4-start-300ms", "after the second upgrade")
		})
	}
}

// Seed 001, skew: with the gate on in one process and off in the other, whichever, pods are updated one at a time. The
// controller ignores the field, or the webhook drops it.
func TestMaxUnavailableHalfEnabled(t *testing.T) {
	t.Parallel()
	behind := plan.AllGates()
	behind.MaxUnavailable = false
	cases := map[string]struct {
		hook   plan.Gates
		flags  []string
		stored int
	}{
		"controller behind": {plan.AllGates(), []string{off(maxUnavailableGate)}, 3},
		"webhook behind":    {behind, nil, 1},
		"both behind":       {behind, []string{off(maxUnavailableGate)}, 1},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := prepare(t, test.hook, test.flags...)
			story.Create(scenario.Replicas(3), scenario.MaxUnavailable("3"))
			story.ThenUpdated(3)
			if stored := story.Set().Spec.UpdateStrategy.RollingUpdate.MaxUnavailable; stored.IntValue() != test.stored {
				t.Errorf("the stored maxUnavailable is %v, want %d", stored, test.stored)
			}
			story.wantMostDown(1, good, name)
		})
	}
}

// wantMostDown updates the set and checks how many pods were down at a time.
func (s *skewed) wantMostDown(want int, image, when string) {
	s.t.Helper()
	before := len(s.FullTape())
	s.When(scenario.Image(image))
	s.ThenUpdated(*s.Set().Spec.Replicas)
	if most := scenario.MostDown(s.FullTape()[before:]); most != want {
		s.t.Errorf("%s %d pods were down at a time, want %d", when, most, want)
	}
}
