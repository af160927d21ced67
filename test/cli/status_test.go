package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/view"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// want holds a command's outcome against what it should be: the code, and words of both outputs.
func (o outcome) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	for _, word := range words {
		if !strings.Contains(o.out+o.err, word) {
			t.Errorf("%q is not said", word)
		}
	}
	if lines := strings.Count(o.err, "\n"); lines > 1 {
		t.Errorf("%d lines of errors, want one", lines)
	}
	if t.Failed() {
		t.Logf("the plugin said:\n%s%s", o.out, o.err)
	}
}

func TestStatusFollowsARolloutToItsEnd(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
	user := newUser(t, story.Space)
	user.run("status", "web").want(t, 0, "web is rolled out: all 3 pods are available at revision 1")
	story.When(scenario.Image("web:2-start-1s"))
	got := user.run("status", "rsts/web", "--timeout=1m")
	got.want(t, 0, "web is rolled out: all 3 pods are available at revision 2", "of 3 pods updated and available: updating to revision")
	if lines := strings.Split(strings.TrimSpace(got.out), "\n"); len(lines) < 4 {
		t.Errorf("%d lines about a roll-out of 3 pods, want a line for each change", len(lines))
	}
	user.run("status", "statefulset/web", "--revision=2").want(t, 0)
	user.run("status", "web", "--revision=1").want(t, 1, "rolls out revision 2", "not 1")
}

// TestStatusSeesABadImage: the command ends within seconds of the halt, and says whose fault it is.
func TestStatusSeesABadImage(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2))
	story.ThenReady(2)
	user := newUser(t, story.Space)
	story.When(scenario.Image("web:typo-image-pull-backoff"))
	got := user.run("status", "web")
	got.want(t, 1, "web is stuck", "pod web-1", "ImagePullBackOff", "image web:typo-image-pull-backoff", "kubectl rollcall undo web")
	if age := time.Since(story.Pod(1).CreationTimestamp.Time); age > 45*time.Second {
		t.Errorf("it took %s from the pod's creation to say so", age)
	}
	user.run("undo", "web").want(t, 0, "rolled back to revision 1", `Pod web-1 is broken`, "kubectl delete pod web-1")
	user.run("status", "web", "--watch=false").want(t, 1, "web is stuck", "kubectl delete pod web-1")
	story.DeletePod(1)
	user.run("status", "web").want(t, 0, "all 2 pods are available at revision 3")
}

// TestStatusSeesWhatTheOperatorSays: halts that the operator declares end the command.
func TestStatusSeesWhatTheOperatorSays(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.ProgressTimeout(2))
	story.ThenReady(2)
	story.When(scenario.Image("web:2-crash-loop"))
	newUser(t, story.Space).run("status", "web").want(t, 1, "web is halted", "web-1", "CrashLoopBackOff")
}

func TestStatusOfWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edits []scenario.Edit
		code  int
		words []string
	}{
		"paused":    {[]scenario.Edit{scenario.Paused(true)}, 1, []string{"web is paused", "kubectl rollcall resume web"}},
		"on delete": {[]scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy)}, 1, []string{"web waits for you", "web-0"}},
		"partition": {[]scenario.Edit{scenario.Partition(1)}, 0, []string{"rolled out up to its partition: 1 of 2 pods", "kubectl rollcall promote web"}},
		"recreate":  {[]scenario.Edit{scenario.Strategy(v1.RecreateStrategy)}, 0, []string{"all 2 pods are available at revision 2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Given(t, scenario.Rollcall, append(test.edits, scenario.Replicas(2), scenario.Parallel())...)
			story.ThenReady(2)
			story.When(scenario.Image("web:2"))
			newUser(t, story.Space).run("status", "web").want(t, test.code, test.words...)
		})
	}
}

func TestStatusTimesOut(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Image("web:1-never-ready"))
	user := newUser(t, story.Space)
	user.run("status", "web", "--timeout=3s").want(t, 2, "web is not rolled out after 3s", "kubectl rollcall explain web")
	user.run("status", "web", "--watch=false").want(t, 2, "Progressing", "web-0")
	got := user.run("status", "web", "--timeout=1s", "-o", "json")
	got.want(t, 2)
	decode(t, got.out, view.Progressing)
}

// decode reads one roll-out from JSON.
func decode(t *testing.T, text string, want view.Phase) {
	t.Helper()
	var rollout view.Rollout
	if err := json.Unmarshal([]byte(text), &rollout); err != nil {
		t.Fatalf("reading the JSON: %v in\n%s", err, text)
	}
	if rollout.Phase != want || rollout.Name != scenario.SetName || len(rollout.Pods) == 0 {
		t.Errorf("roll-out %+v, want one of web that is %s", rollout, want)
	}
}

