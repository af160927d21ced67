package execute

import (
	"strconv"
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

// TestPacerSharesTime: the more sets there are and the longer a write takes, the longer counters wait.
func TestPacerSharesTime(t *testing.T) {
	tests := map[string]struct {
		sets int
		took time.Duration
		want time.Duration
	}{
		"one set":                      {1, 10 * time.Millisecond, CounterInterval},
		"one set, slow server":         {1, 300 * time.Millisecond, CounterInterval},
		"one set, very slow server":    {1, 2 * time.Second, 4 * time.Second},
		"twenty sets":                  {20, 10 * time.Millisecond, CounterInterval},
		"hundred sets":                 {100, 20 * time.Millisecond, 4 * time.Second},
		"thousand sets, and no longer": {1000, 20 * time.Millisecond, maxCounterInterval},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, start := newPacer(), time.Unix(0, 0)
			end := start.Add(test.took)
			var last types.NamespacedName
			for number := range test.sets {
				last.Name = strconv.Itoa(number)
				if isDue, _ := p.isDue(last, start); !isDue {
					t.Fatal("a first status has to wait")
				}
				p.wrote(last, start, end)
			}
			isDue, at := p.isDue(last, end)
			if isDue || at.Sub(end) != test.want {
				t.Errorf("due %v, in %s; want in %s", isDue, at.Sub(end), test.want)
			}
			if isDue, _ := p.isDue(last, at); !isDue {
				t.Errorf("not due when it should be")
			}
		})
	}
}
