package preview_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/preview"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden previews anew")

var pace = preview.Pace{Start: 20 * time.Second, Stop: 5 * time.Second}

// request makes a request from the notation of testkit.
func request(set *testkit.SetBuilder, history, fleet string) preview.Request {
	o := testkit.Observe(set.Obj(), history, fleet)
	r := preview.Request{Set: o.Set, Pods: o.Pods, Revisions: o.Revisions, Now: o.Now, Pace: pace, Gates: o.Gates}
	for _, claim := range o.Claims {
		r.Claims = append(r.Claims, claim)
	}
	return r
}

func from(current, target string, replicas int32) *testkit.SetBuilder {
	return testkit.MakeSet("web").Replicas(replicas).Template(target).Current(current)
}

const allA = "0:a/available 1:a/available 2:a/available"

var previews = map[string]struct {
	request preview.Request
	outcome preview.Outcome
	most    int
}{
	"new set":               {request(testkit.MakeSet("web").Replicas(3).Claims("data"), "", ""), preview.Complete, 0},
	"nothing changes":       {request(from("a", "a", 3), "a", allA), preview.Unchanged, 0},
	"rolling update":        {request(from("a", "b", 3), "a", allA), preview.Complete, 1},
	"rolling back":          {request(from("b", "a", 3), "ab", "0:b/available 1:b/available 2:b/available"), preview.Complete, 1},
	"parallel by two":       {request(from("a", "b", 4).Parallel().MaxUnavailable("2"), "a", allA+" 3:a/available"), preview.Complete, 2},
	"ordered by two":        {request(from("a", "b", 4).MaxUnavailable("50%"), "a", allA+" 3:a/available"), preview.Complete, 2},
	"min ready seconds":     {request(from("a", "b", 3).MinReady(30), "a", allA), preview.Complete, 1},
	"partition":             {request(from("a", "b", 3).Partition(1), "a", allA), preview.Staged, 1},
	"paused":                {request(from("a", "b", 3).Paused(), "a", allA), preview.Paused, 0},
	"on delete":             {request(from("a", "b", 3).Strategy(v1.OnDeleteStrategy), "a", allA), preview.Waiting, 0},
	"recreate":              {request(from("a", "b", 3).Strategy(v1.RecreateStrategy), "a", allA), preview.Complete, 3},
	"enforced":              {request(from("a", "b", 3).Strategy(v1.EnforcedRollingUpdateStrategy), "a", allA), preview.Complete, 1},
	"scale up and update":   {request(from("a", "b", 4), "a", "0:a/available 1:a/available"), preview.Complete, 1},
	"scale down and update": {request(from("a", "b", 2), "a", allA), preview.Complete, 1},
	"scale to nothing":      {request(from("a", "a", 0), "a", allA), preview.Complete, 0},
	"broken pod holds it":   {request(from("a", "c", 3), "ab", "0:a/available 1:a/available 2:b/pulling"), preview.Stuck, 0},
	"broken pod enforced": {
		request(from("a", "c", 3).Strategy(v1.EnforcedRollingUpdateStrategy), "ab", "0:a/available 1:a/available 2:b/pulling"), preview.Complete, 1,
	},
	"broken pod timed out": {
		request(from("a", "c", 3).ProgressTimeout(60), "ab", "0:a/available 1:a/available 2:b/pulling"), preview.Complete, 1,
	},
	"broken pod recreated": {
		request(from("a", "c", 3).Strategy(v1.RecreateStrategy), "ab", "0:a/available 1:a/available 2:b/crashing"), preview.Complete, 2,
	},
	"broken revision goes on": {
		request(from("a", "b", 3).ProgressTimeout(60), "ab", "0:a/available 1:a/available 2:b/pulling"), preview.Stuck, 0,
	},
	"pod that never stops": {
		never(request(from("a", "b", 3).Strategy(v1.RecreateStrategy), "a", "0:a/available 1:a/terminating 2:a/available")), preview.Stuck, 2,
	},
	"strategy switched off": {
		without(request(from("a", "b", 3).Strategy(v1.EnforcedRollingUpdateStrategy).Partition(1).MaxUnavailable("3"), "a", allA)), preview.Staged, 1,
	},
	"one is starting": {young(request(from("a", "a", 3), "a", "0:a/available 1:a/available 2:a/pending")), preview.Unchanged, 0},
}

// never has the deletion of a pod lie long ago.
func never(r preview.Request) preview.Request {
	r.Pods[1].DeletionTimestamp = &metav1.Time{Time: r.Now.Add(-time.Hour)}
	return r
}

// without has all feature gates off.
func without(r preview.Request) preview.Request {
	r.Gates = plan.Gates{}
	return r
}

// young has the last pod just been created.
func young(r preview.Request) preview.Request {
	r.Pods[len(r.Pods)-1].CreationTimestamp = metav1.NewTime(r.Now.Add(-time.Second))
	return r
}

