package seeds

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Seed 004, integration 2 to 5: a pod that is not ready in time is deleted and recreated. An event before that tells
// the pod, how long it took and how long it may take; Progressing is False with the reason. When the new pod gets
// ready, Progressing is True again and an event says so.
func TestTimeoutReplacesPodAndTellsAboutIt(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(2), scenario.ProgressTimeout(4))
	chronicle := story.Chronicle()
	story.When(scenario.Image(neverReady))
	story.ThenPodBroken(1, neverReady)
	stuck := story.Pod(1)
	exceeded := story.ThenEvent("ProgressDeadlineExceeded", "web-1")
	if told := regexp.MustCompile(`has not become ready in [4-9]s and podProgressTimeoutSeconds allows 4s`); !told.MatchString(exceeded.Note) {
		t.Errorf("the event says %q, want the time it took and the time allowed", exceeded.Note)
	}
	thenReplaced(t, story, stuck)
	story.ThenCondition(v1.ConditionProgressing, "False ProgressDeadlineExceeded")

	story.Mend(1)
	story.ThenEvent("ProgressingResumed")
	story.ThenPodBroken(0, neverReady)
	story.Mend(0)
	story.ThenUpdated(2)
	chronicle.ThenWas(v1.ConditionProgressing,
		"True UpdateComplete", "True UpdateInProgress", "False ProgressDeadlineExceeded", "True ProgressingResumed", "True UpdateComplete")
}

// thenReplaced waits until there is another pod in the place of one that was.
func thenReplaced(t *testing.T, story *scenario.Story, before *corev1.Pod) {
	t.Helper()
	story.Eventually(t, before.Name+" is replaced", func(context.Context) error {
		for _, pod := range story.Pods() {
			if pod.Name == before.Name && pod.UID != before.UID && pod.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return fmt.Errorf("there is no pod of that name but the one of before")
	})
}

// Seed 004, e2e 1 to 4 and stories 1 to 5: a stuck pod gets out of the way of a corrected template by itself, under
// both policies and with a budget.
func TestTimeoutLetsAFixedTemplateThrough(t *testing.T) {
	t.Parallel()
	cases := map[string][]scenario.Edit{
		"OrderedReady":                     nil,
		"Parallel":                         {scenario.Parallel()},
		"OrderedReady with maxUnavailable": {scenario.MaxUnavailable("2")},
		"Parallel with maxUnavailable":     {scenario.Parallel(), scenario.MaxUnavailable("2")},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := given(t, append(edits, scenario.ProgressTimeout(1))...)
			story.When(scenario.Image(withoutImage))
			story.ThenPodBroken(2, withoutImage)
			story.When(scenario.Image(fixed))
			story.ThenUpdated(3)
			thenImages(t, story, fixed, fixed, fixed)
			if tape := story.Tape(); slices.Contains(tape, "create web-0 r2") {
				t.Errorf("web-0 got the broken template: %v", tape)
			}
		})
	}
}

// Seed 004, story 2: a pod that no node has room for is replaced as well.
func TestTimeoutReplacesPendingPod(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.ProgressTimeout(1))
	story.When(greedy())
	thenUnschedulable(t, story, 2)
	story.When(modest(), scenario.Image(fixed))
	story.ThenUpdated(3)
}

// Seed 004, integration 6 and 7, e2e 5: pods that are slow and in time are left alone, each by its own deadline: the
// update as a whole takes longer than the timeout, and its tape is that of any update.
func TestTimeoutSparesSlowPods(t *testing.T) {
	t.Parallel()
	const seconds = 4
	story := given(t, scenario.ProgressTimeout(seconds))
	begin := time.Now()
	story.When(scenario.Image("web:2-start-1500ms"))
	story.ThenUpdated(3)
	if took := time.Since(begin); took < seconds*time.Second {
		t.Errorf("the update took %s, too short to show anything", took)
	}
	story.ThenTape(append(up(3),
		"delete web-2", "create web-2 r2", "delete web-1", "create web-1 r2", "delete web-0", "create web-0 r2")...)
	if events := story.Events("ProgressDeadlineExceeded"); len(events) > 0 {
		t.Errorf("a deadline was exceeded: %v", events)
	}
}

// Seed 004, SLO 2: a pod that was ready once is never deleted by the timeout, be it ready or not when its time is up.
func TestTimeoutSparesPodThatWasReady(t *testing.T) {
	t.Parallel()
	const seconds = 5
	story := given(t, scenario.Replicas(1), scenario.MinReady(seconds-1), scenario.ProgressTimeout(seconds))
	story.When(scenario.Image("web:2-after-2500ms-ready-then-failing"))
	story.ThenPod(0, "past its deadline", func(pod *corev1.Pod) error {
		if age := time.Since(pod.CreationTimestamp.Time); pod.Spec.Containers[0].Image == "web:1" || age < (seconds+2)*time.Second {
			return fmt.Errorf("image %s, age %s", pod.Spec.Containers[0].Image, age)
		}
		return nil
	})
	story.ThenTape("create web-0 r1", "delete web-0", "create web-0 r2")
	if pod := story.Pod(0); !readySince(pod).IsZero() {
		t.Error("the pod is ready: there was nothing to spare it from")
	}
}

// Seed 004, integration 8: with Parallel each pod has its own deadline. Of three, the one that gets ready stays.
func TestTimeoutTracksParallelPodsIndependently(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Parallel(), scenario.MaxUnavailable("3"), scenario.ProgressTimeout(4))
	story.When(scenario.Image(neverReady))
	for number := range 3 {
		story.ThenPodBroken(number, neverReady)
	}
	before := podUIDs(story)
	stuck := []*corev1.Pod{story.Pod(0), story.Pod(2)}
	story.Mend(1)
	story.ThenPodReady(1)
	for _, pod := range stuck {
		thenReplaced(t, story, pod)
		story.ThenEvent("ProgressDeadlineExceeded", pod.Name)
	}
	if after := story.Pod(1).UID; after != before["web-1"] {
		t.Error("web-1 was ready in time and was replaced")
	}
	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
}

// Seed 004, integration 9: a pod that does not get ready however often it is replaced halts the update. Lower ordinals
// keep the old revision. A new template starts anew.
func TestTimeoutHaltsAfterThreeReplacements(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.ProgressTimeout(1))
	story.When(scenario.Image(crashing))
	story.ThenEvent("ProgressHalted", "web-2", "3 times")
	story.ThenCondition(v1.ConditionProgressing, "False ProgressHalted", "web-2")
	story.ThenCondition(v1.ConditionStalled, "True ProgressHalted")
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")
	want := slices.Repeat([]string{"delete web-2", "create web-2 r2"}, 4) // the update itself, and three replacements
	if diff := cmp.Diff(want, since(story, 3)); diff != "" {
		t.Errorf("tape (-want +got):\n%s", diff)
	}
	if counts := story.Set().Status.PodProgress; len(counts) != 1 || counts[0].Ordinal != 2 || counts[0].Replacements != 3 {
		t.Errorf("podProgress = %+v, want 3 replacements of ordinal 2", counts)
	}

	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
}
