package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What previews need: a world that begins with what a real API server stores,
// in which nothing lags and nothing goes wrong, and whose nodes are played by
// the caller. Every method returns a new world and leaves its own as it is.

// Resume makes a world of what is stored at a time. The process of the controller
// has just started.
func Resume(stored Store, now time.Time) *World {
	w := &World{Scenario: &Scenario{}, Now: now, Truth: Store{
		Set: stored.Set, Pods: byName(stored.Pods), Claims: byName(stored.Claims), Revisions: byName(stored.Revisions),
	}}
	w.crash()
	return w
}

func byName[T metav1.Object](objects []T) []T {
	return slices.SortedFunc(slices.Values(objects), func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

// Reconcile lets the controller decide once and carry its plan out.
func (w *World) Reconcile() (*Transition, error) {
	after := *w
	t := &Transition{Step: Step{Verb: Reconcile, At: -1}, Before: w, After: &after}
	if err := t.reconcile(&after); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Step, err)
	}
	after.catchUp()
	return t, nil
}

// At is the world at another time.
func (w *World) At(now time.Time) *World {
	return w.changed(func(after *World) { after.Now = now })
}

// Report changes a pod as its node reports it. The pod must exist.
func (w *World) Report(name string, change func(*corev1.Pod)) *World {
	return w.changed(func(after *World) { after.changePod(find(after.Truth.Pods, name), change) })
}

// Finish ends a terminating pod, whoever held it.
func (w *World) Finish(name string) *World {
	return w.changed(func(after *World) { after.removePod(name) })
}

// Sweep lets the garbage collector do all that it has to do.
func (w *World) Sweep() *World {
	return w.changed(func(after *World) {
		for _, piece := range after.garbage() {
			t := &Transition{Step: Step{Verb: Collect, On: piece}}
			_ = t.happenToObject(after) // what is garbage exists
		}
	})
}

func (w *World) changed(change func(after *World)) *World {
	after := *w
	change(&after)
	after.catchUp()
	return &after
}

// catchUp brings all views up to date. The ledger is not kept: nobody judges a
// replay, and with a thousand pods its cost would show.
func (w *World) catchUp() {
	for _, kind := range kinds {
		w.see(kind)
	}
}
