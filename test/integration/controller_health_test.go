package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Pods that have ended, well or not, are replaced.
func TestEndedPodsAreReplaced(t *testing.T) {
	t.Parallel()
	for _, course := range []string{"failed", "succeeded"} {
		t.Run(course, func(t *testing.T) {
			t.Parallel()
			story := given(t, scenario.Replicas(2))
			story.Finish(0, course)
			story.ThenTape("create web-0 r1", "create web-1 r1", "delete web-0", "create web-0 r1")
			story.ThenReady(2)
		})
	}
}

func TestDeletedPodComesBack(t *testing.T) {
	t.Parallel()
	story := given(t)
	story.DeletePod(1)
	story.ThenReady(3)
	story.ThenTape(append(threeUp, "delete web-1", "create web-1 r1")...)
}

// On a lost node a pod hangs in termination. Its slot waits: there is never a second pod of that name, and nothing is
// forced. When somebody who knows that the node is dead forces the pod out, the slot is filled elsewhere.
func TestLostNodeKeepsItsPod(t *testing.T) {
	story := given(t, scenario.Replicas(2))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: story.Pod(1).Spec.NodeName}}
	setNode := func(patch string) {
		t.Helper()
		if err := story.Client.Patch(context.Background(), node, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	setNode(`{"metadata":{"annotations":{"sim.rollcall.dev/lost":"true"}},"spec":{"unschedulable":true}}`)
	t.Cleanup(func() {
		setNode(`{"metadata":{"annotations":{"sim.rollcall.dev/lost":null}},"spec":{"unschedulable":null}}`)
	})

	before := story.Pod(1).UID
	story.DeletePod(1)
	story.ThenTape("create web-0 r1", "create web-1 r1", "delete web-1")
	story.ThenQuiet()
	if pod := story.Pod(1); pod.UID != before || pod.DeletionTimestamp == nil || *pod.DeletionGracePeriodSeconds == 0 {
		t.Errorf("the pod on the lost node: UID %s (was %s), deletion %v", pod.UID, before, pod.DeletionTimestamp)
	}
	story.DeletePod(1, client.GracePeriodSeconds(0))
	story.ThenReady(2)
	if pod := story.Pod(1); pod.Spec.NodeName == node.Name {
		t.Errorf("the pod was placed on the lost node again")
	}
}

// What the API server refuses is told in an event and a condition; it never stops a scale-down, and mends itself.
func TestQuota(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Parallel(), scenario.Claims("data"))
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}},
	}
	create(t, story.Space, quota)
	story.Eventually(t, "the quota is in force", func(ctx context.Context) error {
		if err := story.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil || quota.Status.Used.Pods().Value() != 3 {
			return fmt.Errorf("%s pods are counted (%w)", quota.Status.Used.Pods(), err)
		}
		return nil
	})

	story.Scale(6)
	story.Then("the set says that it is over quota", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=False", "ReplicaFailure=True", "Stalled=True")
	})
	story.ThenQuiet()
	story.Eventually(t, "there is one event about it", func(ctx context.Context) error {
		return oneEvent(ctx, story, "FailedCreate", "exceeded quota")
	})

	// The start moves up: pods below it have to go, although those above can't be created.
	story.When(scenario.Replicas(3), scenario.Start(4))
	story.ThenReady(3)
	story.ThenPods("web-4 r1", "web-5 r1", "web-6 r1")
}

// oneEvent tells whether the events with a reason have become one that is counted.
func oneEvent(ctx context.Context, story *scenario.Story, reason, text string) error {
	var list eventsv1.EventList
	if err := story.Client.List(ctx, &list, client.InNamespace(story.Name)); err != nil {
		return err
	}
	found := 0
	for _, event := range list.Items {
		if event.Reason == reason && event.Regarding.Name == scenario.SetName {
			found++
			if !strings.Contains(event.Note, text) {
				return fmt.Errorf("the event says %q, want it to contain %q", event.Note, text)
			}
		}
	}
	if found != 1 {
		return fmt.Errorf("%d events %s, want 1", found, reason)
	}
	return nil
}

// A template that the API server calls invalid is told and not tried for ever; a better one is tried at once.
func TestInvalidTemplate(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].ImagePullPolicy = "Sometimes"
	})
	story.Then("the set says what is wrong", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=False", "ReplicaFailure=True", "Stalled=True")
	})
	story.When(func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].ImagePullPolicy = "" })
	story.ThenUpdated(1)
	story.Then("the trouble is forgotten", func(set *v1.StatefulSet) error {
		return conditions(set, "Progressing=True", "Ready=True")
	})
}
