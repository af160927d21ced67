// Package slo measures the service levels that the seed documents promise, with many small sets at once, random
// circumstances and a printed seed:
//
//	go test ./test/integration/slo -v [-seed N]
//
// What is judged is what a watch of all pods saw, not what the operator says of itself. Sets without any of the new
// fields have the service level "as the built-in controller", which test/parity holds them to. docs/slo.md has figures.
package slo

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(trials)
	cluster.Main(m)
}

// Seed 004, SLOs: 99% of the pods that fail to become ready are recreated within podProgressTimeoutSeconds + 30 s; no
// pod is deleted that becomes ready in time.
func TestProgressTimeoutLevels(t *testing.T) {
	t.Parallel()
	courses := playAll(t, draw(t, 4), func(t *testing.T, r *recorder, tr trial) course {
		return tr.play(t, r, func(story *scenario.Story) {
			tr.thenTopBroken(story)
			if tr.isPatient {
				thenReplacedOnce(t, story)
			}
		}, tr.strategy(v1.RollingUpdateStrategy), scenario.ProgressTimeout(int32(tr.timeout)))
	})
	replaced := level{what: "a stuck pod is recreated, beyond its timeout", limit: 30 * time.Second, share: 0.99}
	var early, ready verdict
	for _, went := range courses {
		timeout := time.Duration(went.timeout) * time.Second
		replaced.samples = append(replaced.samples, waits(t, went, timeout)...)
		early.condemn(went, tooEarly(went.lives, went.good(), timeout, went.fixed, time.Time{}))
		early.condemn(went, tooEarly(went.lives, went.bad(), timeout, went.broken, onlyTimeoutUntil(went)))
		ready.condemn(went, deletedReady(went.lives, went.good()))
	}
	replaced.check(t)
	early.check(t, "pods deleted before their time was up")
	ready.check(t, "pods deleted that had become ready in time")
}

// thenReplacedOnce waits until the timeout has replaced a pod.
func thenReplacedOnce(t *testing.T, story *scenario.Story) {
	t.Helper()
	story.Then("a pod was replaced", func(set *v1.StatefulSet) error {
		if len(set.Status.PodProgress) == 0 {
			return fmt.Errorf("podProgress is empty")
		}
		return nil
	})
}

// onlyTimeoutUntil is until when nothing but the timeout deletes pods of the first template: with Parallel the second
// template does, too.
func onlyTimeoutUntil(went course) time.Time {
	if went.isParallel {
		return went.fixed
	}
	return time.Time{}
}

// waits returns, for every pod of the first template whose time ran out, how long after that there was another in its
// place. A pod that went earlier, for the second template, is no sample.
func waits(t *testing.T, went course, timeout time.Duration) []time.Duration {
	t.Helper()
	var samples []time.Duration
	for _, l := range went.lives {
		if l.image != went.bad() {
			continue
		}
		next, ok := successor(went.lives, l)
		if !ok {
			t.Errorf("%s: %s was not replaced", went.trial, l.pod)
			continue
		}
		if l.age() >= timeout {
			samples = append(samples, next.created.Sub(l.created)-timeout)
		}
	}
	return samples
}

// Seed 000, SLOs: 99% of the updates complete within termination + startup + 30 s; pods of different revisions never
// exist together.
func TestRecreateLevels(t *testing.T) {
	t.Parallel()
	courses := playAll(t, draw(t, 0), func(t *testing.T, r *recorder, tr trial) course {
		return tr.play(t, r, func(story *scenario.Story) {
			if tr.isPatient {
				story.ThenPodBroken(0, tr.bad())
			}
		}, scenario.Strategy(v1.RecreateStrategy))
	})
	done := level{what: "a Recreate update is done, beyond termination and startup", limit: 30 * time.Second, share: 0.99}
	var mixed verdict
	for _, went := range courses {
		startup := went.start
		if !went.isParallel {
			startup *= time.Duration(went.replicas)
		}
		done.samples = append(done.samples, lastReady(went).Sub(went.fixed)-went.stop-startup)
		mixed.condemn(went, mixtures(went.lives))
	}
	done.check(t)
	mixed.check(t, "pods of different revisions at the same time")
}

// lastReady is when the last pod of the second template became ready.
func lastReady(went course) time.Time {
	var last time.Time
	for _, l := range went.lives {
		if l.image == went.good() && l.ready.After(last) {
			last = l.ready
		}
	}
	return last
}

// Seed 003, SLOs: no update is stuck for good (99%); a pod that was broken is replaced, and the new one ready, within 5
// minutes of the fix (95%); while the highest pod is not ready nothing below its batch is replaced.
func TestEnforcedLevels(t *testing.T) {
	t.Parallel()
	courses := playAll(t, draw(t, 3), func(t *testing.T, r *recorder, tr trial) course {
		return tr.play(t, r, func(story *scenario.Story) {
			tr.thenTopBroken(story)
			if tr.isPatient {
				thenBatchBroken(t, story, tr)
				makeRoom(t, story, tr)
			}
		}, tr.strategy(v1.EnforcedRollingUpdateStrategy))
	})
	forced := level{what: "a broken pod is replaced and ready, after the fix", limit: 5 * time.Minute, share: 0.95}
	whole := level{what: "an enforced update is complete, after the fix", limit: 5 * time.Minute, share: 0.99}
	var unsafe verdict
	for _, went := range courses {
		forced.samples = append(forced.samples, replacements(t, went)...)
		whole.samples = append(whole.samples, lastReady(went).Sub(went.fixed))
		unsafe.condemn(went, taken(went.lives, went.replicas-went.budget, went.broken, went.fixed))
	}
	forced.check(t)
	whole.check(t)
	unsafe.check(t, "pods replaced during a safety halt")
}

// thenBatchBroken waits until as many pods are broken as the first template gets.
func thenBatchBroken(t *testing.T, story *scenario.Story, tr trial) {
	t.Helper()
	story.Eventually(t, "the whole batch is broken", func(context.Context) error {
		broken := 0
		for _, pod := range story.Pods() {
			if pod.Spec.Containers[0].Image == tr.bad() && len(pod.Status.ContainerStatuses) > 0 {
				broken++
			}
		}
		if want := min(tr.replicas, tr.budget); broken != want {
			return fmt.Errorf("%d pods are, want %d", broken, want)
		}
		return nil
	})
}

// makeRoom gets a pod of the batch ready, though not the highest: the budget has room then, and only the safety halt keeps
// the rest from being replaced.
func makeRoom(t *testing.T, story *scenario.Story, tr trial) {
	t.Helper()
	if tr.budget < 2 || tr.replicas < 2 {
		return
	}
	second := tr.replicas - 2
	story.Mend(second)
	story.ThenPodReady(second)
	story.Then("the controller knows", func(set *v1.StatefulSet) error {
		if want := int32(tr.replicas - 1); set.Status.AvailableReplicas != want {
			return fmt.Errorf("%d pods are available, want %d", set.Status.AvailableReplicas, want)
		}
		return nil
	})
}

// replacements returns how long after the fix there was a ready pod in the place of each broken one.
func replacements(t *testing.T, went course) []time.Duration {
	t.Helper()
	var samples []time.Duration
	for _, l := range went.lives {
		if l.image != went.bad() || !l.ready.IsZero() {
			continue
		}
		next, ok := successor(went.lives, l)
		if !ok || next.ready.IsZero() {
			t.Errorf("%s: %s was not replaced by a pod that is ready", went.trial, l.pod)
			continue
		}
		samples = append(samples, next.ready.Sub(went.fixed))
	}
	return samples
}
