package planner_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// wantMessage checks what a condition tells people, with letters for revisions.
func wantMessage(t *testing.T, o plan.Observation, kind, want string) {
	t.Helper()
	condition := meta.FindStatusCondition(planner.Compute(o).Status.Conditions, kind)
	if condition == nil {
		t.Fatalf("there is no condition %s", kind)
	}
	if got := testkit.Letters(o.Set, condition.Message, "abcx"); got != want {
		t.Errorf("%s says\n%q, want\n%q", kind, got, want)
	}
}

// TestMessages: whoever wonders why nothing happens reads which pod to look at
// and what is wrong with it.
func TestMessages(t *testing.T) {
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		kind  string
		want  string
	}{
		"an ordered update waits for a pod": {
			updating(3), "0:a/available 1:a/available 2:b/pending", v1.ConditionProgressing,
			"updating to revision b, 2 pods to go; waiting for pod web-2, which is pending",
		},
		"and says what the pod waits for": {
			updating(3), "0:a/available 1:a/available 2:b/pulling", v1.ConditionProgressing,
			"updating to revision b, 2 pods to go; waiting for pod web-2, which is pending (ImagePullBackOff: container main, image b)",
		},
		"one in trouble is named before one that starts": {
			updating(3), "0:b/pending 1:a/available 2:b/crashing", v1.ConditionProgressing,
			"updating to revision b, 1 pod to go; waiting for pod web-2, which is running but not ready (CrashLoopBackOff: container main, exit code 1)",
		},
		"Ready says it, too": {
			updating(2), "0:a/available 1:b/crashing", v1.ConditionReady,
			"1 of 2 pods are available, 1 pod not at revision b yet; waiting for pod web-1, which is running but not ready (CrashLoopBackOff: container main, exit code 1)",
		},
		"and so does Reconciling when nothing is updated": {
			web(2).Current("a"), "0:a/available 1:a/pulling", v1.ConditionReconciling,
			"1 of 2 pods are available; waiting for pod web-1, which is pending (ImagePullBackOff: container main, image a)",
		},
		"Parallel does not name pods that merely start": {
			updating(3).Parallel(), "0:b/pending 1:b/unready 2:b/pending", v1.ConditionProgressing, "updating to revision b, no outdated pod is left",
		},
		"but it does those in trouble": {
			updating(3).Parallel(), "0:b/pending 1:b/pulling 2:b/pending", v1.ConditionReady,
			"0 of 3 pods are available; waiting for pod web-1, which is pending (ImagePullBackOff: container main, image b)",
		},
		"a timeout says how long it will wait": {
			updating(2).ProgressTimeout(3600), "0:a/available 1:b/pulling", v1.ConditionProgressing,
			"updating to revision b, 1 pod to go; waiting for pod web-1, which is pending (ImagePullBackOff: container main, image b), " +
				"and has until 2026-03-01T12:30:01Z to become ready",
		},
		"not for a pod that was ready": {
			updating(2).ProgressTimeout(3600), "0:a/available 1:b/unready", v1.ConditionProgressing,
			"updating to revision b, 1 pod to go; waiting for pod web-1, which is running but not ready",
		},
		"OnDelete": {
			updating(3).Strategy(v1.OnDeleteStrategy), "0:a/available 1:a/available 2:b/available", v1.ConditionProgressing,
			"waiting for somebody to delete web-1, web-0, for revision b to take their place",
		},
		"OnDelete, with many pods": {
			updating(7).Strategy(v1.OnDeleteStrategy), "0:a/available 1:a/available 2:a/available 3:a/available 4:a/available 5:a/available 6:a/available",
			v1.ConditionProgressing, "waiting for somebody to delete web-6, web-5, web-4, web-3, web-2 and 2 more, for revision b to take their place",
		},
		"minReadySeconds": {
			updating(2).MinReady(60), "0:a/available 1:b/ready", v1.ConditionProgressing,
			"updating to revision b, 1 pod to go; waiting for pod web-1, which is ready, but not yet for minReadySeconds",
		},
		"Recreate": {
			recreating(2), "0:b/crashing", v1.ConditionProgressing,
			"creating pods at revision b, 0 of 2 are available; waiting for pod web-0, which is running but not ready (CrashLoopBackOff: container main, exit code 1)",
		},
		"a safety halt": {
			enforcing(2), "0:a/available 1:b/pulling", v1.ConditionStalled,
			"pod web-1, the highest, is pending (ImagePullBackOff: container main, image b) at revision b, so no pod below it is updated: correct the template",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			wantMessage(t, testkit.Observe(test.set.Obj(), "ab", test.fleet), test.kind, test.want)
		})
	}
}

