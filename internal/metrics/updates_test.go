package metrics_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/metrics"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// life is that of a set, as the controller tells it to the metrics.
type life struct {
	metrics  *metrics.Metrics
	set      *v1.StatefulSet
	strategy v1.UpdateStrategyType
	now      time.Time
}

func newLife(strategy v1.UpdateStrategyType) *life {
	return &life{metrics: metrics.New(census(), isActing), set: testkit.MakeSet("web").Obj(), strategy: strategy, now: testkit.Now}
}

// becomes puts a status on record a minute after the last.
func (l *life) becomes(current, target, progressing string) *life {
	stored := l.set.DeepCopy()
	stored.Status.CurrentRevision, stored.Status.UpdateRevision = current, target
	stored.Status.Conditions = []metav1.Condition{{Type: v1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: progressing}}
	l.now = l.now.Add(time.Minute)
	l.note(plan.Plan{}, execute.Outcome{Written: []client.Object{&corev1.Pod{}, stored}})
	l.set = stored
	return l
}

func (l *life) note(todo plan.Plan, outcome execute.Outcome) {
	todo.Summary.Strategy = l.strategy
	l.metrics.Note(plan.Observation{Set: l.set, Now: l.now}, todo, outcome)
}

// restart forgets what only the process knew.
func (l *life) restart() *life {
	l.metrics.Forget(client.ObjectKeyFromObject(l.set))
	return l
}

func TestUpdates(t *testing.T) {
	const (
		inProgress, complete, halt = v1.ReasonUpdateInProgress, v1.ReasonUpdateComplete, v1.ReasonSafetyHalt
	)
	created := func() *life {
		return newLife(v1.EnforcedRollingUpdateStrategy).becomes("a", "a", inProgress).becomes("a", "a", complete)
	}
	type counts struct{ success, failure, halts, timed, seconds string }
	tests := map[string]struct {
		life *life
		want counts
	}{
		"a new set is no update":  {created(), counts{"0", "0", "0", "0", "0"}},
		"an update":               {created().becomes("a", "b", inProgress).becomes("a", "b", inProgress).becomes("b", "b", complete), counts{"1", "0", "0", "1", "120"}},
		"later changes are none":  {created().becomes("a", "b", inProgress).becomes("b", "b", complete).becomes("b", "b", complete), counts{"1", "0", "0", "1", "60"}},
		"done at once":            {created().becomes("b", "b", complete), counts{"1", "0", "0", "1", "0"}},
		"halted, and still so":    {created().becomes("a", "x", inProgress).becomes("a", "x", halt).becomes("a", "x", halt), counts{"0", "1", "1", "0", "0"}},
		"halted, then corrected":  {created().becomes("a", "x", inProgress).becomes("a", "x", halt).becomes("a", "b", inProgress).becomes("b", "b", complete), counts{"1", "1", "1", "1", "60"}},
		"halted twice":            {created().becomes("a", "x", inProgress).becomes("a", "x", halt).becomes("a", "y", halt), counts{"0", "2", "2", "0", "0"}},
		"taken back":              {created().becomes("a", "b", inProgress).becomes("a", "a", inProgress).becomes("a", "a", complete), counts{"1", "0", "0", "1", "60"}},
		"across a restart":        {created().becomes("a", "b", inProgress).restart().becomes("b", "b", complete), counts{"1", "0", "0", "0", "0"}},
		"staged, and then let go": {created().becomes("a", "b", inProgress).becomes("a", "b", v1.ReasonUpdateStaged).becomes("a", "b", inProgress).becomes("b", "b", complete), counts{"1", "0", "0", "1", "180"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := test.want
			wantValues(t, test.life.metrics, []string{"statefulset_enforced_rolling_updates_total", "statefulset_safety_halt_total"}, `
statefulset_enforced_rolling_updates_total{result="failure"} `+w.failure+`
statefulset_enforced_rolling_updates_total{result="success"} `+w.success+`
statefulset_safety_halt_total `+w.halts)
			wantHistogram(t, test.life.metrics, `statefulset_update_duration_seconds`, `{strategy="EnforcedRollingUpdate"}`, w.timed, w.seconds)
		})
	}
}

// Only EnforcedRollingUpdate counts its updates; every strategy times them.
func TestUpdatesOfOtherStrategies(t *testing.T) {
	l := newLife(v1.RecreateStrategy).becomes("a", "a", v1.ReasonUpdateComplete).
		becomes("a", "b", v1.ReasonRecreateInProgress).becomes("b", "b", v1.ReasonRecreateComplete)
	wantValues(t, l.metrics, []string{"statefulset_enforced_rolling_updates_total"}, `
statefulset_enforced_rolling_updates_total{result="failure"} 0
statefulset_enforced_rolling_updates_total{result="success"} 0`)
	wantHistogram(t, l.metrics, `statefulset_update_duration_seconds`, `{strategy="Recreate"}`, "1", "60")
}

// What is not on record did not happen: it will be seen again.
func TestUnwrittenStatusIsNotCounted(t *testing.T) {
	l := newLife(v1.EnforcedRollingUpdateStrategy).becomes("a", "b", v1.ReasonUpdateInProgress)
	l.note(plan.Plan{Status: v1.StatefulSetStatus{CurrentRevision: "b", UpdateRevision: "b"}}, execute.Outcome{StatusErr: errors.New("conflict")})
	wantValues(t, l.metrics, []string{"statefulset_enforced_rolling_updates_total"}, `
statefulset_enforced_rolling_updates_total{result="failure"} 0
statefulset_enforced_rolling_updates_total{result="success"} 0`)
}

// stuckPod has not been ready for the five minutes of its life.
func stuckPod(name string) *corev1.Pod {
	created := metav1.NewTime(testkit.Now.Add(-5 * time.Minute))
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: created}}
}

func TestForcedReplacements(t *testing.T) {
	forced := func(name string, code plan.ReasonCode) plan.DeletePod {
		return plan.DeletePod{Pod: stuckPod(name), Reason: plan.Reason{Code: code}}
	}
	replaced, late := forced("web-3", plan.ForcedReplacement), forced("web-2", plan.ProgressTimedOut)
	refused, untried := forced("web-1", plan.ForcedReplacement), forced("web-0", plan.ForcedReplacement)
	healthy := forced("web-4", plan.Outdated)
	todo := plan.Plan{Steps: []plan.Step{{Lanes: []plan.Lane{{healthy}, {replaced}, {late}, {refused}, {untried}}}}}
	l := newLife(v1.EnforcedRollingUpdateStrategy)
	l.note(todo, execute.Outcome{
		Deleted: []client.Object{healthy.Pod, replaced.Pod, late.Pod},
		Failures: []plan.Failure{
			{Action: plan.CreatePod{Pod: stuckPod("web-9")}, Err: errors.New("quota")},
			{Action: refused, Err: errors.New("forbidden")},
		},
	})
	wantValues(t, l.metrics, []string{"statefulset_forced_pod_replacements_total"}, `
statefulset_forced_pod_replacements_total{result="failure"} 1
statefulset_forced_pod_replacements_total{result="success"} 2`)
	wantHistogram(t, l.metrics, "statefulset_stuck_pod_duration_seconds", "", "2", "600")
}
