package examples

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// example is a folder under examples/ and what its script should bring about.
type example struct {
	set string
	// image is what every pod runs in the end.
	image string
	// lives are the revisions that a pod had one after the other, r1 being the
	// first of the set and r2 the broken one, as regular expressions by pod.
	lives map[string]string
	// events are reasons that the set's events must have.
	events []string
}

var stories = map[string]example{
	"ci-cd": {
		set: "app", image: "nginx:1.29",
		lives:  map[string]string{"app-0": "r1 r3", "app-1": "r1 r3", "app-2": "r1 r2 r3"},
		events: []string{"EnforcedRollingUpdateStarted", "ForcedReplacement"},
	},
	"stateless-web": {
		set: "web", image: "nginx:1.29",
		lives:  map[string]string{"web-0": "r1 r3", "web-1": "r1 r3", "web-2": "r1 r2( r2)? r3"},
		events: []string{"ProgressDeadlineExceeded", "ProgressingResumed"},
	},
	"development": {
		// Whether the second mistake lives long enough to make pods is a matter of luck.
		set: "experiment", image: "nginx:1.29",
		lives:  map[string]string{"experiment-0": "r1 r2( r3)? r[34]", "experiment-1": "r1 r2( r3)? r[34]", "experiment-2": "r1 r2( r3)? r[34]"},
		events: []string{"RecreateStarted", "RecreateComplete"},
	},
	"external-storage": {
		// OrderedReady starts nothing above the pod that does not get ready.
		set: "database", image: "postgres:17.6",
		lives:  map[string]string{"database-0": "r1 r2 r3", "database-1": "r1 r3", "database-2": "r1 r3"},
		events: []string{"RecreateStarted", "RecreateComplete"},
	},
	"leader-worker": {
		set: "leader", image: "nginx:1.29",
		lives:  map[string]string{"leader-0": "r1 r3", "leader-1": "r1 r3", "leader-2": "r1 r2( r2)? r3", "leader-3": "r1 r2( r2)? r3"},
		events: []string{"ProgressDeadlineExceeded"},
	},
}

// TestEveryExampleIsRun holds the table against the folders.
func TestEveryExampleIsRun(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root(), "examples", "*", "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, script := range scripts {
		found[filepath.Base(filepath.Dir(script))] = true
	}
	listed := map[string]bool{}
	for name := range stories {
		listed[name] = true
	}
	if diff := cmp.Diff(listed, found); diff != "" {
		t.Errorf("examples (-in the table +in examples/):\n%s", diff)
	}
}

func TestExamples(t *testing.T) {
	for name, example := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Prepare(t, scenario.Rollcall)
			user := newUser(t, story.Space)
			output, code := user.play(t, script(root(), name), "NAMESPACE="+story.Name)
			if code != 0 {
				t.Fatalf("the script ended with code %d:\n%s", code, output)
			}
			example.checkSet(t, story)
			example.checkPods(t, story)
			example.checkEvents(t, story)
		})
	}
}

// TestExampleFailsWithoutRecovery plays a story with the strategy that promises
// to wait for somebody, and expects the script to notice.
func TestExampleFailsWithoutRecovery(t *testing.T) {
	t.Parallel()
	story := scenario.Prepare(t, scenario.Rollcall)
	copied := filepath.Join(t.TempDir(), "examples")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(root(), "examples"))); err != nil {
		t.Fatal(err)
	}
	replaceIn(t, filepath.Join(copied, "ci-cd", "set.yaml"), "type: EnforcedRollingUpdate", "type: RollingUpdate")
	output, code := newUser(t, story.Space).play(t, script(filepath.Dir(copied), "ci-cd"), "NAMESPACE="+story.Name, "TIMEOUT=20s")
	if code == 0 {
		t.Errorf("the script ended well")
	}
	if _, end, found := strings.Cut(output, "Deploy the right image"); !found ||
		!strings.Contains(end, "timed out waiting for the condition on statefulsets/app") || !strings.Contains(end, "FAILED") {
		t.Errorf("want a time-out after the correction, and the word FAILED, in:\n%s", output)
	}
	story.ThenTape("create app-0 r1", "create app-1 r1", "create app-2 r1", "delete app-2", "create app-2 r2")
}

