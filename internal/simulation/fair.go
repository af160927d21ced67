package simulation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// course is a world in which nothing goes wrong any more: views catch up, nodes
// do what they are told, finalizers are lifted, strangers leave, and the
// controller acts when it is woken and only then: by an event, by the time that
// its plan asked for, by an error, or by a status that the next decision reads.
// It has one future.
type course struct {
	world World
	// isQueued: the set is in the controller's queue.
	isQueued bool
	// wakeAt is when the controller looks again; zero for never.
	wakeAt time.Time
	// reconciles are counted, for L4.
	reconciles int
}

// startCourse begins as a process does that has just started: what was under way
// is finished, and views show the truth. So worlds that differ in those alone
// have one course.
func startCourse(w *World) *course {
	c := &course{world: *w, isQueued: true}
	c.world.Mishaps, c.world.Faults, c.world.foreseen = 0, 0, nil
	c.finishRun()
	c.noticeEvents()
	return c
}

// maxReconciles bounds how long the way to rest may be: a constant, and some for
// each pod there is or should be.
func maxReconciles(w *World) int { return 60 + 40*(len(w.Truth.Pods)+w.slots().Count) }

// bringToRest lets a world come to rest, or returns the violation that it met.
func bringToRest(w *World) (*World, error) {
	c := startCourse(w)
	for most := maxReconciles(w); c.reconciles < most; {
		isOver, violation := c.round()
		if violation != nil {
			return nil, violation
		}
		if isOver {
			return &c.world, nil
		}
	}
	return nil, c.restless()
}

// restless is the violation of a course that takes too long.
func (c *course) restless() *Violation {
	return &Violation{"L4 rest is reached", fmt.Errorf("no rest after %d reconciles: %s", c.reconciles, c.world.Describe())}
}

// round is one look of the controller, if it was woken, and one move of
// everybody else. It tells whether all is at rest.
func (c *course) round() (isOver bool, violation *Violation) {
	c.finishRun()
	c.noticeEvents()
	isBusy := c.isQueued
	if c.isQueued {
		if violation := c.reconcile(); violation != nil {
			return false, violation
		}
	}
	if c.moveOthers() || isBusy {
		return false, nil
	}
	if c.wakeAt.IsZero() {
		return true, nil
	}
	c.world.Now = c.wakeAt
	return false, nil
}

// finishRun carries out what is under way.
func (c *course) finishRun() {
	for c.world.Controller.Run != nil {
		_, run := c.world.proceed(c.world.Controller.Run.open()[0], Reconcile)
		c.isQueued = c.isQueued || run.isDone
	}
}

// noticeEvents brings the views up to date. Events wake the controller by the
// rules of internal/controller: a set's status is none.
func (c *course) noticeEvents() {
	w := &c.world
	for _, kind := range kinds {
		if kind != Sets && !w.Controller.View.shows(kind, w.Truth) {
			c.isQueued = true
		}
	}
	before, after := w.Controller.View.Set, w.Truth.Set
	if before != after && (before == nil || after == nil || before.UID != after.UID || before.Generation != after.Generation) {
		c.isQueued = true
	}
	for _, kind := range kinds {
		w.see(kind)
	}
	if !c.wakeAt.IsZero() && !c.wakeAt.After(w.Now) {
		c.isQueued, c.wakeAt = true, time.Time{}
	}
	w.Ledger.refresh(w)
}

// reconcile lets the controller act, and takes down what wakes it again.
func (c *course) reconcile() *Violation {
	c.reconciles++
	before := c.world
	t := &Transition{Step: Step{Verb: Reconcile, At: -1}, Before: &before, After: &c.world}
	if err := t.reconcile(&c.world); err != nil {
		return &Violation{"L4 decisions end", err}
	}
	c.world.Ledger.refresh(&c.world)
	if run := t.Ended; run != nil {
		c.isQueued = len(run.failures) > 0 || run.statusErr != nil || run.isNews
		c.wakeAt = t.Decision.Plan.WakeAt
	} else {
		c.isQueued = false
	}
	return Judge(t)
}

// moveOthers lets nodes, users and the garbage collector do all they have to do.
func (c *course) moveOthers() bool {
	w, hasMoved := &c.world, false
	for _, step := range w.podSteps(ordinary) {
		if pod := find(w.Truth.Pods, step.On); pod != nil && suits(step.Verb, pod) {
			w.happenTo(step.Verb, pod)
			hasMoved = true
		}
	}
	for _, piece := range w.garbage() {
		t := &Transition{Step: Step{Verb: Collect, On: piece}}
		hasMoved = t.happenToObject(w) == nil || hasMoved
	}
	w.Ledger.refresh(w)
	return hasMoved
}

// digest identifies the course.
func (c *course) digest() Digest {
	wait := -1
	if !c.wakeAt.IsZero() {
		wait = int(c.wakeAt.Sub(c.world.Now) / time.Second)
	}
	e := &encoder{w: &c.world}
	e.numbers(int(c.world.Digest()), wait)
	e.bools(c.isQueued)
	return digestOf(e.out)
}

// isOurs tells whether the stored set controls a pod.
func (w *World) isOurs(pod *corev1.Pod) bool {
	return w.Truth.Set != nil && isControlledBy(metav1.Object(pod), w.Truth.Set.UID)
}
