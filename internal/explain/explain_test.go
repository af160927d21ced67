package explain_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// TestAnswers holds every answer against testdata/<case>.txt, and against what
// each case says of its state and first cause.
func TestAnswers(t *testing.T) {
	seen := map[explain.Code]bool{}
	for name, tc := range answerCases {
		t.Run(name, func(t *testing.T) {
			answer := explain.Ask(tc.question())
			if answer.State != tc.state {
				t.Errorf("state is %s, want %s", answer.State, tc.state)
			}
			var first explain.Code
			if len(answer.Causes) > 0 {
				first = answer.Causes[0].Code
			}
			if first != tc.first {
				t.Errorf("the first cause is %q, want %q", first, tc.first)
			}
			for _, cause := range answer.Causes {
				seen[cause.Code] = true
			}
			compareGolden(t, name, answer.Text(testkit.Now))
		})
	}
	for _, code := range allCodes {
		if !seen[code] {
			t.Errorf("no case shows the cause %s", code)
		}
	}
}

// allCodes are the causes that a user can be told of.
var allCodes = []explain.Code{
	explain.OperatorSilent, explain.GateDisabled, explain.Deleting, explain.InvalidSpec, explain.NamesakeInCharge, explain.Quota, explain.PodSecurity,
	explain.AdmissionWebhook, explain.Refused, explain.NameTaken, explain.ImagePull, explain.CrashLoop, explain.ConfigError,
	explain.ContainerWaiting, explain.Unschedulable, explain.ClaimMissing, explain.ClaimUnbound, explain.ClaimLost,
	explain.ClaimTerminating, explain.VolumeProblem, explain.NodeLost, explain.NotReady, explain.Ended, explain.StuckTerminating,
	explain.Terminating, explain.Starting, explain.MinReadySeconds, explain.Paused, explain.Partition, explain.OnDelete,
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading the golden answer (make it with -update): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the answer differs from %s (-want +got):\n%s", path, diff)
	}
}

// TestAskModifiesNothing guards the objects of the asker, who may have them from
// a cache.
func TestAskModifiesNothing(t *testing.T) {
	for name, tc := range answerCases {
		t.Run(name, func(t *testing.T) {
			q, before := tc.question(), tc.question()
			explain.Ask(q)
			if diff := cmp.Diff(before, q); diff != "" {
				t.Errorf("the question was modified (-before +after):\n%s", diff)
			}
		})
	}
}

// TestNoSlots: a set that is scaled to nothing is done.
func TestNoSlots(t *testing.T) {
	set := testkit.MakeSet("web").Replicas(0).Current("a").Obj()
	set.Status.ObservedGeneration = set.Generation
	answer := explain.Ask(explain.Question{Observation: testkit.Observe(set, "a", "")})
	if answer.State != explain.Done {
		t.Errorf("state is %s, want done: %s", answer.State, answer.Text(testkit.Now))
	}
}

// TestManyBrokenPods: an answer stays readable.
func TestManyBrokenPods(t *testing.T) {
	set := testkit.MakeSet("web").Replicas(12).Parallel().Current("a").Obj()
	set.Status.ObservedGeneration = set.Generation
	var words []string
	for _, number := range strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11") {
		words = append(words, number+":a/crashing")
	}
	answer := explain.Ask(explain.Question{Observation: testkit.Observe(set, "a", strings.Join(words, " "))})
	if len(answer.Causes) != 5 {
		t.Errorf("%d causes are listed, want 5", len(answer.Causes))
	}
	if text := answer.Text(testkit.Now); !strings.Contains(text, "and 7 pods more are not available") {
		t.Errorf("the rest is not counted:\n%s", text)
	}
}

// event makes a warning about an object, a minute ago.
func event(kind, name, reason, message string) *corev1.Event {
	e := &corev1.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}
	e.InvolvedObject.Kind, e.InvolvedObject.Name = kind, name
	e.LastTimestamp.Time = testkit.Now.Add(-time.Minute)
	return e
}