// TestExampleCleansUp lets a script make its own namespace.
func TestExampleCleansUp(t *testing.T) {
	t.Parallel()
	story := scenario.Prepare(t, scenario.Rollcall)
	output, code := newUser(t, story.Space).play(t, script(root(), "development"))
	if code != 0 {
		t.Fatalf("the script ended with code %d:\n%s", code, output)
	}
	const name = "rollcall-example-development"
	if !strings.Contains(output, name) {
		t.Errorf("the script does not name its namespace %s:\n%s", name, output)
	}
	err := story.Client.Get(story.Context, client.ObjectKey{Name: name}, &corev1.Namespace{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("reading namespace %s after the script: got %v, want that it is not found", name, err)
	}
}

// checkSet expects the set to say that it is ready, about the spec as it is now.
func (e example) checkSet(t *testing.T, story *scenario.Story) {
	t.Helper()
	set := e.read(t, story)
	ready := meta.FindStatusCondition(set.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != set.Generation {
		t.Errorf("condition Ready of generation %d: got %+v, want True", set.Generation, ready)
	}
	if got, want := set.Status.UpdatedReplicas, int32(len(e.lives)); got != want || set.Status.AvailableReplicas != want {
		t.Errorf("%d pods are updated and %d available, want %d", got, set.Status.AvailableReplicas, want)
	}
	if set.Status.CurrentRevision != set.Status.UpdateRevision {
		t.Errorf("the update to %s is not complete: the current revision is %s", set.Status.UpdateRevision, set.Status.CurrentRevision)
	}
}

func (e example) read(t *testing.T, story *scenario.Story) *v1.StatefulSet {
	t.Helper()
	set := &v1.StatefulSet{}
	if err := story.Client.Get(story.Context, client.ObjectKey{Namespace: story.Name, Name: e.set}, set); err != nil {
		t.Fatalf("reading the set %s: %v", e.set, err)
	}
	return set
}

// checkPods expects every pod to run the image that was meant, at the revision of
// the corrected template, after the lives that the story gives it and no others.
func (e example) checkPods(t *testing.T, story *scenario.Story) {
	t.Helper()
	revision := e.read(t, story).Status.UpdateRevision
	for _, pod := range story.Pods() {
		if got := pod.Spec.Containers[0].Image; got != e.image || pod.Labels[v1.RevisionLabel] != revision {
			t.Errorf("pod %s runs %s at revision %s, want %s at %s", pod.Name, got, pod.Labels[v1.RevisionLabel], e.image, revision)
		}
	}
	story.Eventually(t, "the pods had their lives", func(context.Context) error {
		return e.compareLives(livesOnTape(story.Tape()))
	})
}

func (e example) compareLives(lives map[string]string) error {
	if len(lives) != len(e.lives) {
		return fmt.Errorf("there were pods %v, want %v", lives, e.lives)
	}
	for pod, want := range e.lives {
		if !regexp.MustCompile("^" + want + "$").MatchString(lives[pod]) {
			return fmt.Errorf("pod %s had the lives %q, want %q", pod, lives[pod], want)
		}
	}
	return nil
}

// livesOnTape returns the revisions at which each pod was created, in order.
func livesOnTape(tape []string) map[string]string {
	lives := map[string]string{}
	for _, line := range tape {
		var pod, revision string
		if _, err := fmt.Sscanf(line, "create %s %s", &pod, &revision); err == nil {
			lives[pod] = strings.TrimSpace(lives[pod] + " " + revision)
		}
	}
	return lives
}

// checkEvents waits for the events of the story, which are written after the
// status that the script waits for.
func (e example) checkEvents(t *testing.T, story *scenario.Story) {
	t.Helper()
	story.Eventually(t, "the events tell the story", func(ctx context.Context) error {
		var events corev1.EventList
		if err := story.Client.List(ctx, &events, client.InNamespace(story.Name)); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, event := range events.Items {
			seen[event.Reason] = seen[event.Reason] || event.InvolvedObject.Name == e.set
		}
		for _, reason := range e.events {
			if !seen[reason] {
				return fmt.Errorf("no event %s of set %s", reason, e.set)
			}
		}
		return nil
	})
}

func script(root, name string) string { return filepath.Join(root, "examples", name, "run.sh") }

func replaceIn(t *testing.T, file, from, to string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), from) {
		t.Fatalf("%s does not contain %q", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(content), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
}
