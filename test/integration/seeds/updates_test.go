package seeds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Seed 002, test 1 and the use cases in scope: a change of image, resources, environment, command or the list of
// containers updates the pods one by one from the highest ordinal down. Names and claims stay with their ordinals.
func TestUpdateOfAnyPartOfTheContainers(t *testing.T) {
	t.Parallel()
	container := func(edit func(*corev1.Container)) scenario.Edit {
		return func(set *v1.StatefulSet) { edit(&set.Spec.Template.Spec.Containers[0]) }
	}
	changes := []scenario.Edit{
		scenario.Image(good),
		requestCPU("100m"),
		container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}} }),
		container(func(c *corev1.Container) { c.Command, c.Args = []string{"serve"}, []string{"--port=80"} }),
		func(set *v1.StatefulSet) {
			sidecar := corev1.Container{Name: "logger", Image: "logger:1"}
			set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, sidecar)
		},
	}
	story := given(t, scenario.Replicas(2), scenario.Claims("data"))
	claims, want := claimUIDs(t, story), up(2)
	for i, change := range changes {
		revision := fmt.Sprintf("r%d", i+2)
		story.When(change)
		story.ThenUpdated(2)
		want = append(want, "delete web-1", "create web-1 "+revision, "delete web-0", "create web-0 "+revision)
		story.ThenTape(want...)
	}
	if diff := cmp.Diff(claims, claimUIDs(t, story)); diff != "" {
		t.Errorf("claims were replaced (-before +after):\n%s", diff)
	}
}

// Seed 002, tests 5, 7 and 8: a canary, then stage after stage by lowering the partition. The status says at each
// stage how many pods are at which revision, and that the update is not complete before the partition is 0.
func TestStagedRollOutTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Partition(3))
	before := story.Set().Status.CurrentRevision
	story.When(scenario.Image(good))
	for partition := int32(2); partition >= 1; partition-- {
		story.When(scenario.Partition(partition))
		story.Then(fmt.Sprintf("the update is staged at %d", partition), func(set *v1.StatefulSet) error {
			got := fmt.Sprintf("%d ready, %d current, %d updated", set.Status.ReadyReplicas, set.Status.CurrentReplicas, set.Status.UpdatedReplicas)
			if want := fmt.Sprintf("3 ready, %d current, %d updated", partition, 3-partition); got != want {
				return fmt.Errorf("%s, want %s", got, want)
			}
			if set.Status.CurrentRevision != before || set.Status.UpdateRevision == before {
				return fmt.Errorf("revisions %s and %s, before the update %s", set.Status.CurrentRevision, set.Status.UpdateRevision, before)
			}
			return scenario.CheckCondition(set, v1.ConditionProgressing, "True UpdateStaged")
		})
	}
	story.When(scenario.Partition(0))
	story.ThenUpdated(3)
}

// Seed 002, canaries: scaled up at the same time, the canary is the pod that is added.
func TestCanaryOnAddedCapacity(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image(good), scenario.Replicas(4), scenario.Partition(3))
	story.ThenReady(4)
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r1", "web-3 r2")
	story.ThenTape(append(up(3), "create web-3 r2")...)
}

// Seed 002, test 2: an update that fails halts, and the status shows it.
func TestUpdateBlocksOnFailure(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(2, crashing)
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")
	story.Then("the status names the pod that holds it up", func(set *v1.StatefulSet) error {
		if set.Status.ReadyReplicas != 2 || set.Status.UpdatedReplicas != 1 {
			return fmt.Errorf("%d ready, %d updated", set.Status.ReadyReplicas, set.Status.UpdatedReplicas)
		}
		return scenario.CheckCondition(set, v1.ConditionProgressing, "True UpdateInProgress", "web-2")
	})
}

// Seed 002, test 3: rolled back in the middle, the update stops and the pods that had it get the old revision back.
// The first revision is found again by its content and becomes the newest.
func TestUpdateIsRolledBack(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Partition(1))
	original := story.Revisions()[0]
	story.When(scenario.Image(good))
	thenUpdatedFrom(t, story, 1)
	story.When(scenario.Image("web:1"))
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r1")
	story.When(scenario.Partition(0))
	story.ThenUpdated(3)
	thenTapeEnds(t, story, 7, "delete web-2", "create web-2 r1", "delete web-1", "create web-1 r1")
	revisions := story.Revisions()
	if newest := revisions[len(revisions)-1]; len(revisions) != 2 || newest.UID != original.UID || newest.Revision != 3 {
		t.Errorf("%d revisions, the newest %s with number %d; want the first one with number 3", len(revisions), newest.Name, newest.Revision)
	}
}

// Seed 002, test 4: rolled forward, the partition holds for the new target as well, and only a complete update
// advances the current revision.
func TestUpdateIsRolledForward(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Partition(1))
	before := story.Set().Status.CurrentRevision
	story.When(scenario.Image(good))
	thenUpdatedFrom(t, story, 1)
	story.When(scenario.Image(fixed))
	story.ThenPods("web-0 r1", "web-1 r3", "web-2 r3")
	thenUpdatedFrom(t, story, 1)
	if current := story.Set().Status.CurrentRevision; current != before {
		t.Errorf("the current revision is %s before the update is complete, want %s", current, before)
	}
	story.When(scenario.Partition(0))
	story.ThenUpdated(3)
}

// Seed 002, test 6: the history holds a revision for every template there was, numbered in order, up to the limit.
func TestHistoryHoldsEveryUpdate(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1))
	for _, image := range []string{"web:2", "web:3", "web:4"} {
		story.When(scenario.Image(image))
		story.ThenUpdated(1)
	}
	thenHistory(t, story, "1 web:1", "2 web:2", "3 web:3", "4 web:4")
	story.When(scenario.HistoryLimit(2))
	thenHistory(t, story, "2 web:2", "3 web:3", "4 web:4")
	story.When(scenario.HistoryLimit(0))
	thenHistory(t, story, "4 web:4")
}

func thenHistory(t *testing.T, story *scenario.Story, want ...string) {
	t.Helper()
	story.Then("the history is "+strings.Join(want, ", "), func(*v1.StatefulSet) error {
		var got []string
		for _, revision := range story.Revisions() {
			got = append(got, fmt.Sprintf("%d %s", revision.Revision, imageIn(t, revision)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("history (-want +got):\n%s", diff)
		}
		return nil
	})
}

// imageIn returns the image of the template that a revision holds.
func imageIn(t *testing.T, revision appsv1.ControllerRevision) string {
	t.Helper()
	var data struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		t.Fatalf("reading revision %s: %v", revision.Name, err)
	}
	return data.Spec.Template.Spec.Containers[0].Image
}
