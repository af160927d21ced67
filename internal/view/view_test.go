package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// observe is a set with the history "ab", pods as noted, and the status that the operator gives it.
func observe(builder *testkit.SetBuilder, fleet string, changes ...func(*plan.Observation)) plan.Observation {
	o := testkit.Observe(builder.Obj(), "ab", fleet)
	for _, change := range changes {
		change(&o)
	}
	o.Set.Status = planner.Compute(o).Status
	return o
}

func web(replicas int32) *testkit.SetBuilder { return testkit.MakeSet("web").Replicas(replicas) }

// updating is a set on its way from a to b.
func updating(replicas int32) *testkit.SetBuilder { return web(replicas).Template("b").Current("a") }

// young makes the pod of an ordinal a few seconds old.
func young(number int) func(*plan.Observation) {
	return func(o *plan.Observation) {
		pod := o.Pods[number]
		pod.CreationTimestamp = metav1.NewTime(o.Now.Add(-5 * time.Second))
		pod.Status.StartTime = &pod.CreationTimestamp
		pod.Status.Conditions[0].LastTransitionTime = pod.CreationTimestamp
	}
}

// replaced has the timeout replace the pod of an ordinal as often as it does.
func replaced(number int32) func(*plan.Observation) {
	return func(o *plan.Observation) {
		o.Set.Status.UpdateRevision = testkit.RevisionName(o.Set, "b")
		o.Set.Status.PodProgress = []v1.PodProgress{{Ordinal: number, Revision: o.Set.Status.UpdateRevision, Replacements: 3}}
	}
}

// ownedByOther gives the pod of an ordinal to somebody else.
func ownedByOther(number int) func(*plan.Observation) {
	return func(o *plan.Observation) {
		owner := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "other"}}
		o.Pods[number].OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
}

func complete(o *plan.Observation) { o.Set.Status = planner.Compute(*o).Status }