func TestStatusInJSON(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	got := newUser(t, story.Space).run("status", "web", "-o", "json")
	got.want(t, 0)
	decode(t, got.out, view.Complete)
}

// TestStatusOfASetThatGoes: a set that is deleted has no status to wait for.
func TestStatusOfASetThatGoes(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Image("web:1-never-ready"))
	story.ThenPodBroken(0, "web:1-never-ready")
	ended := make(chan outcome)
	go func() { ended <- newUser(t, story.Space).run("status", "web") }()
	story.Delete("Background")
	(<-ended).want(t, 1, "web")
}

func TestInterruptsEndQuietly(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Image("web:1-never-ready"))
	story.ThenPodBroken(0, "web:1-never-ready")
	for _, verb := range []string{"status", "get"} {
		t.Run(verb, func(t *testing.T) {
			command, out, errOut := newUser(t, story.Space).process(verb, "web", "--watch")
			started := newSignal(out)
			command.Stdout = started
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			<-started.written
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			err := command.Wait()
			if code := command.ProcessState.ExitCode(); code != 130 || errOut.Len() > 0 {
				t.Errorf("interrupted, the plugin ends with code %d (%v) and %q, want 130 and nothing", code, err, errOut)
			}
		})
	}
}

// TestLiveStatus: on a terminal the picture is drawn in place, with the pods by ordinal.
func TestLiveStatus(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2))
	user := newUser(t, story.Space)
	user.Screen.IsTerminal = true
	user.Screen.Size = func() (columns, rows int) { return 100, 30 }
	got := user.run("status", "web")
	got.want(t, 0, "[##############################] 2 of 2 pods updated and available", "web-0", "web-1", "\x1b[J")
	if strings.Contains(got.out, "\x1b[3") {
		t.Error("colours although the user wants none")
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2))
	user := newUser(t, story.Space)
	user.run("status", "web").want(t, 0)
	user.run("get").want(t, 0, "NAME  STATE     READY  UPDATED", "web   Complete  2/2    2")
	user.run("get", "web").want(t, 0, "└─ revision 1 (web-", "   ├─ web-0 ", "   └─ web-1 ")
	user.run("get", "-A").want(t, 0, "NAMESPACE", story.Name)
	user.run("get", "-o", "name").want(t, 0, "statefulset.apps.rollcall.dev/web\n")
	user.run("get", "-n", "nowhere").want(t, 0, "There are no sets of apps.rollcall.dev in namespace nowhere.")
	decode(t, user.must("get", "web", "-o", "json"), view.Complete)
	user.run("get", "web", "-A").want(t, 1, "leave -A away")
	user.run("get", "-w", "-o", "json").want(t, 1, "-w is for people")
}

// TestGetWatches: without a terminal, a line for each change.
func TestGetWatches(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenReady(1)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	user := newUser(t, story.Space)
	ended := make(chan outcome)
	go func() { ended <- user.runUntil(ctx, "get", "web", "-w") }()
	story.When(scenario.Image("web:2-never-ready"))
	story.ThenPod(0, "at the new image", func(pod *corev1.Pod) error {
		if pod.Spec.Containers[0].Image != "web:2-never-ready" || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("its image is %s, its phase %s", pod.Spec.Containers[0].Image, pod.Status.Phase)
		}
		return nil
	})
	user.run("status", "web", "--timeout=2s").want(t, 2)
	stop()
	(<-ended).want(t, 130, story.Name+"/web: Progressing", "web-0")
}

// TestLiveView: the whole screen shows the set until somebody presses q.
func TestLiveView(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenReady(1)
	user := newUser(t, story.Space)
	user.Screen.IsTerminal = true
	user.Screen.Size = func() (columns, rows int) { return 100, 30 }
	keyboard, keys := io.Pipe()
	shown := &lookout{word: "web-0", seen: make(chan struct{})}
	user.Keyboard, user.Watches = keyboard, shown
	go func() {
		<-shown.seen
		_, _ = io.WriteString(keys, "q") // if it does not arrive, the test does not end well
	}()
	user.run("get", "web", "-w").want(t, 0, "web-0", "\x1b[?1049h", "\x1b[?1049l")
}

// lookout says when a word has been printed.
type lookout struct {
	word string
	text strings.Builder
	once sync.Once
	seen chan struct{}
}

func (l *lookout) Write(data []byte) (int, error) {
	l.text.Write(data)
	if strings.Contains(l.text.String(), l.word) {
		l.once.Do(func() { close(l.seen) })
	}
	return len(data), nil
}
