package simulation

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// Digest identifies a world: two worlds with the same digest have the same
// future, as far as as much may still go wrong in them. It leaves out what no step
// reads, so that a search does not tell apart what makes no difference: texts, the
// times of conditions, the absolute time, ages beyond every deadline, and the
// absolute values of UIDs and versions.
type Digest uint64

// encoder writes what matters of a world.
type encoder struct {
	w    *World
	out  []byte
	uids []types.UID
}

// Digest condenses a world.
func (w *World) Digest() Digest {
	e := &encoder{w: w, out: make([]byte, 0, 1024)}
	e.numbers(w.Edits)
	e.store(&w.Truth)
	e.view(&w.Controller.View)
	if slices.Contains(w.Scenario.Faults, Relist) {
		e.view(&w.Controller.Before)
	}
	e.memory(&w.Controller.Memory)
	e.run(w.Controller.Run)
	e.ledger(&w.Ledger)
	return digestOf(e.out)
}

func digestOf(data []byte) Digest {
	sum := fnv.New64a()
	sum.Write(data) // never fails
	return Digest(sum.Sum64())
}

func (e *encoder) numbers(values ...int) {
	for _, value := range values {
		e.out = binary.AppendVarint(e.out, int64(value))
	}
}

func (e *encoder) bools(values ...bool) {
	for _, value := range values {
		if value {
			e.out = append(e.out, 1)
		} else {
			e.out = append(e.out, 0)
		}
	}
}

func (e *encoder) text(value string) {
	e.numbers(len(value))
	e.out = append(e.out, value...)
}

// uid writes which of the UIDs met so far this is.
func (e *encoder) uid(uid types.UID) {
	i := slices.Index(e.uids, uid)
	if i < 0 {
		i = len(e.uids)
		e.uids = append(e.uids, uid)
	}
	e.numbers(i)
}

// age writes how long ago something was, unless that is beyond every deadline, or
// there is none.
func (e *encoder) age(t time.Time, deadline time.Duration) {
	if deadline > 0 {
		e.numbers(int(min(e.w.Now.Sub(t), deadline) / time.Second))
	}
}

func (e *encoder) store(store *Store) {
	e.set(store.Set)
	e.numbers(len(store.Pods))
	for _, pod := range store.Pods {
		e.pod(pod)
	}
	e.numbers(len(store.Claims))
	for _, claim := range store.Claims {
		e.meta(claim)
	}
	e.numbers(len(store.Revisions))
	for _, revision := range store.Revisions {
		e.meta(revision)
		e.numbers(int(revision.Revision))
	}
}

func (e *encoder) set(set *v1.StatefulSet) {
	if set == nil {
		e.text("no set")
		return
	}
	e.uid(set.UID)
	e.bools(set.DeletionTimestamp != nil, slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents))
	e.numbers(int(set.Generation))
	e.status(&set.Status)
}

// status leaves out texts and times. The spec follows from the number of edits
// and the generation.
func (e *encoder) status(status *v1.StatefulSetStatus) {
	e.text(status.CurrentRevision)
	e.text(status.UpdateRevision)
	e.numbers(int(status.ObservedGeneration), int(status.Replicas), int(status.ReadyReplicas), int(status.AvailableReplicas),
		int(status.CurrentReplicas), int(status.UpdatedReplicas))
	if status.CollisionCount != nil {
		e.numbers(int(*status.CollisionCount))
	}
	for _, c := range status.Conditions {
		e.text(c.Type + string(c.Status) + c.Reason)
		e.numbers(int(c.ObservedGeneration))
	}
	for _, p := range status.PodProgress {
		e.text(p.Revision)
		e.numbers(int(p.Ordinal), int(p.Replacements))
		e.uid(p.LastReplacedUID)
	}
}

func (e *encoder) pod(pod *corev1.Pod) {
	e.meta(pod)
	e.text(pod.Labels[v1.RevisionLabel])
	e.text(string(pod.Status.Phase))
	e.bools(pod.Labels[v1.PodNameLabel] != "", len(pod.Finalizers) > 0)
	wasReady := podstate.WasReady(pod)
	e.bools(wasReady)
	e.age(pod.CreationTimestamp.Time, e.w.deadlines.ofPod(wasReady))
	for _, c := range pod.Status.Conditions {
		e.text(string(c.Status))
		if c.Status == corev1.ConditionTrue {
			e.age(c.LastTransitionTime.Time, e.w.deadlines.minReady)
		}
	}
}

// meta writes what all objects have in common.
func (e *encoder) meta(object metav1.Object) {
	e.text(object.GetName())
	e.uid(object.GetUID())
	e.bools(object.GetDeletionTimestamp() != nil)
	for _, owner := range object.GetOwnerReferences() {
		e.uid(owner.UID)
	}
}

// view writes what differs from the truth, and how: whether a version is that of
// the truth decides about preconditions.
func (e *encoder) view(view *Store) {
	if e.bools(view.Set == e.w.Truth.Set); view.Set != e.w.Truth.Set {
		e.set(view.Set)
	}
	diffs(e, view.Pods, e.w.Truth.Pods, e.pod)
	diffs(e, view.Claims, e.w.Truth.Claims, func(claim *corev1.PersistentVolumeClaim) { e.meta(claim) })
	isRecent := slices.Equal(view.Revisions, e.w.Truth.Revisions)
	if e.bools(isRecent); !isRecent {
		for _, revision := range view.Revisions {
			e.meta(revision)
			e.numbers(int(revision.Revision))
		}
	}
}

// diffs writes the objects of a view, those that are as in truth by a mark.
func diffs[T interface {
	comparable
	metav1.Object
}](e *encoder, viewed, truth []T, write func(T)) {
	e.numbers(len(viewed))
	for _, object := range viewed {
		current := find(truth, object.GetName())
		e.bools(object == current)
		if object != current {
			write(object)
		}
	}
}

// memory writes which of the process's writes the view does not show.
func (e *encoder) memory(memory *Memory) {
	for _, echo := range memory.Echoes {
		if !e.w.hasArrived(echo) {
			e.text(string(echo.Kind) + echo.Object.GetName())
			e.uid(echo.Object.GetUID())
			e.bools(echo.IsDelete)
		}
	}
	view := e.w.Controller.View.Set
	if memory.Set != nil && (view == nil || !isAtLeast(view, memory.Set)) {
		e.bools(memory.Set == e.w.Truth.Set)
		e.set(memory.Set)
	}
}

// run writes how far a plan has come.
func (e *encoder) run(run *Run) {
	if run == nil {
		return
	}
	for action := range run.Decision.Plan.Actions() {
		e.text(action.String())
		e.uid(action.Object().GetUID())
	}
	e.numbers(run.step, run.first, len(run.failures))
	e.numbers(run.next...)
	e.bools(run.hasStatus, run.batchFailed, run.stepFailed)
}

func (e *encoder) ledger(ledger *Ledger) {
	for _, down := range ledger.Down {
		e.numbers(down.Ordinal, down.Budget)
	}
	e.numbers(len(ledger.WasReady))
	for _, uid := range ledger.WasReady {
		e.uid(uid)
	}
	for _, t := range ledger.Timeouts {
		e.numbers(t.Ordinal, t.Count)
		e.text(t.Revision)
	}
}
