package execute

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// step of a test: what the status becomes after how long, and what is expected.
type statusStep struct {
	after      time.Duration
	status     v1.StatefulSetStatus
	events     []plan.Event
	wantWrite  bool
	wantWakeIn time.Duration
	wantWake   bool
}

func condition(status metav1.ConditionStatus, message string) []metav1.Condition {
	return []metav1.Condition{{Type: v1.ConditionReady, Status: status, Reason: "Test", Message: message}}
}

// News is written at once; counters at most every CounterInterval, and the last ones always.
func TestStatusPace(t *testing.T) {
	tests := map[string][]statusStep{
		"nothing new": {
			{status: v1.StatefulSetStatus{}},
		},
		"counters wait for their turn": {
			{status: v1.StatefulSetStatus{Replicas: 1}, wantWrite: true},
			{after: CounterInterval / 4, status: v1.StatefulSetStatus{Replicas: 2}, wantWake: true, wantWakeIn: CounterInterval * 3 / 4},
			{after: CounterInterval / 4, status: v1.StatefulSetStatus{Replicas: 3}, wantWake: true, wantWakeIn: CounterInterval / 2},
			{after: CounterInterval / 2, status: v1.StatefulSetStatus{Replicas: 3}, wantWrite: true},
		},
		"a revision does not wait": {
			{status: v1.StatefulSetStatus{Replicas: 1}, wantWrite: true},
			{status: v1.StatefulSetStatus{Replicas: 1, UpdateRevision: "web-b"}, wantWrite: true, wantWake: true},
		},
		"a generation does not wait": {
			{status: v1.StatefulSetStatus{Replicas: 1}, wantWrite: true},
			{status: v1.StatefulSetStatus{Replicas: 1, ObservedGeneration: 2}, wantWrite: true, wantWake: true},
		},
		"a condition does not wait, its text does": {
			{status: v1.StatefulSetStatus{Conditions: condition(metav1.ConditionFalse, "1 of 3")}, wantWrite: true, wantWake: true},
			{status: v1.StatefulSetStatus{Conditions: condition(metav1.ConditionFalse, "2 of 3")}, wantWake: true, wantWakeIn: CounterInterval},
			{status: v1.StatefulSetStatus{Conditions: condition(metav1.ConditionTrue, "3 of 3")}, wantWrite: true, wantWake: true},
		},
		"events take their status along": {
			{status: v1.StatefulSetStatus{Replicas: 1}, wantWrite: true},
			{
				status:    v1.StatefulSetStatus{Replicas: 2},
				events:    []plan.Event{{Type: corev1.EventTypeNormal, Reason: "Test", Message: "news"}},
				wantWrite: true,
			},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			for i, step := range steps {
				b.clock.Time = b.clock.Add(step.after)
				b.log = nil
				outcome := b.run(t, plan.Plan{Status: step.status, Events: step.events})
				if err := outcome.Err(); err != nil {
					t.Fatal(err)
				}
				if wrote := len(b.log) == 1; wrote != step.wantWrite {
					t.Errorf("step %d: requests %v, want a status write: %v", i, b.log, step.wantWrite)
				}
				wantWake := time.Time{}
				if step.wantWake {
					wantWake = b.clock.Add(step.wantWakeIn)
				}
				if diff := cmp.Diff(wantWake, outcome.WakeAt); diff != "" {
					t.Errorf("step %d: wake at (-want +got):\n%s", i, diff)
				}
				if got := len(b.events.Events); got != len(step.events) {
					t.Errorf("step %d: %d events, want %d", i, got, len(step.events))
				}
				b.observe(t)
			}
		})
	}
}

// observe reads the set as the next run would see it.
func (b *bench) observe(t *testing.T) {
	t.Helper()
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(b.set), b.set); err != nil {
		t.Fatal(err)
	}
}

// A status that could not be written is told; its events are not.
func TestStatusConflict(t *testing.T) {
	b := newBench(t, refuse("status web"))
	outcome := b.run(t, plan.Plan{
		Status: v1.StatefulSetStatus{Replicas: 1},
		Events: []plan.Event{{Type: corev1.EventTypeNormal, Reason: "Test", Message: "news"}},
	})
	if outcome.StatusErr == nil || len(b.events.Events) > 0 || len(outcome.Written) > 0 {
		t.Errorf("error %v, %d events, %d objects; want an error alone", outcome.StatusErr, len(b.events.Events), len(outcome.Written))
	}
}

// TestPacerSparesASlowServer: the longer a write took, the longer counters wait.
func TestPacerSparesASlowServer(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		time.Millisecond:      CounterInterval,
		50 * time.Millisecond: 5 * time.Second,
		time.Minute:           maxCounterInterval,
	} {
		p, key := newPacer(), types.NamespacedName{Name: "web"}
		start := time.Unix(0, 0)
		end := start.Add(took)
		if isDue, _ := p.isDue(key, start); !isDue {
			t.Error("the first status has to wait")
		}
		p.wrote(key, start, end)
		isDue, at := p.isDue(key, end)
		if isDue || at.Sub(end) != want {
			t.Errorf("after a write of %s: due %v, in %s; want in %s", took, isDue, at.Sub(end), want)
		}
		if isDue, _ := p.isDue(key, at); !isDue {
			t.Errorf("not due at %s", at)
		}
	}
}
