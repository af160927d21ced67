package integration

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestOrderedScaling(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
	story.ThenReady(3)
	story.ThenTape("create web-0 r1", "create web-1 r1", "create web-2 r1")

	story.Scale(1)
	story.ThenReady(1)
	story.ThenTape("create web-0 r1", "create web-1 r1", "create web-2 r1", "delete web-2", "delete web-1")

	story.Scale(0)
	story.ThenReady(0)
	story.ThenPods()
}

func TestRollingUpdateSmoke(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
	story.ThenUpdated(3)
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(3)
	story.ThenTape("create web-0 r1", "create web-1 r1", "create web-2 r1",
		"delete web-2", "create web-2 r2", "delete web-1", "create web-1 r2", "delete web-0", "create web-0 r2")
}