func TestPreviews(t *testing.T) {
	for name, tc := range previews {
		t.Run(name, func(t *testing.T) {
			got, err := preview.Run(tc.request)
			if err != nil {
				t.Fatal(err)
			}
			if got.Outcome != tc.outcome || got.Down.Most != tc.most {
				t.Errorf("outcome %s with %d down, want %s with %d", got.Outcome, got.Down.Most, tc.outcome, tc.most)
			}
			compareGolden(t, name, got.Text())
		})
	}
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
		t.Fatalf("reading the golden preview (make it with -update): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the preview differs from %s (-want +got):\n%s", path, diff)
	}
}

// TestRunModifiesNothing guards the objects of the asker.
func TestRunModifiesNothing(t *testing.T) {
	for name, tc := range previews {
		before := copyOf(tc.request)
		if _, err := preview.Run(tc.request); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, tc.request); diff != "" {
			t.Errorf("%s: the request was modified (-before +after):\n%s", name, diff)
		}
	}
}

func copyOf(r preview.Request) preview.Request {
	c := r
	c.Set, c.Pods = r.Set.DeepCopy(), nil
	for _, pod := range r.Pods {
		c.Pods = append(c.Pods, pod.DeepCopy())
	}
	return c
}

// TestSettle: what is known of a set from its manifest alone is that it could be running.
func TestSettle(t *testing.T) {
	running, err := preview.Settle(testkit.MakeSet("web").Replicas(3).MinReady(10).Obj(), testkit.Now, pace)
	if err != nil {
		t.Fatal(err)
	}
	if len(running.Pods) != 3 || running.Set.Status.AvailableReplicas != 3 {
		t.Fatalf("%d pods, %d available, want 3 of each", len(running.Pods), running.Set.Status.AvailableReplicas)
	}
	running.Set = running.Set.DeepCopy()
	running.Set.Generation++
	running.Set.Spec.Template.Spec.Containers[0].Image = "b"
	got, err := preview.Run(running)
	if err != nil {
		t.Fatal(err)
	}
	if got.Outcome != preview.Complete || got.Replaced != 3 {
		t.Errorf("the update of a running set is previewed as\n%s", got.Text())
	}
}

// TestFiftyPods: previews are for real sets, too.
func TestFiftyPods(t *testing.T) {
	running, err := preview.Settle(testkit.MakeSet("web").Replicas(50).Obj(), testkit.Now, pace)
	if err != nil {
		t.Fatal(err)
	}
	running.Set = running.Set.DeepCopy()
	running.Set.Generation++
	running.Set.Spec.Template.Spec.Containers[0].Image = "b"
	got, err := preview.Run(running)
	if err != nil {
		t.Fatal(err)
	}
	if want := 50 * (pace.Start + pace.Stop).Seconds(); got.Duration != want || got.Replaced != 50 || got.Down.Most != 1 {
		t.Errorf("%d replaced in %v s with %d down, want 50 in %v s with 1", got.Replaced, got.Duration, got.Down.Most, want)
	}
	for i, number := 0, 49; number >= 0; number-- {
		for got.Steps[i].Verb != "delete" {
			i++
		}
		if want := ordinal.PodName("web", number); got.Steps[i].Object != want {
			t.Fatalf("step %d deletes %s, want %s", i, got.Steps[i].Object, want)
		}
		i++
	}
}

// TestTooManyPods: a number that a typo made huge is refused at once.
func TestTooManyPods(t *testing.T) {
	set := testkit.MakeSet("web").Replicas(2_000_000_000).Obj()
	if _, err := preview.Run(preview.Request{Set: set, Now: testkit.Now, Pace: pace, Gates: plan.AllGates()}); err == nil || !strings.Contains(err.Error(), "no more than 1000") {
		t.Errorf("two billion pods are answered with %v", err)
	}
	if _, err := preview.Settle(set, testkit.Now, pace); err == nil {
		t.Error("two billion pods are brought up")
	}
}

func TestPastStart(t *testing.T) {
	pods := testkit.Fleet(testkit.MakeSet("web").Replicas(5).Obj(), "0:a/ready 1:a/ready 2:a/ready 3:a/pending 4:a/ready")
	for i, seconds := range []int{10, 30, 20, 0, 500} {
		pods[i].CreationTimestamp = metav1.NewTime(testkit.Now.Add(-time.Duration(seconds) * time.Second))
	}
	pods[4].Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 2}}
	median, count := preview.PastStart(pods, testkit.Now)
	if median != 20*time.Second || count != 3 {
		t.Errorf("median %s of %d pods, want 20s of 3: pods that are not ready or were restarted do not count", median, count)
	}
	if median, count := preview.PastStart(nil, testkit.Now); median != 0 || count != 0 {
		t.Errorf("median %s of %d pods without pods", median, count)
	}
}
