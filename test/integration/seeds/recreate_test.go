package seeds

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func recreating(t *testing.T, edits ...scenario.Edit) *scenario.Story {
	t.Helper()
	return given(t, append([]scenario.Edit{scenario.Strategy(v1.RecreateStrategy)}, edits...)...)
}

func requestCPU(quantity string) scenario.Edit {
	return func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
	}
}

// Seed 000, integration 2, 3 and 4, e2e 1: on a change of the template all pods are deleted, whatever the policy; the
// controller waits until every one of them is gone; then all are created.
func TestRecreateDeletesAllThenCreatesAll(t *testing.T) {
	t.Parallel()
	policies := map[string][]scenario.Edit{"OrderedReady": nil, "Parallel": {scenario.Parallel()}}
	for policy, edits := range policies {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			story := recreating(t, edits...)
			story.When(scenario.Image(good))
			story.ThenUpdated(3)
			tape := since(story, 3)
			slices.Sort(tape[:3])
			slices.Sort(tape[3:])
			want := []string{
				"delete web-0", "delete web-1", "delete web-2",
				"create web-0 r2", "create web-1 r2", "create web-2 r2",
			}
			if diff := cmp.Diff(want, tape); diff != "" {
				t.Errorf("tape (-want +got):\n%s", diff)
			}
		})
	}
}

// Seed 000, integration 3, e2e 3: one pod takes its time to terminate. No pod is created meanwhile, so old and new
// never exist together, and the condition names the pod that is waited for.
func TestRecreateWaitsForTheLastPod(t *testing.T) {
	t.Parallel()
	story := recreating(t, scenario.Parallel())
	story.AnnotatePod(1, "sim.rollcall.dev/stop-delay", "never")
	story.When(scenario.Image(good))
	story.ThenPods("web-1 r1")
	story.ThenCondition(v1.ConditionProgressing, "True RecreateInProgress", "web-1 on node "+story.Pod(1).Spec.NodeName)
	story.ThenQuiet()
	if pod := story.Pod(1); *pod.DeletionGracePeriodSeconds == 0 {
		t.Error("the pod was deleted by force")
	}

	story.AnnotatePod(1, "sim.rollcall.dev/stop-delay", "0s")
	story.ThenUpdated(3)
	if creations := onlyVerb(since(story, 3), "create"); len(creations) != 3 {
		t.Errorf("%d pods were created, want 3: %v", len(creations), creations)
	}
}

// Seed 000, integration 5 and 6: Progressing stays True, with a reason for each half; an event marks both ends.
func TestRecreateConditionsAndEvents(t *testing.T) {
	t.Parallel()
	story := recreating(t)
	chronicle := story.Chronicle()
	story.When(scenario.Image(good))
	story.ThenUpdated(3)
	chronicle.ThenWas(v1.ConditionProgressing, "True UpdateComplete", "True RecreateInProgress", "True RecreateComplete")
	target := story.Set().Status.UpdateRevision
	story.ThenEvent("RecreateStarted", target)
	story.ThenEvent("RecreateComplete", target)
	for _, reason := range []string{"RecreateStarted", "RecreateComplete"} {
		if events := story.Events(reason); len(events) != 1 || events[0].Series != nil {
			t.Errorf("%s was told more than once: %v", reason, events)
		}
	}
}

// Seed 000, integration 7, e2e 5: with OrderedReady a pod is created when the one below it is ready.
func TestRecreateCreatesInOrder(t *testing.T) {
	t.Parallel()
	story := recreating(t)
	story.When(scenario.Image(good))
	story.ThenUpdated(3)
	tape := story.FullTape()
	want := []string{"create web-0 r2", "ready web-0 r2", "create web-1 r2", "ready web-1 r2", "create web-2 r2", "ready web-2 r2"}
	if diff := cmp.Diff(want, tape[len(tape)-6:]); diff != "" {
		t.Errorf("end of the tape (-want +got):\n%s", diff)
	}
}

