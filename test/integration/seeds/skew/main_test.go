// Package skew plays what the seed documents say about feature gates, version skew and restarts: the operator is a
// process with gates of its own, the webhook another with its own, and either may be replaced at any moment. What
// admission alone does with a gate off is shown by TestGates of test/integration/api.
package skew

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(4)
	process.Main(m)
}

const (
	good     = "web:2"
	crashing = "web:2-crash-loop"
	fixed    = "web:3"
)

// skewed is a story with a webhook and an operator whose gates are set apart.
type skewed struct {
	*scenario.Story
	t        *testing.T
	hook     *admission.Hook
	operator *process.Operator
}

// prepare starts a story with a webhook that has certain gates, and an operator with flags.
func prepare(t *testing.T, gates plan.Gates, flags ...string) *skewed {
	t.Helper()
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	hook := admission.Serve(t, story.Space, gates)
	return &skewed{Story: story, t: t, hook: hook, operator: process.Start(t, story.Space, flags...)}
}

// off is the flag that switches a gate off.
func off(gate string) string { return "--feature-gates=" + gate + "=false" }
