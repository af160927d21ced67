package behaviour

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// script is what somebody does to a set, and waits for in between.
type script struct {
	given []scenario.Edit
	when  func(*scenario.Story)
	// isRace: the order in which pods come and go is not the controller's doing.
	isRace bool
}

// record is what can be seen of how a script was played.
type record struct {
	// Tape is what happened to pods: the whole sequence if the set is ordered,
	// otherwise one line per pod.
	Tape []string
	// FullTape is the tape with the moments at which pods became ready, which
	// depend on the nodes.
	FullTape []string
	// Pods are the pods in the end, with their revisions.
	Pods []string
	// Revisions are the numbers of the revisions in the end, with what pods run them.
	Revisions []string
	// Claims are the claims in the end, with the kinds of their owners.
	Claims []string
	// Status is the status in the end; empty if the set is gone.
	Status string
}

// TestParity plays every script against both controllers, side by side.
func TestParity(t *testing.T) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := play(t, scenario.BuiltIn, script)
			got := play(t, scenario.Rollcall, script)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(record{}, "FullTape")); diff != "" {
				t.Errorf("ours differs from the built-in controller (-built-in +ours):\n%s", diff)
			}
		})
	}
}

// TestDifferences shows that what is listed as a difference is one, and exactly the one that is meant.
func TestDifferences(t *testing.T) {
	for name, difference := range differences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			builtIn := play(t, scenario.BuiltIn, difference.script)
			ours := play(t, scenario.Rollcall, difference.script)
			if difference.reason == "" {
				t.Error("a difference needs a reason")
			}
			if err := difference.holds(builtIn, ours); err != nil {
				t.Errorf("%s: %v\nbuilt-in: %+v\nours: %+v", difference.reason, err, builtIn, ours)
			}
		})
	}
}

func play(t *testing.T, by scenario.Controller, script script) record {
	t.Helper()
	story := scenario.Given(t, by, script.given...)
	script.when(story)
	story.ThenSettled()
	return look(story, isOrdered(script))
}

func isOrdered(script script) bool {
	if script.isRace {
		return false
	}
	set := &v1.StatefulSet{}
	set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, newContainer())
	for _, edit := range script.given {
		edit(set)
	}
	return set.Spec.PodManagementPolicy != v1.Parallel
}

// look writes down what can be seen now.
func look(story *scenario.Story, isOrdered bool) record {
	seen := record{Tape: story.Tape(), FullTape: story.FullTape(), Claims: story.Claims()}
	if !isOrdered {
		seen.Tape = perPod(seen.Tape)
	}
	for _, pod := range story.Pods() {
		seen.Pods = append(seen.Pods, fmt.Sprintf("%s %s", pod.Name, story.Alias(pod.Labels[v1.RevisionLabel])))
	}
	for _, revision := range story.Revisions() {
		owned := "orphaned"
		if metav1.GetControllerOf(&revision) != nil {
			owned = "owned"
		}
		seen.Revisions = append(seen.Revisions, fmt.Sprintf("%d %s %s", revision.Revision, story.Alias(revision.Name), owned))
	}
	if story.Exists() {
		seen.Status = describe(story)
	}
	return seen
}

// perPod turns "create web-0 r1, create web-1 r1, delete web-0" into a line per pod.
func perPod(tape []string) []string {
	lives := map[string]string{}
	for _, line := range tape {
		verb, rest, _ := strings.Cut(line, " ")
		pod, revision, _ := strings.Cut(rest, " ")
		lives[pod] += " " + strings.TrimSpace(verb+" "+revision)
	}
	var lines []string
	for pod, life := range lives {
		lines = append(lines, pod+":"+life)
	}
	slices.Sort(lines)
	return lines
}

func describe(story *scenario.Story) string {
	set := story.Set()
	status := set.Status
	return fmt.Sprintf("replicas %d, ready %d, available %d, current %d at %s, updated %d at %s, observed %v",
		status.Replicas, status.ReadyReplicas, status.AvailableReplicas,
		status.CurrentReplicas, story.Alias(status.CurrentRevision),
		status.UpdatedReplicas, story.Alias(status.UpdateRevision),
		status.ObservedGeneration == set.Generation)
}
