package integration

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
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

// A pod that does not get ready holds up all above it, and nothing else.
func TestOrderedScaleUpWaitsForReady(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3), scenario.Image("web:1-never-ready"))
	story.ThenPodBroken(0, "web:1-never-ready")
	story.ThenQuiet()
	story.ThenPods("web-0 r1")

	story.Mend(0)
	story.ThenPodReady(0)
	story.ThenPodBroken(1, "web:1-never-ready")
	story.ThenPods("web-0 r1", "web-1 r1")
}

func TestParallelScaling(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(5), scenario.Parallel(), scenario.Image("web:1-never-ready"))
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r1", "web-3 r1", "web-4 r1")
	story.Scale(1)
	story.ThenPods("web-0 r1")
}

// 200 pods all become available, and each of them is created just once.
func TestManyParallelPods(t *testing.T) {
	const pods = 200
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(pods), scenario.Parallel())
	story.ThenUpdated(pods)
	story.Then("each pod was created once", func(*v1.StatefulSet) error {
		if lines := len(story.Tape()); lines != pods {
			return fmt.Errorf("%d pods were created or deleted, want %d creations", lines, pods)
		}
		return nil
	})
}

// A pod counts as available only after minReadySeconds, and the next one waits for it.
func TestMinReadySeconds(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.MinReady(3))
	story.Then("web-0 is ready and not available", func(set *v1.StatefulSet) error {
		if set.Status.ReadyReplicas != 1 || set.Status.AvailableReplicas != 0 || set.Status.Replicas != 1 {
			return fmt.Errorf("status %+v", set.Status)
		}
		return nil
	})
	story.ThenReady(2)
	gap := story.Pod(1).CreationTimestamp.Sub(story.Pod(0).CreationTimestamp.Time)
	if gap.Seconds() < 3 {
		t.Errorf("web-1 was created %s after web-0, want at least minReadySeconds (3s)", gap)
	}
}

func TestStartOrdinal(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.Start(5))
	story.ThenReady(2)
	story.ThenTape("create web-5 r1", "create web-6 r1")

	// Moving the start by one fills the new slot and removes the pod outside the range.
	story.When(scenario.Start(4))
	story.ThenPods("web-4 r1", "web-5 r1")
	story.ThenReady(2)
}

// Pods have the names, labels and owners of apps/v1.
func TestPodIdentity(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(1), scenario.Start(3))
	story.ThenReady(1)
	pod, set := story.Pod(3), story.Set()
	want := map[string]string{
		"app":            "web",
		v1.PodNameLabel:  "web-3",
		v1.PodIndexLabel: "3",
		v1.RevisionLabel: set.Status.UpdateRevision,
	}
	// The API server itself adds where a pod runs.
	delete(pod.Labels, corev1.LabelTopologyZone)
	if diff := cmp.Diff(want, pod.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if pod.Spec.Hostname != "web-3" || pod.Spec.Subdomain != "web" {
		t.Errorf("host name %s.%s, want web-3.web", pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	if owners := pod.OwnerReferences; len(owners) != 1 || owners[0].UID != set.UID || !*owners[0].Controller {
		t.Errorf("owners %+v, want the set as controller", owners)
	}
	if set.Status.Selector != "app=web" {
		t.Errorf("status.selector is %q, want app=web", set.Status.Selector)
	}
}

// Conditions tell Helm, Flux and Argo CD when they may go on.
func TestConditions(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.Image("web:1-start-2s"))
	story.Then("the set is reconciling and not ready", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=False", "Reconciling=True")
	})
	story.ThenReady(2)
	story.Then("the set is ready", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=True")
	})
}

// conditions compares the conditions of a set, the strategy aside, with those wanted in alphabetical order.
func conditions(set *v1.StatefulSet, want ...string) error {
	got := []string{}
	for _, condition := range set.Status.Conditions {
		if condition.Type != v1.ConditionUpdateStrategy {
			got = append(got, condition.Type+"="+string(condition.Status))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		return errors.New("conditions (-want +got):\n" + diff)
	}
	return nil
}

func podUIDs(story *scenario.Story) map[string]string {
	uids := map[string]string{}
	for _, pod := range story.Pods() {
		uids[pod.Name] = string(pod.UID)
	}
	return uids
}

func imageOf(pod *corev1.Pod) string { return pod.Spec.Containers[0].Image }
