package seeds

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func enforcing(t *testing.T, edits ...scenario.Edit) *scenario.Story {
	t.Helper()
	return given(t, append([]scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy)}, edits...)...)
}

// Seed 003, integration 1, and seed 004, integration 1 and e2e 6: with plain RollingUpdate a broken set does not
// recover by a corrected template. Somebody has to delete the pod.
func TestPlainRollingUpdateDoesNotRecover(t *testing.T) {
	t.Parallel()
	for _, image := range []string{withoutImage, crashing, neverReady} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			story := given(t)
			story.When(scenario.Image(image))
			story.ThenPodBroken(2, image)
			story.When(scenario.Image(fixed))
			story.ThenQuiet()
			story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")

			story.DeletePod(2)
			story.ThenUpdated(3)
		})
	}
}

// Seed 003, integration 2 and stories 1 to 4: with EnforcedRollingUpdate it does, however it is broken. The pod in the
// way goes first, then the others from the top, each once.
func TestEnforcedRecoversWithAFixedTemplate(t *testing.T) {
	t.Parallel()
	for _, image := range []string{withoutImage, crashing, neverReady} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			story := enforcing(t)
			story.When(scenario.Image(image))
			story.ThenPodBroken(2, image)
			story.When(scenario.Image(fixed))
			story.ThenUpdated(3)
			story.ThenTape(append(up(3),
				"delete web-2", "create web-2 r2",
				"delete web-2", "create web-2 r3", "delete web-1", "create web-1 r3", "delete web-0", "create web-0 r3")...)
		})
	}
}

// Seed 003, story 2: a typo in the resources keeps a pod Pending.
func TestEnforcedReplacesPendingPod(t *testing.T) {
	t.Parallel()
	story := enforcing(t)
	story.When(greedy())
	thenUnschedulable(t, story, 2)
	story.When(modest(), scenario.Image(fixed))
	story.ThenUpdated(3)
}

// Seed 003, integration 3: another template that does not work replaces the broken pod, to no avail, and nothing else:
// the highest pod is not ready, so the others are safe. With a budget of 2 its batch is two pods, and no more.
func TestEnforcedHaltsOnAnotherBrokenTemplate(t *testing.T) {
	t.Parallel()
	t.Run("maxUnavailable 1", func(t *testing.T) {
		t.Parallel()
		story := enforcing(t)
		story.When(scenario.Image(crashing))
		story.ThenPodBroken(2, crashing)
		story.When(scenario.Image(stillCrashing))
		story.ThenPodBroken(2, stillCrashing)
		story.ThenQuiet()
		story.ThenPods("web-0 r1", "web-1 r1", "web-2 r3")
		story.When(scenario.Image(finallyWorking))
		story.ThenUpdated(3)
	})
	t.Run("maxUnavailable 2", func(t *testing.T) {
		t.Parallel()
		story := enforcing(t, scenario.Replicas(4), scenario.MaxUnavailable("2"))
		story.When(scenario.Image(crashing))
		story.ThenPodBroken(2, crashing)
		story.ThenPodBroken(3, crashing)
		story.When(scenario.Image(stillCrashing))
		story.ThenPodBroken(2, stillCrashing)
		story.ThenPodBroken(3, stillCrashing)
		story.ThenQuiet()

		// Room in the budget does not help while the highest pod is not ready.
		story.Mend(2)
		story.ThenPodReady(2)
		story.ThenQuiet()
		story.ThenPods("web-0 r1", "web-1 r1", "web-2 r3", "web-3 r3")
		story.Mend(3)
		story.ThenPodBroken(1, stillCrashing)
	})
}

// Seed 003, integration 4: with Parallel a broken set recovers under either strategy.
func TestParallelRecoversUnderEitherStrategy(t *testing.T) {
	t.Parallel()
	for _, strategy := range []v1.UpdateStrategyType{v1.RollingUpdateStrategy, v1.EnforcedRollingUpdateStrategy} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			story := given(t, scenario.Strategy(strategy), scenario.Parallel())
			story.When(scenario.Image(crashing))
			story.ThenPodBroken(2, crashing)
			story.When(scenario.Image(fixed))
			story.ThenUpdated(3)
			story.ThenPods("web-0 r3", "web-1 r3", "web-2 r3")
		})
	}
}

