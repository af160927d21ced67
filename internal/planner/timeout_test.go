package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// impatient is an update with a timeout of ten minutes. Pods of the test kit are
// half an hour old.
func impatient(replicas int32) *testkit.SetBuilder { return updating(replicas).ProgressTimeout(600) }

func TestTimeout(t *testing.T) {
	runAll(t, map[string]scenario{
		"a stuck old pod makes way":           {impatient(2).Template("c"), "abc", "0:a/available 1:b/crashing", []string{"delete pod web-1"}},
		"a stuck new pod is tried again":      {impatient(2), "ab", "0:a/available 1:b/pending", []string{"delete pod web-1"}},
		"a pod that was ready stays":          {impatient(2), "ab", "0:a/available 1:a/unready", nil},
		"a pod that is ready stays":           {impatient(2).MinReady(3600), "ab", "0:a/available 1:b/ready", nil},
		"not below the partition":             {impatient(2).Partition(1), "ab", "0:a/crashing 1:b/available", nil},
		"not one that leaves":                 {impatient(2), "ab", "0:a/available 1:a/terminating", nil},
		"not without an update":               {web(2).Current("a").ProgressTimeout(600), "a", "0:a/available 1:a/crashing", nil},
		"not while paused":                    {impatient(2).Paused(), "ab", "0:a/available 1:a/crashing", nil},
		"the rest of the update waits":        {impatient(3), "ab", "0:a/available 1:a/available 2:b/crashing", []string{"delete pod web-2"}},
		"parallel, each on its own":           {impatient(3).Parallel(), "ab", "0:a/available 1:b/crashing 2:b/pending", []string{"delete pod web-1", "delete pod web-2"}},
		"parallel, old ones go anyway":        {impatient(2).Parallel(), "ab", "0:a/unready 1:b/available", []string{"delete pod web-0"}},
		"an update that works is not touched": {impatient(2), "ab", "0:a/available 1:b/available", []string{"delete pod web-0"}},
	})
}

func TestTimeoutIgnoredWithTheGateOff(t *testing.T) {
	o := testkit.Observe(impatient(1).Obj(), "ab", "0:b/crashing")
	o.Gates.ProgressDeadline = false
	if p := planner.Compute(o); !p.IsEmpty() {
		t.Errorf("the timeout acts:\n%s", p)
	}
}

// TestTimeoutWakesUpAtTheDeadline: not before, and never by polling.
func TestTimeoutWakesUpAtTheDeadline(t *testing.T) {
	o := testkit.Observe(impatient(1).Obj(), "ab", "0:b/crashing")
	created := testkit.Now.Add(-9 * time.Minute)
	o.Pods[0].CreationTimestamp, o.Pods[0].Status.StartTime = metav1.NewTime(created), &metav1.Time{Time: created}
	o.Pods[0].Status.Conditions[0].LastTransitionTime = metav1.NewTime(created)
	p := planner.Compute(o)
	// Not at the full minute: the pod may have been created at the end of the second that its creation time names.
	if want := testkit.Now.Add(time.Minute + time.Second); !p.IsEmpty() || !p.WakeAt.Equal(want) {
		t.Errorf("the wake-up is at %v, want %v; the plan is %q", p.WakeAt, want, p)
	}
	o.Now = p.WakeAt
	if p := planner.Compute(o); p.IsEmpty() {
		t.Error("nothing happens at the deadline")
	}
}

