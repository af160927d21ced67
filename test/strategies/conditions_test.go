package strategies

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// The images of the pages. The second can't be pulled.
const (
	firstImage  = "nginx:1.28"
	brokenImage = "nginx:1.29-image-pull-backoff"
	secondImage = "nginx:1.29"
	crashImage  = "nginx:1.30-crash-loop"
)

// situation is how a set gets into the state that a page shows.
type situation struct {
	given []scenario.Edit
	when  func(*scenario.Story)
	// reason is that of Progressing once it is there.
	reason string
}

// situations has those of the pages by the names they have there.
var situations = map[string]situation{
	"a RollingUpdate that waits for the partition": {
		given:  []scenario.Edit{scenario.Partition(2)},
		when:   edit(scenario.Image(secondImage)),
		reason: v1.ReasonUpdateStaged,
	},
	"a RollingUpdate that a broken pod holds, after the correction": {
		when: func(story *scenario.Story) {
			story.When(scenario.Image(brokenImage))
			story.ThenPodBroken(2, brokenImage)
			story.When(scenario.Image(secondImage))
		},
		reason: v1.ReasonUpdateInProgress,
	},
	"a pod that ran out of time": {
		given:  []scenario.Edit{timeout(20)},
		when:   edit(scenario.Image(brokenImage)),
		reason: v1.ReasonProgressDeadlineExceeded,
	},
	"a pod that ran out of attempts": {
		given:  []scenario.Edit{timeout(1)},
		when:   edit(scenario.Image(brokenImage)),
		reason: v1.ReasonProgressHalted,
	},
	"a safety halt": {
		given:  []scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy)},
		when:   edit(scenario.Image(brokenImage)),
		reason: v1.ReasonSafetyHalt,
	},
	"a Recreate with a pod that does not terminate": {
		given: []scenario.Edit{scenario.Strategy(v1.RecreateStrategy)},
		when: func(story *scenario.Story) {
			story.AnnotatePod(1, "sim.rollcall.dev/stop-delay", "never")
			story.When(scenario.Image(secondImage))
		},
		reason: v1.ReasonRecreateInProgress,
	},
	"a Recreate with a bad template": {
		given:  []scenario.Edit{scenario.Strategy(v1.RecreateStrategy)},
		when:   edit(scenario.Image(crashImage)),
		reason: v1.ReasonRecreateInProgress,
	},
	"an OnDelete that waits": {
		given: []scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy)},
		when: func(story *scenario.Story) {
			story.When(scenario.Image(secondImage))
			story.DeletePod(1)
		},
		reason: v1.ReasonUpdateWaiting,
	},
	"a RollingUpdate that is paused": {
		when:   edit(scenario.Paused(true), scenario.Image(secondImage)),
		reason: v1.ReasonUpdatePaused,
	},
	"a Recreate that is paused and lost a pod": {
		given: []scenario.Edit{scenario.Strategy(v1.RecreateStrategy)},
		when: func(story *scenario.Story) {
			story.When(scenario.Paused(true), scenario.Image(secondImage))
			story.DeletePod(0)
		},
		reason: v1.ReasonUpdatePaused,
	},
}

func edit(edits ...scenario.Edit) func(*scenario.Story) {
	return func(story *scenario.Story) { story.When(edits...) }
}

func timeout(seconds int32) scenario.Edit {
	return func(set *v1.StatefulSet) {
		set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdate{PodProgressTimeoutSeconds: &seconds}
	}
}

// TestConditionsAreAsShown brings a set into every situation that a page shows.
func TestConditionsAreAsShown(t *testing.T) {
	shown, seen := blocks(t, "conditions"), seenConditions{contents: map[string]string{}}
	if diff := cmp.Diff(names(situations), names(shown)); diff != "" {
		t.Fatalf("situations (-in the test +in the pages):\n%s", diff)
	}
	t.Run("situations", func(t *testing.T) {
		for name, situation := range situations {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story := situation.play(t)
				if *update {
					story.ThenSettled()
					seen.note(name, prompt+conditionsOf(story.Set()))
					return
				}
				story.Then("the conditions are as the page shows them; write it anew with -update", func(set *v1.StatefulSet) error {
					if diff := cmp.Diff(shown[name], prompt+conditionsOf(set)); diff != "" {
						return errors.New("conditions (-page +set):\n" + diff)
					}
					return nil
				})
			})
		}
	})
	if *update && !t.Failed() {
		rewrite(t, "conditions", seen.contents)
	}
}

// play returns when the set says why it is where it is.
func (s situation) play(t *testing.T) *scenario.Story {
	t.Helper()
	story := scenario.Given(t, scenario.Rollcall, append([]scenario.Edit{scenario.Replicas(3), scenario.Image(firstImage)}, s.given...)...)
	story.ThenUpdated(3)
	s.when(story)
	story.Then("Progressing has the reason "+s.reason, func(set *v1.StatefulSet) error {
		if c := meta.FindStatusCondition(set.Status.Conditions, v1.ConditionProgressing); c == nil || c.Reason != s.reason {
			return fmt.Errorf("Progressing is %+v", c)
		}
		return nil
	})
	return story
}

var nodeName = regexp.MustCompile(`node-\d+`)

// conditionsOf writes the conditions as the function of the README does. On which
// node a pod is does not matter.
func conditionsOf(set *v1.StatefulSet) string {
	var out strings.Builder
	for _, c := range set.Status.Conditions {
		fmt.Fprintf(&out, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return nodeName.ReplaceAllString(out.String(), "node-1")
}

func names[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// seenConditions are what sets said, noted by tests that run side by side.
type seenConditions struct {
	sync.Mutex
	contents map[string]string
}

func (s *seenConditions) note(name, content string) {
	s.Lock()
	defer s.Unlock()
	s.contents[name] = content
}