// Seed 000, integration 7, e2e 5: with Parallel no pod waits for another.
func TestRecreateCreatesInParallel(t *testing.T) {
	t.Parallel()
	story := recreating(t, scenario.Parallel())
	story.When(scenario.Image(neverReady))
	for number := range 3 {
		story.ThenPodBroken(number, neverReady)
	}
}

// Seed 000, integration 8, e2e 4: claims, and so the data, are those of before.
func TestRecreateKeepsClaims(t *testing.T) {
	t.Parallel()
	story := recreating(t, scenario.Claims("data"), scenario.Retention(v1.Delete, v1.Delete))
	before := claimUIDs(t, story)
	story.When(scenario.Image(good))
	story.ThenUpdated(3)
	if diff := cmp.Diff(before, claimUIDs(t, story)); diff != "" {
		t.Errorf("claims were replaced (-before +after):\n%s", diff)
	}
}

// Seed 000, integration 9, e2e 2: however pods are stuck, a corrected template replaces them all.
func TestRecreateReplacesStuckPods(t *testing.T) {
	t.Parallel()
	breakages := map[string]scenario.Edit{
		"ImagePullBackOff": scenario.Image(withoutImage),
		"CrashLoopBackOff": scenario.Image(crashing),
		"never ready":      scenario.Image(neverReady),
		"Pending":          greedy(),
	}
	for name, breakage := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := recreating(t, scenario.Parallel())
			story.When(breakage)
			story.Then("no pod is available", func(set *v1.StatefulSet) error {
				if set.Status.UpdatedReplicas != 3 || set.Status.AvailableReplicas != 0 {
					return fmt.Errorf("%d are, %d pods are updated", set.Status.AvailableReplicas, set.Status.UpdatedReplicas)
				}
				return nil
			})
			stuck := podUIDs(story)
			story.When(scenario.Image(fixed), modest())
			story.ThenUpdated(3)
			for pod, uid := range podUIDs(story) {
				if uid == stuck[pod] {
					t.Errorf("%s was not replaced", pod)
				}
			}
		})
	}
}

// Seed 000, algorithm: pods of an old revision go even when their ordinal is no longer wanted, and with the same first
// deletions.
func TestRecreateDeletesPodsOutsideTheRange(t *testing.T) {
	t.Parallel()
	story := recreating(t, scenario.Replicas(4))
	story.When(scenario.Image(good), scenario.Replicas(2))
	story.ThenUpdated(2)
	tape := since(story, 4)
	slices.Sort(tape[:4])
	want := []string{"delete web-0", "delete web-1", "delete web-2", "delete web-3", "create web-0 r2", "create web-1 r2"}
	if diff := cmp.Diff(want, tape); diff != "" {
		t.Errorf("tape (-want +got):\n%s", diff)
	}
}

// Seed 000, algorithm: the phase follows from the pods alone, so a second change of the template starts over. Pods of
// three revisions follow each other without ever meeting.
func TestRecreateStartsOverOnASecondChange(t *testing.T) {
	t.Parallel()
	story := recreating(t)
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(0, crashing)
	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
	thenTapeEnds(t, story, 6,
		"create web-0 r2", "delete web-0", "create web-0 r3", "create web-1 r3", "create web-2 r3")
}

// Seed 000, notes: a change of the strategy alone starts nothing. A restart by annotation, which is what `kubectl
// rollout restart` writes, does.
func TestRecreateStartsWithTheTemplateAlone(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.When(scenario.Strategy(v1.RecreateStrategy))
	story.ThenQuiet()
	story.ThenTape(up(3)...)
	if revisions := story.Revisions(); len(revisions) != 1 {
		t.Errorf("%d revisions, want 1", len(revisions))
	}

	story.When(scenario.Annotate("kubectl.kubernetes.io/restartedAt", "2026-03-01T12:00:00Z"))
	story.ThenUpdated(3)
	story.ThenPods("web-0 r2", "web-1 r2", "web-2 r2")

	// And back: with RollingUpdate again, nothing but the next template is updated that way.
	story.When(scenario.Strategy(v1.RollingUpdateStrategy))
	story.ThenQuiet()
}
