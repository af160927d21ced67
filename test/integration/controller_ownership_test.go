package integration

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestDeletionTakesPodsAlong(t *testing.T) {
	t.Parallel()
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			story := given(t)
			story.Delete(policy)
			story.ThenGone()
			story.ThenPods()
			story.Eventually(t, "the revisions are gone", func(context.Context) error {
				if revisions := story.Revisions(); len(revisions) > 0 {
					return fmt.Errorf("%d are there", len(revisions))
				}
				return nil
			})
		})
	}
}

// Deleted with its pods left behind and created anew, a set takes its pods, revisions and history back.
func TestOrphansAreAdopted(t *testing.T) {
	t.Parallel()
	story := given(t)
	before, revision := podUIDs(story), story.Revisions()[0].UID
	story.Delete(metav1.DeletePropagationOrphan)
	story.ThenGone()
	story.ThenQuiet()

	story.Create(scenario.Replicas(3))
	story.ThenUpdated(3)
	uid := story.Set().UID
	for _, pod := range story.Pods() {
		if owner := metav1.GetControllerOf(&pod); owner == nil || owner.UID != uid {
			t.Errorf("%s is controlled by %+v, want the new set", pod.Name, owner)
		}
	}
	if diff := cmp.Diff(before, podUIDs(story)); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
	if revisions := story.Revisions(); len(revisions) != 1 || revisions[0].UID != revision {
		t.Errorf("revisions %v, want the one of before", revisions)
	}
}

// Orphans beyond the new size are adopted and then removed.
func TestOrphansOutsideTheRangeGo(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.Delete(metav1.DeletePropagationOrphan)
	story.ThenGone()
	story.Create(scenario.Replicas(1))
	story.ThenPods("web-0 r1")
	story.ThenReady(1)
}

// The one line of the promise: a set of apps/v1 moves over, and no pod restarts.
func TestMoveOverFromBuiltIn(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.BuiltIn, scenario.Replicas(3), scenario.Claims("data"))
	story.ThenUpdated(3)
	before := podUIDs(story)
	story.Delete(metav1.DeletePropagationOrphan)
	story.ThenGone()

	moved := story.As(scenario.Rollcall)
	moved.Create(scenario.Replicas(3), scenario.Claims("data"))
	moved.ThenUpdated(3)
	moved.ThenQuiet()
	if diff := cmp.Diff(before, podUIDs(moved)); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
	if revisions := moved.Revisions(); len(revisions) != 1 {
		t.Errorf("%d revisions, want the adopted one alone", len(revisions))
	}
}

// A pod that no longer matches the selector is let go, and its slot waits for the name.
func TestPodThatLeavesTheSelectorIsReleased(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1))
	story.Relabel(0, `{"app":"other"}`)
	story.ThenPod(0, "released", func(pod *corev1.Pod) error {
		if owner := metav1.GetControllerOf(pod); owner != nil {
			return fmt.Errorf("%s controls it", owner.Name)
		}
		return nil
	})
	story.Then("the set says that the name is taken", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=False", "ReplicaFailure=True", "Stalled=True")
	})
	story.DeletePod(0)
	story.ThenReady(1)
}

// A pod of somebody else with the name of a slot is never touched.
func TestStrangerKeepsItsName(t *testing.T) {
	t.Parallel()
	story := scenario.Prepare(t, scenario.Rollcall)
	stranger := newPod(story.Space, "web-1")
	create(t, story.Space, stranger)
	story.Create(scenario.Replicas(2), scenario.Parallel())
	story.ThenPodReady(0)
	story.Then("the set says what stands in its way", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=False", "ReplicaFailure=True", "Stalled=True")
	})
	if pod := story.Pod(1); pod.UID != stranger.UID || len(pod.OwnerReferences) > 0 {
		t.Errorf("the stranger was touched: %+v", pod.ObjectMeta)
	}
}

// Labels that are part of a pod's identity come back, the one by which pods are watched included.
func TestIdentityIsRepaired(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"watched label changed": fmt.Sprintf(`{%q:"wrong"}`, v1.PodNameLabel),
		"watched label removed": fmt.Sprintf(`{%q:null}`, v1.PodNameLabel),
	}
	for name, labels := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := given(t, scenario.Replicas(1))
			before := podUIDs(story)
			story.Relabel(0, labels)
			story.ThenPod(0, "repaired", func(pod *corev1.Pod) error {
				if pod.Labels[v1.PodNameLabel] != "web-0" {
					return fmt.Errorf("labels %v", pod.Labels)
				}
				return nil
			})
			story.ThenUpdated(1)
			if diff := cmp.Diff(before, podUIDs(story)); diff != "" {
				t.Errorf("the pod was replaced (-before +after):\n%s", diff)
			}
		})
	}
}