func TestPhases(t *testing.T) {
	tests := map[string]struct {
		observation plan.Observation
		// want is the phase, done/reached, and the culprit if there is one.
		want string
		why  string
	}{
		"complete": {
			observe(web(3).Template("b").Current("b"), "0:b/available 1:b/available 2:b/available"),
			"Complete 3/3", "all 3 pods are available at revision 2 (web-b)",
		},
		"nothing asked for": {observe(web(0).Template("b").Current("b"), ""), "Complete 0/0", "all 0 pods are available at revision 2 (web-b)"},
		"updating": {
			observe(updating(3), "0:a/available 1:a/available 2:b/pending"),
			"Progressing 0/3", "updating to revision web-b, 2 pods to go; waiting for pod web-2, which is pending",
		},
		"about to begin": {observe(updating(2), "0:a/available 1:a/available"), "Progressing 0/2", ""},
		"plain rolling update, broken pod": {
			observe(updating(3), "0:a/available 1:a/available 2:b/pulling"),
			"Stuck 0/3 web-2", "pod web-2 is pending (ImagePullBackOff: container main, image b) at revision 2 (web-b), and nothing will replace it",
		},
		"plain rolling update, broken just now": {
			observe(updating(3), "0:a/available 1:a/available 2:b/crashing", young(2)), "Progressing 0/3", "",
		},
		"plain rolling update, outdated pod is broken": {
			observe(updating(3), "0:a/available 1:a/crashing 2:b/available"), "Stuck 1/3 web-1", "",
		},
		"parallel, outdated pod is broken and goes": {
			observe(updating(3).Parallel(), "0:a/available 1:a/crashing 2:b/available"), "Progressing 1/3", "",
		},
		"parallel, broken at the target": {
			observe(updating(3).Parallel(), "0:a/available 1:a/available 2:b/crashing"), "Stuck 0/3 web-2", "",
		},
		"first pods broken":                     {observe(web(2).Template("b").Current("b"), "0:b/crashing"), "Stuck 0/2 web-0", ""},
		"not ready, for reasons nobody gives":   {observe(updating(2), "0:a/available 1:b/unready"), "Progressing 0/2", ""},
		"timeout running":                       {observe(updating(2).ProgressTimeout(3600), "0:a/available 1:b/pulling"), "Progressing 0/2", ""},
		"timeout running, broken since later":   {observe(updating(2).ProgressTimeout(3600).Parallel(), "0:b/available 1:b/crashing"), "Progressing 1/2", ""},
		"timeout can't help, no update":         {observe(web(2).Template("b").Current("b").ProgressTimeout(60), "0:b/available 1:b/crashing"), "Stuck 1/2 web-1", ""},
		"timeout gave up":                       {observe(updating(2).ProgressTimeout(60), "0:a/available 1:b/pulling", replaced(1)), "Halted 0/2", ""},
		"enforced, safety halt":                 {observe(updating(2).Strategy(v1.EnforcedRollingUpdateStrategy), "0:a/available 1:b/pulling"), "Halted 0/2", ""},
		"enforced, before the halt is declared": {observe(updating(2).Strategy(v1.EnforcedRollingUpdateStrategy), "0:a/available 1:b/pulling", young(1)), "Progressing 0/2", ""},
		"recreate, broken":                      {observe(updating(2).Strategy(v1.RecreateStrategy).Parallel(), "0:b/available 1:b/crashing"), "Stuck 1/2 web-1", ""},
		"staged": {
			observe(updating(3).Partition(2), "0:a/available 1:a/available 2:b/available"),
			"Staged 1/1", "1 of 3 pods are at revision 2 (web-b), those below ordinal 2 wait for the partition",
		},
		"staged, partition beyond all": {
			observe(updating(2).Partition(9), "0:a/available 1:a/available"),
			"Staged 0/0", "0 of 2 pods are at revision 2 (web-b), those below ordinal 2 wait for the partition",
		},
		"stage under way": {observe(updating(3).Partition(1), "0:a/available 1:a/available 2:b/available"), "Progressing 1/2", ""},
		"paused":          {observe(updating(2).Paused(), "0:a/available 1:a/available"), "Paused 0/2", ""},
		"paused, healing": {observe(updating(2).Paused(), "0:a/available 1:a/pending"), "Progressing 0/2", ""},
		"paused, nothing to hold back": {
			observe(web(2).Template("b").Current("b").Paused(), "0:b/available 1:b/available"), "Complete 2/2", "",
		},
		"on delete":                {observe(updating(2).Strategy(v1.OnDeleteStrategy), "0:a/available 1:b/available"), "Waiting 1/2", ""},
		"healing after completion": {observe(web(2).Template("b").Current("b"), "0:b/available 1:b/available", complete, func(o *plan.Observation) { o.Pods = o.Pods[:1] }), "Progressing 1/2", ""},
		"deleting":                 {observe(updating(2).Deleting(), "0:a/available"), "Deleting 0/2", ""},
		"refused spec":             {observe(web(1), "", func(o *plan.Observation) { o.Set.Spec.Selector = nil }), "Halted 0/1", "spec.selector is empty: set it to labels of the template"},
		"a stranger has the name":  {observe(web(2).Template("b").Current("b"), "0:b/available 1:b/available", ownedByOther(1)), "Halted 1/2", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := view.Of(test.observation)
			word := strings.TrimSpace(fmt.Sprintf("%s %d/%d %s", got.Phase, got.Done, got.Reached, got.Culprit))
			if word != test.want {
				t.Errorf("the roll-out is %q (%s), want %q", word, got.Why, test.want)
			}
			why := named(test.observation.Set, got.Why)
			if why == "" || (test.why != "" && why != test.why) {
				t.Errorf("because %q, want %q", why, test.why)
			}
		})
	}
}

