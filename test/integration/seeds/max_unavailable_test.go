package seeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Seed 001, unit 1 to 8: which pods an update of five takes down together, under both policies, if each batch comes up
// before the next is taken.
func TestMaxUnavailableBatches(t *testing.T) {
	tests := map[string]struct {
		maxUnavailable string
		partition      int32
		want           []string
	}{
		"1: as without it":                      {"1", 0, []string{"4", "3", "2", "1", "0"}},
		"more than 1":                           {"2", 0, []string{"4 3", "2 1", "0"}},
		"percent, rounded down":                 {"59%", 0, []string{"4 3", "2 1", "0"}},
		"more than replicas":                    {"9", 0, []string{"4 3 2 1 0"}},
		"fewer staged than it allows":           {"3", 3, []string{"4 3"}},
		"as many staged as it allows":           {"2", 3, []string{"4 3"}},
		"more staged than it allows":            {"2", 2, []string{"4 3", "2"}},
		"more than replicas, with a partition":  {"9", 2, []string{"4 3 2"}},
		"more than 1, partition above replicas": {"2", 9, nil},
	}
	for name, test := range tests {
		for policy, parallel := range map[string]bool{"OrderedReady": false, "Parallel": true} {
			t.Run(name+"/"+policy, func(t *testing.T) {
				set := testkit.MakeSet("web").Replicas(5).Template("b").Current("a").MaxUnavailable(test.maxUnavailable).Partition(test.partition)
				if parallel {
					set.Parallel()
				}
				if diff := cmp.Diff(test.want, batches(set.Obj())); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// batches plays an update from a to b in which every pod that is taken down comes up at once.
func batches(set *v1.StatefulSet) []string {
	var taken []string
	revisions := strings.Split("aaaaa", "")
	for {
		fleet := ""
		for number, revision := range revisions {
			fleet += fmt.Sprintf("%d:%s/available ", number, revision)
		}
		var batch []string
		for _, action := range testkit.Actions(set, planner.Compute(testkit.Observe(set, "ab", fleet))) {
			number := strings.TrimPrefix(action, "delete pod web-")
			revisions[int(number[0]-'0')] = "b"
			batch = append(batch, number)
		}
		if len(batch) == 0 {
			return taken
		}
		taken = append(taken, strings.Join(batch, " "))
	}
}

// Seed 001, choices 1 and 2: when one pod of a batch is up and the other is not, an ordered update waits and a parallel
// one goes on.
func TestMaxUnavailableWithHalfABatchUp(t *testing.T) {
	const fleet = "0:a/available 1:a/available 2:a/available 3:b/available 4:b/pending"
	tests := map[string]struct {
		set  *testkit.SetBuilder
		want []string
	}{
		"OrderedReady": {testkit.MakeSet("web"), nil},
		"Parallel":     {testkit.MakeSet("web").Parallel(), []string{"delete pod web-2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Replicas(5).Template("b").Current("a").MaxUnavailable("2").Obj()
			if diff := cmp.Diff(test.want, testkit.Actions(set, planner.Compute(testkit.Observe(set, "ab", fleet)))); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// Seed 001, story 1, integration 1, e2e 1: the number of pods down at a time reaches maxUnavailable and does not exceed
// it, under both policies, and pods below the partition stay. The third case is the document's own example.
func TestMaxUnavailableIsUsedAndKept(t *testing.T) {
	t.Parallel()
	cases := map[string][]scenario.Edit{
		"2 of 5":                 {scenario.MaxUnavailable("2")},
		"50% of 5":               {scenario.MaxUnavailable("50%")},
		"2 of 5 with 3 staged":   {scenario.MaxUnavailable("2"), scenario.Partition(2)},
		"2 of 5, pods all alike": {scenario.MaxUnavailable("2"), scenario.Parallel()},
		"2 of 5 with 3 staged, pods all alike": {
			scenario.MaxUnavailable("2"), scenario.Partition(2), scenario.Parallel(),
		},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Given(t, scenario.Rollcall, append([]scenario.Edit{scenario.Replicas(5)}, edits...)...)
			story.ThenReady(5)
			before := len(story.FullTape())
			story.When(scenario.Image("web:2-start-500ms"))
			first := int(partitionOf(story.Set()))
			thenUpdatedFrom(t, story, first)
			if most := scenario.MostDown(story.FullTape()[before:]); most != 2 {
				t.Errorf("%d pods were down at a time, want 2:\n%v", most, story.FullTape())
			}
			wantDeletions(t, since(story, 5), first)
		})
	}
}

func partitionOf(set *v1.StatefulSet) int32 {
	if tuning := set.Spec.UpdateStrategy.RollingUpdate; tuning != nil && tuning.Partition != nil {
		return *tuning.Partition
	}
	return 0
}

// thenUpdatedFrom waits until the pods from an ordinal up, and no others, are updated and all are available.
func thenUpdatedFrom(t *testing.T, story *scenario.Story, first int) {
	t.Helper()
	story.Then(fmt.Sprintf("pods from ordinal %d up are updated", first), func(set *v1.StatefulSet) error {
		updated, available := int(set.Status.UpdatedReplicas), set.Status.AvailableReplicas
		if updated != int(*set.Spec.Replicas)-first || available != *set.Spec.Replicas {
			return fmt.Errorf("%d are updated, %d available", updated, available)
		}
		return nil
	})
}

// wantDeletions checks that each pod from an ordinal up was deleted once, and no other.
func wantDeletions(t *testing.T, tape []string, first int) {
	t.Helper()
	var want []string
	for number := first; number < 5; number++ {
		want = append(want, fmt.Sprintf("delete web-%d", number))
	}
	got := onlyVerb(tape, "delete")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deletions (-want +got):\n%s", diff)
	}
}

// Seed 001, e2e 2 (k/k 112307): with minReadySeconds a pod that is merely ready still counts as unavailable, when the
// set is scaled down in the middle of the update as well.
func TestMaxUnavailableHonoursMinReadySeconds(t *testing.T) {
	t.Parallel()
	const minReady = 2
	for policy, edits := range map[string][]scenario.Edit{"OrderedReady": nil, "Parallel": {scenario.Parallel()}} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			story := given(t, append(edits, scenario.Replicas(4), scenario.MinReady(minReady), scenario.MaxUnavailable("1"))...)
			chronicle := story.Chronicle()
			story.When(scenario.Image(good))
			story.ThenPod(3, "ready at the new revision", func(pod *corev1.Pod) error {
				if pod.Spec.Containers[0].Image != good || readySince(pod).IsZero() {
					return fmt.Errorf("image %s, ready since %s", pod.Spec.Containers[0].Image, readySince(pod))
				}
				return nil
			})
			story.Scale(3)
			story.ThenUpdated(3)
			for number := range 2 {
				above, below := story.Pod(number+1), story.Pod(number)
				if gap := below.CreationTimestamp.Sub(readySince(above)); gap < minReady*time.Second {
					t.Errorf("%s was replaced %s after %s became ready, want at least %ds", below.Name, gap, above.Name, minReady)
				}
			}
			for _, set := range chronicle.Versions() {
				if current := set.Status.ObservedGeneration == set.Generation; current && set.Status.AvailableReplicas < *set.Spec.Replicas-1 {
					t.Errorf("%d of %d pods were available at a time", set.Status.AvailableReplicas, *set.Spec.Replicas)
				}
			}
		})
	}
}

// readySince is when a pod became ready; zero if it is not.
func readySince(pod *corev1.Pod) time.Time {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