// TestTimeoutAnnouncesBeforeItDeletes: event, condition and count are written
// first, and the delete gives way to any write of the pod.
func TestTimeoutAnnouncesBeforeItDeletes(t *testing.T) {
	set := impatient(2).Obj()
	p := planner.Compute(testkit.Observe(set, "ab", "0:a/available 1:b/crashing"))
	last := p.Steps[len(p.Steps)-1]
	remove, ok := last.Lanes[0][0].(plan.DeletePod)
	if !ok || !remove.IfUnchanged || !last.StatusFirst || remove.Reason.Code != plan.ProgressTimedOut {
		t.Errorf("the last step is %+v", last)
	}
	wantCondition(t, p.Status, v1.ConditionProgressing, "False", v1.ReasonProgressDeadlineExceeded)
	want := []v1.PodProgress{{
		Ordinal: 1, Revision: testkit.RevisionName(set, "b"), Replacements: 1, LastReplacementTime: metav1.NewTime(testkit.Now),
		LastReplacedUID: "web-1-uid",
	}}
	if diff := cmp.Diff(want, p.Status.PodProgress); diff != "" {
		t.Errorf("podProgress (-want +got):\n%s", diff)
	}
	target := testkit.RevisionName(set, "b")
	message := fmt.Sprintf("pod web-1 of revision %s is replaced at revision %s: it has not become ready in 30m0s and "+
		"podProgressTimeoutSeconds allows 10m0s; it is running but not ready (CrashLoopBackOff: container main, exit code 1)", target, target)
	events := []plan.Event{{Type: "Warning", Reason: "ProgressDeadlineExceeded", Message: message}}
	if diff := cmp.Diff(events, p.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestTimeoutHaltsAfterThree is P2: three in a row at one revision, counted in
// the status, then nothing until the template changes.
func TestTimeoutHaltsAfterThree(t *testing.T) {
	set := impatient(3).Parallel().Obj()
	o := testkit.Observe(set, "ab", "0:a/available 1:a/available 2:b/crashing")
	for i := range 3 {
		p := planner.Compute(o)
		if diff := cmp.Diff([]string{"delete pod web-2"}, testkit.Actions(set, p)); diff != "" {
			t.Fatalf("replacement %d (-want +got):\n%s", i+1, diff)
		}
		set.Status = p.Status
		o.Pods[2].CreationTimestamp = metav1.NewTime(o.Now.Add(time.Second))
		o.Pods[2].UID = types.UID(fmt.Sprintf("replacement-%d", i+1))
		testkit.SetState(o.Pods[2], "crashing", o.Now)
		o.Now = o.Now.Add(11 * time.Minute)
	}
	p := planner.Compute(o)
	if !p.IsEmpty() {
		t.Errorf("a fourth replacement:\n%s", p)
	}
	if len(p.Events) != 1 || p.Events[0].Reason != "ProgressHalted" {
		t.Errorf("events = %v, want ProgressHalted", p.Events)
	}
	wantCondition(t, p.Status, v1.ConditionProgressing, "False", v1.ReasonProgressHalted)
	wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonProgressHalted)

	set.Status = p.Status
	if p := planner.Compute(o); len(p.Events) > 0 || planner.StatusChanged(set, p.Status) {
		t.Errorf("the halt is announced again: %v", p.Events)
	}

	set.Spec.Template.Spec.Containers[0].Image = "c"
	o.Revisions = append(o.Revisions, testkit.Revision(set, "c", 3))
	if diff := cmp.Diff([]string{"delete pod web-2"}, testkit.Actions(set, planner.Compute(o))); diff != "" {
		t.Errorf("a new template does not lift the halt (-want +got):\n%s", diff)
	}
}

// TestTimeoutResumes: a replacement that gets ready is announced once and its
// count forgotten.
func TestTimeoutResumes(t *testing.T) {
	set := impatient(2).MinReady(60).Obj()
	o := testkit.Observe(set, "ab", "0:a/available 1:b/crashing")
	set.Status = planner.Compute(o).Status

	testkit.SetState(o.Pods[1], "ready", testkit.Now)
	p := planner.Compute(o)
	if len(p.Events) != 1 || p.Events[0].Reason != "ProgressingResumed" {
		t.Errorf("events = %v, want ProgressingResumed", p.Events)
	}
	wantCondition(t, p.Status, v1.ConditionProgressing, "True", v1.ReasonProgressingResumed)
	if len(p.Status.PodProgress) > 0 {
		t.Errorf("podProgress = %v, want none", p.Status.PodProgress)
	}
	set.Status = p.Status
	if p := planner.Compute(o); len(p.Events) > 0 {
		t.Errorf("announced again: %v", p.Events)
	}
}

// TestTimeoutRestsWhilePaused: the clock runs, but nothing is counted or said.
func TestTimeoutRestsWhilePaused(t *testing.T) {
	set := impatient(2).Paused().Obj()
	counts := []v1.PodProgress{{Ordinal: 1, Revision: testkit.RevisionName(set, "b"), Replacements: 3}}
	set.Status.PodProgress = counts
	p := planner.Compute(testkit.Observe(set, "ab", "0:a/available 1:b/crashing"))
	wantCondition(t, p.Status, v1.ConditionProgressing, "Unknown", v1.ReasonUpdatePaused)
	wantCondition(t, p.Status, v1.ConditionStalled, "", "")
	if diff := cmp.Diff(counts, p.Status.PodProgress); diff != "" {
		t.Errorf("podProgress (-want +got):\n%s", diff)
	}
}

// TestTimeoutCountsAPodOnce: a delete that did not get through, because the pod
// was written in between or the controller died, is not a replacement.
func TestTimeoutCountsAPodOnce(t *testing.T) {
	set := impatient(1).Obj()
	o := testkit.Observe(set, "ab", "0:b/crashing")
	for range 5 {
		p := planner.Compute(o)
		if diff := cmp.Diff([]string{"delete pod web-0"}, testkit.Actions(set, p)); diff != "" {
			t.Fatalf("actions (-want +got):\n%s", diff)
		}
		if got := p.Status.PodProgress[0].Replacements; got != 1 {
			t.Fatalf("the pod was replaced %d times", got)
		}
		set.Status = p.Status
		o.Now = o.Now.Add(time.Minute)
	}
}

// TestTimeoutCountsByNoClock: with the operator's clock ahead of the API server's, replacements look older than the last
// replacement. They are counted all the same, or the timeout would go on for ever.
func TestTimeoutCountsByNoClock(t *testing.T) {
	set := impatient(1).Obj()
	o := testkit.Observe(set, "ab", "0:b/crashing")
	for i := range 3 {
		o.Pods[0].UID = types.UID(fmt.Sprintf("pod-%d", i+1))
		p := planner.Compute(o)
		if got := p.Status.PodProgress[0].Replacements; got != int32(i+1) {
			t.Fatalf("pod %d counts as replacement %d", i+1, got)
		}
		set.Status = p.Status
	}
	o.Pods[0].UID = "pod-4"
	if p := planner.Compute(o); !p.IsEmpty() {
		t.Errorf("a fourth replacement:\n%s", p)
	}
}