// Seed 003, monitoring: an event when the update begins, one for each pod replaced by force, and a condition that names
// the strategy.
func TestEnforcedEventsAndCondition(t *testing.T) {
	t.Parallel()
	story := enforcing(t)
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(2, crashing)
	first := story.Set().Status.UpdateRevision
	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
	story.ThenEvent("EnforcedRollingUpdateStarted", first)
	story.ThenEvent("EnforcedRollingUpdateStarted", story.Set().Status.UpdateRevision)
	forced := story.ThenEvent("ForcedReplacement", "web-2", first)
	if forced.Type != corev1.EventTypeWarning {
		t.Errorf("the event is of type %s, want Warning", forced.Type)
	}
	if events := story.Events("ForcedReplacement"); len(events) != 1 {
		t.Errorf("%d events ForcedReplacement, want one, for the one broken pod: %v", len(events), events)
	}
	story.ThenCondition(v1.ConditionUpdateStrategy, "True EnforcedRollingUpdate")
}

// Seed 003, implementation 1: pods that are not ready do not keep the update from going on. An outdated broken pod below
// a slot that is to be filled is in the way of OrderedReady, so it goes as soon as web-2 is gone.
func TestEnforcedGoesOnPastBrokenPods(t *testing.T) {
	t.Parallel()
	story := enforcing(t)
	story.Break(0)
	story.When(scenario.Image(good))
	story.ThenUpdated(3)
	story.ThenTape(append(up(3),
		"delete web-2", "delete web-0", "create web-0 r2", "create web-2 r2", "delete web-1", "create web-1 r2")...)
}

// Seed 003, implementation 2: pods beyond the new size are removed without waiting for broken ones below them. Under
// plain RollingUpdate they would wait.
func TestEnforcedScalesDownPastBrokenPods(t *testing.T) {
	t.Parallel()
	t.Run("enforced", func(t *testing.T) {
		t.Parallel()
		story := enforcing(t)
		story.Break(0)
		story.When(scenario.Image(good), scenario.Replicas(2))
		story.ThenUpdated(2)
		if deletions := onlyVerb(since(story, 3), "delete"); deletions[0] != "delete web-2" {
			t.Errorf("deletions %v, want web-2 first: scaling goes before updating", deletions)
		}
	})
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		story := given(t)
		story.Break(0)
		story.When(scenario.Image(good), scenario.Replicas(2))
		story.ThenQuiet()
		story.ThenTape(up(3)...)
	})
}

// Seed 003, API: pods added in the middle of an update are created at the update revision.
func TestEnforcedScalesUpAtTheTarget(t *testing.T) {
	t.Parallel()
	story := enforcing(t)
	story.When(scenario.Image(good), scenario.Replicas(5))
	story.ThenUpdated(5)
	if creations := onlyVerb(since(story, 3), "create"); creations[0] != "create web-3 r2" || creations[1] != "create web-4 r2" {
		t.Errorf("creations %v, want web-3 and web-4 first, at r2", creations)
	}
}

// Seed 003, failure mode 2: a quota that is used up when a pod is to be replaced is told by event and condition. Raised,
// it lets the update go on.
func TestEnforcedMeetsAQuota(t *testing.T) {
	t.Parallel()
	story := enforcing(t, scenario.Replicas(2))
	quota := limitPods(t, story, 1)
	story.When(scenario.Image(good))
	story.ThenCondition(v1.ConditionReplicaFailure, "True FailedCreate", "exceeded quota")
	story.ThenEvent("FailedCreate", "exceeded quota")
	story.ThenPods("web-0 r1")

	raise := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"2"}}}`))
	if err := story.Client.Patch(story.Context, quota, raise); err != nil {
		t.Fatalf("raising the quota: %v", err)
	}
	story.ThenUpdated(2)
}

// limitPods limits the pods of the story's namespace and returns when the limit is in force.
func limitPods(t *testing.T, story *scenario.Story, most int64) *corev1.ResourceQuota {
	t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(most, resource.DecimalSI)}},
	}
	if err := story.Client.Create(story.Context, quota); err != nil {
		t.Fatalf("creating the quota: %v", err)
	}
	story.Eventually(t, "the quota is in force", func(ctx context.Context) error {
		if err := story.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if used := quota.Status.Used.Pods().Value(); used == 0 {
			return fmt.Errorf("no pods are counted")
		}
		return nil
	})
	return quota
}

// Seed 003, failure mode 3: the claims of a pod that is replaced by force stay, also where a policy deletes those of
// pods that are removed.
func TestEnforcedKeepsClaims(t *testing.T) {
	t.Parallel()
	story := enforcing(t, scenario.Claims("data"), scenario.Retention(v1.Delete, v1.Delete))
	before := claimUIDs(t, story)
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(2, crashing)
	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
	if diff := cmp.Diff(before, claimUIDs(t, story)); diff != "" {
		t.Errorf("claims were replaced (-before +after):\n%s", diff)
	}
}
