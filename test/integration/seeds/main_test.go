// Package seeds plays the test plans of the five documents that Rollcall grew from, on a real control plane. A comment
// names document and item: "Seed 003, integration 2" is the second line of the integration tests that document 003
// lists. What the items mean where the documents disagree, and which test elsewhere covers an item that has none here,
// is told by docs/seeds.md. Feature gates and version skew are played in the package skew.
package seeds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(4)
	cluster.Main(m)
}

// The ways in which an update breaks, as tags of images.
const (
	good           = "web:2"
	fixed          = "web:3"
	withoutImage   = "web:2-image-pull-backoff"
	crashing       = "web:2-crash-loop"
	neverReady     = "web:2-never-ready"
	stillCrashing  = "web:3-crash-loop"
	finallyWorking = "web:4"
)

// given starts a story with a set of three pods, unless edits say otherwise, that are all up.
func given(t *testing.T, edits ...scenario.Edit) *scenario.Story {
	t.Helper()
	story := scenario.Given(t, scenario.Rollcall, append([]scenario.Edit{scenario.Replicas(3)}, edits...)...)
	story.ThenUpdated(*story.Set().Spec.Replicas)
	return story
}

// up is the tape of n pods that are created, at revision r1.
func up(n int) []string {
	var lines []string
	for number := range n {
		lines = append(lines, fmt.Sprintf("create web-%d r1", number))
	}
	return lines
}

// since returns what came on the tape after n pods had been created.
func since(story *scenario.Story, n int) []string { return story.Tape()[n:] }

// onlyVerb returns the lines of a tape with a verb.
func onlyVerb(tape []string, verb string) []string {
	return slices.DeleteFunc(slices.Clone(tape), func(line string) bool { return !strings.HasPrefix(line, verb+" ") })
}

// podUIDs returns which pods there are; a replaced pod has another UID.
func podUIDs(story *scenario.Story) map[string]types.UID {
	uids := map[string]types.UID{}
	for _, pod := range story.Pods() {
		uids[pod.Name] = pod.UID
	}
	return uids
}

// claimUIDs returns which claims there are; one with new data would have another UID.
func claimUIDs(t *testing.T, story *scenario.Story) map[string]types.UID {
	t.Helper()
	var claims corev1.PersistentVolumeClaimList
	if err := story.Client.List(story.Context, &claims, client.InNamespace(story.Name)); err != nil {
		t.Fatalf("listing claims: %v", err)
	}
	uids := map[string]types.UID{}
	for _, claim := range claims.Items {
		uids[claim.Name] = claim.UID
	}
	return uids
}

// thenTapeEnds waits until the tape, after its first lines, is as wanted.
func thenTapeEnds(t *testing.T, story *scenario.Story, first int, want ...string) {
	t.Helper()
	story.ThenTape(append(story.Tape()[:first:first], want...)...)
}

// thenUnschedulable waits until the scheduler has found no node for the pod of an ordinal at the set's present image.
func thenUnschedulable(t *testing.T, story *scenario.Story, number int) {
	t.Helper()
	story.ThenPod(number, "without a node", func(pod *corev1.Pod) error {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
				return nil
			}
		}
		return fmt.Errorf("conditions %v", pod.Status.Conditions)
	})
}

// thenImages waits until the pods run these images, from ordinal 0 up.
func thenImages(t *testing.T, story *scenario.Story, want ...string) {
	t.Helper()
	story.Eventually(t, fmt.Sprintf("the pods run %v", want), func(context.Context) error {
		var got []string
		for _, pod := range story.Pods() {
			got = append(got, pod.Spec.Containers[0].Image)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("they run %v", got)
		}
		return nil
	})
}

// greedy asks for more than any node has: the pod stays Pending. Modest takes that back.
func greedy() scenario.Edit { return requestCPU("1000") }

func modest() scenario.Edit {
	return func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	}
}