// TestMessagesNameNodes: a pod that does not go holds its slot until somebody
// sees to its node.
func TestMessagesNameNodes(t *testing.T) {
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		want  string
	}{
		"in a slot": {web(2).Current("a"), "0:a/available 1:a/terminating", "1 of 2 pods are available; waiting for pod web-1, which is terminating on node n7"},
		"parallel":  {web(2).Current("a").Parallel(), "0:a/available 1:a/terminating", "1 of 2 pods are available; waiting for pod web-1, which is terminating on node n7"},
		"outside":   {web(1).Current("a"), "0:a/available 1:a/terminating", "1 pod outside the range to remove; pod web-1 is terminating on node n7"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(test.set.Obj(), "a", test.fleet)
			o.Pods[1].Spec.NodeName = "n7"
			wantMessage(t, o, v1.ConditionReady, test.want)
		})
	}
}

// TestMessagesNameWhatIsOnItsWayOut: a slot may be empty because of a claim.
func TestMessagesNameWhatIsOnItsWayOut(t *testing.T) {
	o := testkit.Observe(web(1).Current("a").Claims("data").Obj(), "a", "0:a/available")
	o.Claims["data-web-0"].DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	o.Pods = nil
	wantMessage(t, o, v1.ConditionReady,
		"0 of 1 pods are available; waiting for the end of claim data-web-0, which is being deleted or belongs to an earlier pod")
}

// TestMessagesOfATimeout: the pod that was replaced is followed by its name, and
// trying its deletion again later is no news.
func TestMessagesOfATimeout(t *testing.T) {
	set := impatient(2).Obj()
	o := testkit.Observe(set, "ab", "0:a/available 1:b/crashing")
	set.Status = planner.Compute(o).Status
	o.Now = o.Now.Add(time.Minute)
	if p := planner.Compute(o); planner.StatusChanged(set, p.Status) {
		t.Errorf("the status changes because the delete is tried again: %+v", p.Status.Conditions)
	}

	gone := o.Pods[1]
	o.Pods = o.Pods[:1]
	wantMessage(t, o, v1.ConditionProgressing, "pod web-1 was replaced at revision b, 1 of at most 3 times in a row, and is missing")
	gone.CreationTimestamp = metav1.NewTime(o.Now)
	testkit.SetState(gone, "pulling", o.Now)
	o.Pods = append(o.Pods, gone)
	wantMessage(t, o, v1.ConditionProgressing,
		"pod web-1 was replaced at revision b, 1 of at most 3 times in a row, and is pending (ImagePullBackOff: container main, image b)")
}

// TestMessagesStay: what they say does not change with nothing but the time.
func TestMessagesStay(t *testing.T) {
	for name, set := range map[string]*testkit.SetBuilder{"rolling": updating(2), "enforced": enforcing(2), "recreate": recreating(2), "timeout": impatient(2)} {
		t.Run(name, func(t *testing.T) {
			o := testkit.Observe(set.Obj(), "ab", "0:b/crashing 1:b/pulling")
			o.Set.Status = planner.Compute(o).Status
			o.Now = o.Now.Add(17 * time.Second)
			if after := planner.Compute(o).Status; planner.StatusChanged(o.Set, after) {
				t.Errorf("before: %+v\nafter:  %+v", o.Set.Status.Conditions, after.Conditions)
			}
		})
	}
}
