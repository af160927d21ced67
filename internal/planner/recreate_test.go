package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func recreating(replicas int32) *testkit.SetBuilder {
	return updating(replicas).Strategy(v1.RecreateStrategy)
}

func TestRecreate(t *testing.T) {
	all := []string{"delete pod web-0", "delete pod web-1", "delete pod web-2"}
	runAll(t, map[string]scenario{
		"all at once":                    {recreating(3), "ab", "0:a/available 1:a/available 2:a/available", all},
		"whatever their state":           {recreating(3), "ab", "0:a/pending 1:a/failed 2:a/crashing", all},
		"parallel, too":                  {recreating(3).Parallel(), "ab", "0:a/available 1:a/available 2:a/available", all},
		"outside the range, too":         {recreating(1), "ab", "0:a/available 4:a/available 5:a/crashing", []string{"delete pod web-5", "delete pod web-4", "delete pod web-0"}},
		"of any other revision":          {recreating(2), "cab", "0:a/available 1:c/available", all[:2]},
		"nothing while one is left":      {recreating(2).Parallel(), "ab", "0:- 1:a/terminating", nil},
		"nor while one outside is":       {recreating(2).Parallel(), "ab", "7:a/terminating", nil},
		"new ones stay":                  {recreating(2), "ab", "0:b/available 1:a/available", []string{"delete pod web-1"}},
		"creation in order":              {recreating(2), "ab", "0:b/available", []string{"create pod web-1 at revision b"}},
		"and not out of it":              {recreating(2), "ab", "0:b/pending", nil},
		"paused: nothing goes":           {recreating(2).Paused(), "ab", "0:a/available 1:a/available", nil},
		"paused: old and new do not mix": {recreating(2).Paused(), "ab", "0:a/available 1:-", nil},
		"back in mid-flight":             {web(2).Current("a").Strategy(v1.RecreateStrategy), "ba", "0:b/available 1:b/pending", all[:2]},
		"at rest it heals as others do":  {web(2).Current("a").Strategy(v1.RecreateStrategy), "a", "0:a/available", []string{"create pod web-1 at revision a"}},
	})
}

// TestRecreateCreatesAfterALiveRead: a cache that has not seen a pod yet must
// not make old and new run side by side.
func TestRecreateCreatesAfterALiveRead(t *testing.T) {
	set := recreating(2).Parallel().Obj()
	o := testkit.Observe(set, "ab", "")
	if diff := cmp.Diff(plan.Plan{NeedsLiveRead: plan.LiveReads{Pods: true}}, planner.Compute(o)); diff != "" {
		t.Fatalf("plan (-want +got):\n%s", diff)
	}
	o.Live.Pods = true
	want := []string{"create pod web-0 at revision b", "create pod web-1 at revision b"}
	if diff := cmp.Diff(want, testkit.Actions(set, planner.Compute(o))); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	o.Pods = testkit.Fleet(set, "1:a/terminating")
	if p := planner.Compute(o); !p.IsEmpty() {
		t.Errorf("the live read shows an old pod and something is done all the same:\n%s", p)
	}
}

// TestRecreateNamesThePodThatDoesNotGo: never by force, so somebody has to know.
func TestRecreateNamesThePodThatDoesNotGo(t *testing.T) {
	o := testkit.Observe(recreating(2).Obj(), "ab", "1:a/terminating")
	o.Pods[0].Spec.NodeName = "node-7"
	status := planner.Compute(o).Status
	wantCondition(t, status, v1.ConditionProgressing, "True", v1.ReasonRecreateInProgress)
	message := meta.FindStatusCondition(status.Conditions, v1.ConditionProgressing).Message
	if !strings.Contains(message, "web-1 on node node-7") {
		t.Errorf("the message does not name pod and node: %s", message)
	}
}

// TestRecreateLeavesClaimsAlone is C2.
func TestRecreateLeavesClaimsAlone(t *testing.T) {
	runAll(t, map[string]scenario{
		"retain": {recreating(1).Claims("data"), "ab", "0:a/available", []string{"delete pod web-0"}},
		"delete": {recreating(1).Claims("data").Retention(v1.Delete, v1.Delete), "ab", "0:a/available", []string{"delete pod web-0"}},
	})
}
