package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

var threeUp = []string{"create web-0 r1", "create web-1 r1", "create web-2 r1"}

func given(t *testing.T, edits ...scenario.Edit) *scenario.Story {
	t.Helper()
	story := scenario.Given(t, scenario.Rollcall, append([]scenario.Edit{scenario.Replicas(3)}, edits...)...)
	story.ThenUpdated(*story.Set().Spec.Replicas)
	return story
}

func TestRollingUpdateFromTheTop(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(3)
	story.ThenTape(append(threeUp,
		"delete web-2", "create web-2 r2", "delete web-1", "create web-1 r2", "delete web-0", "create web-0 r2")...)
}

// The safe default: a pod that does not get ready halts the update, and a fixed template alone does not free it.
func TestBrokenTemplateHaltsRollingUpdate(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image("web:2-crash-loop"))
	story.ThenPodBroken(2, "web:2-crash-loop")
	story.When(scenario.Image("web:3"))
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")

	// Somebody deletes it: the update goes on with the fixed template.
	story.DeletePod(2)
	story.ThenUpdated(3)
	story.ThenPods("web-0 r3", "web-1 r3", "web-2 r3")
}

func TestCanaryAndStagedRollOut(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Partition(3))
	story.When(scenario.Image("web:2"))
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r1")

	story.When(scenario.Partition(2))
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")
	story.ThenReady(3)

	// Pods keep to their side of the partition when they are lost.
	story.DeletePod(0)
	story.DeletePod(2)
	story.ThenReady(3)
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")
	story.Then("the update is staged, not complete", func(set *v1.StatefulSet) error {
		if set.Status.CurrentRevision == set.Status.UpdateRevision || set.Status.UpdatedReplicas != 1 || set.Status.CurrentReplicas != 2 {
			return fmt.Errorf("status %+v", set.Status)
		}
		return nil
	})

	story.When(scenario.Partition(0))
	story.ThenUpdated(3)
	story.ThenPods("web-0 r2", "web-1 r2", "web-2 r2")
}

// With a budget of 2 an ordered set goes down and comes up two pods at a time.
func TestOrderedBatchComesUpTogether(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(4), scenario.MaxUnavailable("2"))
	story.When(scenario.Image("web:2-start-2s"))
	story.Then("two pods are on their way at the same time", func(*v1.StatefulSet) error {
		pending := 0
		for _, pod := range story.Pods() {
			if imageOf(&pod) == "web:2-start-2s" && !isReady(&pod) {
				pending++
			}
		}
		if pending != 2 {
			return fmt.Errorf("%d pods of the new revision are not ready", pending)
		}
		return nil
	})
	story.ThenUpdated(4)
}

// Parallel: outdated pods that are broken already cost nothing to replace.
func TestParallelUpdateReplacesBrokenPodsFirst(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(4), scenario.Parallel())
	story.Break(1)
	story.When(scenario.Image("web:2-crash-loop"))
	story.ThenPodBroken(1, "web:2-crash-loop")
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r2", "web-2 r1", "web-3 r1")

	story.When(scenario.Image("web:3"))
	story.ThenUpdated(4)
}

func TestOnDelete(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Strategy(v1.OnDeleteStrategy))
	story.When(scenario.Image("web:2"))
	story.ThenQuiet()
	story.DeletePod(1)
	story.ThenReady(3)
	story.ThenPods("web-0 r1", "web-1 r2", "web-2 r1")
	story.DeletePod(0)
	story.DeletePod(2)
	story.ThenUpdated(3)
	story.ThenPods("web-0 r2", "web-1 r2", "web-2 r2")
}

func TestRollbackInMidFlight(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image("web:2"), scenario.Partition(1))
	story.ThenPods("web-0 r1", "web-1 r2", "web-2 r2")
	story.ThenReady(3)
	story.When(scenario.Image("web:1"), scenario.Partition(0))
	story.ThenUpdated(3)
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r1")
	if revisions := story.Revisions(); len(revisions) != 2 || revisions[1].Revision != 3 {
		t.Errorf("%d revisions, the newest with number %d; want the first one reused with number 3", len(revisions), revisions[len(revisions)-1].Revision)
	}
}

