package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// tool is an onlooker that waits for a set as Helm, Flux and Argo CD do, with
// the kstatus library, and compares what it is told with the truth:
//
//	Current     exactly when the set is done
//	Failed      only when no pod is being updated, and always when an update with an alarm rests unfinished
//	InProgress  otherwise, and from the instant of an edit on
//
// It also notes what each condition says, and that none goes back to what it
// said before unless somebody edits the set.
type tool struct {
	c *cluster
	// isLenient: pods may break at any time, which excuses a condition that goes
	// back, and a set that is not updated may be broken without an alarm.
	isLenient bool
	// told is what the conditions have said since the last edit.
	told map[string][]string
	// verdicts are all that was ever computed.
	verdicts map[status.Status]bool
}

func watchOver(c *cluster) *tool {
	w := &tool{c: c, told: map[string][]string{}, verdicts: map[status.Status]bool{}}
	c.onlooker = w
	return w
}

func (w *tool) edited() {
	w.c.t.Helper()
	w.told = map[string][]string{}
	if got := w.compute(); got != status.InProgressStatus {
		w.fail("right after an edit the set is %s", got)
	}
}

func (w *tool) written(p plan.Plan, wasDone bool) {
	w.c.t.Helper()
	got := w.compute()
	w.verdicts[got] = true
	if (got == status.CurrentStatus) != wasDone {
		w.fail("the set is %s, but whether it is done: %t", got, wasDone)
	}
	for _, step := range p.Steps {
		if step.Purpose == plan.PurposeUpdate && got == status.FailedStatus {
			w.fail("the set is %s while it is updated: %s", got, step.Lanes)
		}
	}
	for _, kind := range []string{v1.ConditionReady, v1.ConditionReconciling, v1.ConditionStalled, v1.ConditionProgressing} {
		w.note(kind)
	}
}

func (w *tool) rested() {
	w.c.t.Helper()
	want := status.CurrentStatus
	if !w.c.isDone() {
		want = status.InProgressStatus
		if w.hasAlarm() {
			want = status.FailedStatus
		}
	}
	if got := w.compute(); got != want && !w.isLenient {
		w.fail("at rest the set is %s, want %s", got, want)
	}
}

// hasAlarm tells whether an update that can't go on says so by itself.
func (w *tool) hasAlarm() bool {
	strategy := w.c.set.Spec.UpdateStrategy
	return strategy.Type == v1.EnforcedRollingUpdateStrategy ||
		(strategy.RollingUpdate != nil && strategy.RollingUpdate.PodProgressTimeoutSeconds != nil)
}

// note keeps what a condition says and fails if it has said so before, and
// something else in between.
func (w *tool) note(kind string) {
	w.c.t.Helper()
	says := "absent"
	if condition := meta.FindStatusCondition(w.c.set.Status.Conditions, kind); condition != nil {
		says = fmt.Sprintf("%s %s", condition.Status, condition.Reason)
	}
	told := w.told[kind]
	if len(told) > 0 && told[len(told)-1] == says {
		return
	}
	if slices.Contains(told, says) && !w.isLenient {
		w.fail("%s flaps: %q, then %q again", kind, told, says)
	}
	w.told[kind] = append(told, says)
}

func (w *tool) compute() status.Status {
	w.c.t.Helper()
	set := w.c.set.DeepCopy()
	set.SetGroupVersionKind(v1.Kind)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		w.c.t.Fatal(err)
	}
	// Of a set that was never observed the API server says so; see the default of status.
	if err := unstructured.SetNestedField(content, set.Status.ObservedGeneration, "status", "observedGeneration"); err != nil {
		w.c.t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		w.c.t.Fatal(err)
	}
	return result.Status
}

func (w *tool) fail(format string, args ...any) {
	w.c.t.Helper()
	w.c.t.Fatalf("%s; conditions %+v:\n%s", fmt.Sprintf(format, args...), w.c.set.Status.Conditions, w.c.trace.String())
}

// TestKstatusOfRollouts watches every roll-out of which a trace is kept.
func TestKstatusOfRollouts(t *testing.T) {
	alarming := []string{"enforced", "timeout-halts"}
	for name, r := range rollouts {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, r.set.Obj())
			w := watchOver(c)
			c.settle()
			r.story(c)
			if got, want := w.verdicts[status.FailedStatus], slices.Contains(alarming, name); got != want {
				t.Errorf("the set was Failed at some time: %t, want %t", got, want)
			}
			if !w.verdicts[status.CurrentStatus] || !w.verdicts[status.InProgressStatus] {
				t.Errorf("the set was only ever %v", w.verdicts)
			}
		})
	}
}

// TestKstatusOfAnything watches random sets to which users and nodes do random
// things, and under which the controller dies.
func TestKstatusOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t, anySet(t).Obj())
		watchOver(c)
		live(t, c)
	})
}

// TestKstatusOfBrokenUpdates does the same with templates that never get ready.
func TestKstatusOfBrokenUpdates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anySet(t)
		if b.Obj().Spec.UpdateStrategy.Type == v1.RollingUpdateStrategy && rapid.Bool().Draw(t, "timeout") {
			b.ProgressTimeout(60)
		}
		c := newCluster(t, b.Obj())
		c.broken = "bd"
		watchOver(c).isLenient = true
		live(t, c)
	})
}

// anySet draws a set of any strategy.
func anySet(t *rapid.T) *testkit.SetBuilder {
	b := web(rapid.Int32Range(0, 4).Draw(t, "replicas")).HistoryLimit(1)
	b.Strategy(rapid.SampledFrom([]v1.UpdateStrategyType{
		v1.RollingUpdateStrategy, v1.OnDeleteStrategy, v1.RecreateStrategy, v1.EnforcedRollingUpdateStrategy,
	}).Draw(t, "strategy"))
	b.MinReady(rapid.SampledFrom([]int32{0, 12}).Draw(t, "minReady"))
	if rapid.Bool().Draw(t, "parallel") {
		b.Parallel()
	}
	return b
}

// live lets a set live through random events and come to rest.
func live(t *rapid.T, c *cluster) {
	for i := range rapid.IntRange(1, 6).Draw(t, "events") {
		c.crashAfter = rapid.IntRange(-1, 3).Draw(t, fmt.Sprintf("crash-%d", i))
		c.rounds(rapid.IntRange(0, 8).Draw(t, fmt.Sprintf("rounds-%d", i)))
		disturb(t, c, i)
	}
	c.settle()
}
