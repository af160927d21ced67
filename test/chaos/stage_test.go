package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/judge"
	"github.com/rollcall-dev/rollcall/test/recorder"
)

// stage is where tenants and mischief meet: a namespace with an operator of its own, on the record.
type stage struct {
	t        *testing.T
	seed     uint64
	space    *cluster.Space
	recorder *recorder.Recorder
	// ahead is how far the operator's clock is ahead.
	ahead time.Duration

	mu     sync.Mutex
	counts map[string]int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	space := cluster.Namespace(t, cluster.Nodes)
	space.Eventually(t, "the namespace takes pods", func(ctx context.Context) error {
		return space.Client.Get(ctx, client.ObjectKey{Namespace: space.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
	return &stage{t: t, seed: chosenSeed(), space: space, recorder: recorder.Start(t, space), counts: map[string]int{}}
}

func (s *stage) count(what string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what] += times
}

// perform has every tenant update its set so many times while the mischief lasts.
func (s *stage) perform(m mischief, players []style, rollOuts int) {
	s.t.Helper()
	stop := m.start(s)
	s.t.Run("tenants", func(t *testing.T) {
		for i, style := range players {
			t.Run(style.name, func(t *testing.T) {
				t.Parallel()
				tn := newTenant(t, s, style, uint64(i))
				tn.awaitDone()
				for range rollOuts {
					tn.rollOut()
				}
			})
		}
	})
	stop()
	if !s.t.Failed() {
		s.awaitRest()
	}
}

// awaitRest waits until every set is complete and stays so.
func (s *stage) awaitRest() {
	s.t.Helper()
	s.space.Eventually(s.t, "all sets are at rest", func(ctx context.Context) error {
		var sets v1.StatefulSetList
		if err := s.space.Client.List(ctx, &sets, client.InNamespace(s.space.Name)); err != nil {
			return err
		}
		for i := range sets.Items {
			if err := isDone(&sets.Items[i]); err != nil {
				return fmt.Errorf("%s: %w", sets.Items[i].Name, err)
			}
		}
		if verdict := judge.AtRest(s.history(), time.Now()); len(verdict.Violations) > 0 {
			return fmt.Errorf("%s", verdict.Violations[0])
		}
		return nil
	})
}

// history is what was recorded so far.
func (s *stage) history() judge.History {
	history := s.recorder.History(s.t)
	history.Ahead = s.ahead
	return history
}

// judge has the history judged and reports.
func (s *stage) judge() report {
	s.t.Helper()
	history := s.history()
	verdict, rest := judge.Judge(history), judge.AtRest(history, time.Now())
	for _, violation := range append(verdict.Violations, rest.Violations...) {
		s.t.Errorf("VIOLATION %s\n%s", violation, excerpt(history, violation))
	}
	s.count("gaps in the record", s.recorder.Gaps())
	return report{
		counts: s.counts, changes: len(history.Entries), checks: verdict.Total() + rest.Total(),
		violations: len(verdict.Violations) + len(rest.Violations), properties: verdict.Checks,
	}
}

// report is what can be said about a performance in numbers.
type report struct {
	counts                      map[string]int
	changes, checks, violations int
	properties                  map[string]int
}

// add sums up reports.
func (r *report) add(other report) {
	if r.counts == nil {
		r.counts, r.properties = map[string]int{}, map[string]int{}
	}
	for what, times := range other.counts {
		r.counts[what] += times
	}
	for property, checks := range other.properties {
		r.properties[property] += checks
	}
	r.changes += other.changes
	r.checks += other.checks
	r.violations += other.violations
}

func (r *report) String() string {
	var counts []string
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		counts = append(counts, fmt.Sprintf("%s %d", what, r.counts[what]))
	}
	return fmt.Sprintf("%s; changes recorded %d, checks %d, violations %d", strings.Join(counts, ", "), r.changes, r.checks, r.violations)
}

// excerpt is what happened to the pods of a set before a violation, the last of it.
func excerpt(history judge.History, violation judge.Violation) string {
	const most = 40
	name := violation.Entry.Object.GetName()
	if dash := strings.LastIndex(name, "-"); dash >= 0 {
		if _, isSet := violation.Entry.Object.(*v1.StatefulSet); !isSet {
			name = name[:dash]
		}
	}
	var lines []string
	for _, entry := range history.Entries {
		if entry.Version <= violation.Entry.Version && strings.HasPrefix(entry.Object.GetName(), name) {
			lines = append(lines, describe(entry))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

func describe(entry judge.Entry) string {
	line := fmt.Sprintf("%08d %s %T %s", entry.Version, entry.At.Format("15:04:05.000"), entry.Object, entry.Object.GetName())
	switch object := entry.Object.(type) {
	case *corev1.Pod:
		line += fmt.Sprintf(" %s %s going=%t", imageOf(&object.Spec), object.Status.Phase, object.DeletionTimestamp != nil)
		for _, condition := range object.Status.Conditions {
			if condition.Type == corev1.PodReady {
				line += fmt.Sprintf(" ready=%s since %s", condition.Status, condition.LastTransitionTime.Format("15:04:05"))
			}
		}
	case *v1.StatefulSet:
		line += fmt.Sprintf(" generation %d, %s, %d replicas, status %+v", object.Generation, imageOf(&object.Spec.Template.Spec), *object.Spec.Replicas,
			[]any{object.Status.ObservedGeneration, object.Status.Replicas, object.Status.AvailableReplicas, object.Status.CurrentRevision, object.Status.UpdateRevision})
	}
	if entry.Gone {
		line += " GONE"
	}
	return line
}

// source is a source of randomness for a mischief.
func (s *stage) source(number uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, 1000+number)) }