func TestRollForwardInMidFlight(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image("web:2-start-1s"))
	story.ThenPodBroken(2, "web:2-start-1s")
	story.When(scenario.Image("web:3"))
	story.ThenUpdated(3)
	story.ThenPods("web-0 r3", "web-1 r3", "web-2 r3")
}

func TestPausedHoldsUpdatesNotScaling(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Paused(true))
	story.When(scenario.Image("web:2"), scenario.Replicas(4))
	story.ThenReady(4)
	story.DeletePod(0)
	story.ThenReady(4)
	for _, number := range []int{1, 2} {
		if pod := story.Pod(number); imageOf(pod) != "web:1" {
			t.Errorf("%s runs %s while the set is paused, want web:1", pod.Name, imageOf(pod))
		}
	}
	story.When(scenario.Paused(false))
	story.ThenUpdated(4)
}

// Completion needs availability, not mere readiness.
func TestCompletionNeedsAvailability(t *testing.T) {
	t.Parallel()
	const minReady = 3
	story := given(t, scenario.Replicas(1), scenario.MinReady(minReady))
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(1)
	isReady := func(condition corev1.PodCondition) bool { return condition.Type == corev1.PodReady }
	conditions := story.Pod(0).Status.Conditions
	ready := conditions[slices.IndexFunc(conditions, isReady)].LastTransitionTime
	complete := meta.FindStatusCondition(story.Set().Status.Conditions, v1.ConditionReady).LastTransitionTime
	if waited := complete.Sub(ready.Time); waited < minReady*time.Second {
		t.Errorf("the update was complete %s after its pod was ready, want at least %d s", waited, minReady)
	}
}

func TestHistoryIsTruncated(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1), scenario.HistoryLimit(1))
	for number := 2; number <= 4; number++ {
		story.When(scenario.Image(fmt.Sprintf("web:%d", number)))
		story.ThenUpdated(1)
	}
	story.Then("two revisions are left", func(*v1.StatefulSet) error {
		var numbers []int64
		for _, revision := range story.Revisions() {
			numbers = append(numbers, revision.Revision)
		}
		if diff := cmp.Diff([]int64{3, 4}, numbers); diff != "" {
			return fmt.Errorf("numbers (-want +got):\n%s", diff)
		}
		return nil
	})
}

// A manifest that spells the defaults out means the same as one that does not: no restart.
func TestDefaultsSpeltOutAreNoUpdate(t *testing.T) {
	t.Parallel()
	story := given(t)
	before := podUIDs(story)
	filledIn := &corev1.PodTemplate{Template: *story.Set().Spec.Template.DeepCopy()}
	filledIn.GenerateName, filledIn.Namespace = "probe-", story.Name
	if err := story.Client.Create(story.Context, filledIn, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	story.When(func(set *v1.StatefulSet) { set.Spec.Template = filledIn.Template })
	story.ThenUpdated(3)
	story.ThenQuiet()
	if diff := cmp.Diff(before, podUIDs(story)); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
	if revisions := story.Revisions(); len(revisions) != 1 {
		t.Errorf("%d revisions, want 1", len(revisions))
	}
}

// Revisions have the form of apps/v1: whoever reads those reads these.
func TestRevisionForm(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1))
	revision := story.Revisions()[0]
	var data struct {
		Spec struct {
			Template struct {
				Patch string         `json:"$patch"`
				Spec  corev1.PodSpec `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		t.Fatal(err)
	}
	if data.Spec.Template.Patch != "replace" || data.Spec.Template.Spec.Containers[0].Image != "web:1" {
		t.Errorf("data is %s, want a patch that replaces the template", revision.Data.Raw)
	}
}
