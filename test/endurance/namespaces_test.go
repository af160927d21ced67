package endurance

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// TestWatchNamespaces looks after two namespaces and leaves a third alone.
func TestWatchNamespaces(t *testing.T) {
	one := scenario.PrepareUnattended(t, scenario.Rollcall)
	two := scenario.PrepareUnattended(t, scenario.Rollcall)
	other := scenario.PrepareUnattended(t, scenario.Rollcall)
	process.Start(t, one.Space, "--watch-namespaces="+two.Name)

	other.Create(scenario.Replicas(1))
	for _, story := range []*scenario.Story{one, two} {
		story.Create(scenario.Replicas(3), scenario.Claims("data"))
		story.ThenUpdated(3)
		story.When(scenario.Image("web:2"))
		story.ThenUpdated(3)
	}
	other.ThenQuiet()
	other.ThenPods()
}