// named calls revisions by their letters.
func named(set *v1.StatefulSet, text string) string {
	for _, letter := range []string{"a", "b"} {
		text = strings.ReplaceAll(text, testkit.RevisionName(set, letter), "web-"+letter)
	}
	return text
}

func TestUnobserved(t *testing.T) {
	o := observe(updating(1), "0:a/available")
	o.Set.Generation = 7
	if got := view.Of(o); got.Phase != view.Unobserved || !strings.Contains(got.Why, "generation 7") {
		t.Errorf("an edit that the operator has not seen: %s, %s", got.Phase, got.Why)
	}
	o.Set.Status = v1.StatefulSetStatus{}
	if got := view.Of(o); got.Phase != view.Unobserved {
		t.Errorf("a set that the operator has not seen: %s", got.Phase)
	}
}

func TestPods(t *testing.T) {
	tests := map[string]struct {
		observation plan.Observation
		want        []string
	}{
		"every slot has its line": {
			observe(updating(4).Partition(1).MinReady(60), "0:a/available 1:- 2:b/ready 3:b/leaving"),
			[]string{
				"web-0 1 held available", "web-1 0 target missing", "web-2 2 target ready (not yet for minReadySeconds)",
				"web-3 2 target terminating",
			},
		},
		"what is too much is condemned": {
			observe(updating(1), "0:a/available 1:a/available"), []string{"web-0 1 outdated available", "web-1 1 condemned available"},
		},
		"in trouble": {
			observe(updating(2), "0:a/unready 1:b/crashing"),
			[]string{"web-0 1 outdated running (not ready)", "web-1 2 target running (CrashLoopBackOff: container main, exit code 1)"},
		},
		"strangers are called so": {
			observe(updating(1), "0:b/available", ownedByOther(0)), []string{"web-0 2 stranger available"},
		},
		"start ordinal": {observe(updating(1).Start(5), "5:a/available"), []string{"web-5 1 outdated available"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, pod := range view.Of(test.observation).Pods {
				line := fmt.Sprintf("%s %d %s %s", pod.Name, pod.Revision.Number, pod.Role, pod.State)
				if pod.Reason != "" {
					line += " (" + pod.Reason + ")"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRevisions(t *testing.T) {
	o := observe(updating(3), "0:a/available 1:a/available 2:b/available")
	o.Revisions[0].Annotations = map[string]string{"kubernetes.io/change-cause": "first"}
	type entry struct {
		Number              int64
		IsTarget, IsCurrent bool
		Cause               string
		Images, Pods        []string
	}
	var got []entry
	for _, r := range view.Of(o).Revisions {
		got = append(got, entry{r.Number, r.IsTarget, r.IsCurrent, r.Cause, r.Images, r.Pods})
	}
	want := []entry{
		{1, false, true, "first", []string{"a"}, []string{"web-0", "web-1"}},
		{2, true, false, "", []string{"b"}, []string{"web-2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

// TestObstacle: with the good template back, which broken pod is still waited for?
func TestObstacle(t *testing.T) {
	back := func(b *testkit.SetBuilder) *testkit.SetBuilder { return b.Template("a").Current("a") }
	tests := map[string]struct {
		set  *testkit.SetBuilder
		want string
	}{
		"plain rolling update waits": {back(web(2)), "web-1"},
		"parallel replaces it":       {back(web(2).Parallel()), ""},
		"enforced replaces it":       {back(web(2)).Strategy(v1.EnforcedRollingUpdateStrategy), ""},
		"recreate replaces it":       {back(web(2)).Strategy(v1.RecreateStrategy), ""},
		"on delete never does":       {back(web(2)).Strategy(v1.OnDeleteStrategy), "web-1"},
		"the timeout will":           {back(web(2)).ProgressTimeout(3600), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := view.Obstacle(testkit.Observe(test.set.Obj(), "ab", "0:a/available 1:b/pulling")); got != test.want {
				t.Errorf("in the way is %q, want %q", got, test.want)
			}
		})
	}
}
