package endurance

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// TestKilledAllTheTime kills the operator after every pod that it creates or deletes. The story must come out as if
// nothing had happened: the same pods in the same order, none twice, none too many.
func TestKilledAllTheTime(t *testing.T) {
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	operator := process.Start(t, story.Space)
	stop := killAfterEachLine(story, operator)

	story.Create(scenario.Replicas(3), scenario.Claims("data"))
	story.ThenUpdated(3)
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(3)
	story.When(scenario.Image("web:3"), scenario.Partition(2))
	story.ThenPods("web-0 r2", "web-1 r2", "web-2 r3")
	story.ThenReady(3)
	story.When(scenario.Image("web:2"), scenario.Partition(0))
	story.ThenUpdated(3)
	story.Scale(1)
	story.ThenUpdated(1)

	if kills := stop(); kills < 10 {
		t.Errorf("the operator was killed %d times, want at least 10", kills)
	}
	story.ThenTape(
		"create web-0 r1", "create web-1 r1", "create web-2 r1",
		"delete web-2", "create web-2 r2", "delete web-1", "create web-1 r2", "delete web-0", "create web-0 r2",
		"delete web-2", "create web-2 r3",
		"delete web-2", "create web-2 r2",
		"delete web-2", "delete web-1",
	)
	story.ThenClaims("data-web-0", "data-web-1", "data-web-2")
	if revisions := story.Revisions(); len(revisions) != 3 {
		t.Errorf("%d revisions, want 3", len(revisions))
	}
}

// killAfterEachLine kills and restarts the operator whenever the tape grows. The function returned ends that and tells
// how often it happened.
func killAfterEachLine(story *scenario.Story, operator *process.Operator) (stop func() int) {
	ended, kills := make(chan struct{}), make(chan int)
	go func() {
		lines, count := 0, 0
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				kills <- count
				return
			case <-ticker.C:
			}
			if now := len(story.Tape()); now > lines {
				lines = now
				operator.Restart()
				count++
			}
		}
	}()
	return func() int {
		close(ended)
		return <-kills
	}
}
