package planner_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// TestConvergence is L1, G6 and G7 in truth: whatever users and nodes do, and
// wherever the controller dies, a set of pods that can run gets to what was
// asked for, without ever having more pods down for an update than the budget.
func TestConvergence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(1, 3).Draw(t, "maxUnavailable")
		b := web(rapid.Int32Range(0, 4).Draw(t, "replicas")).HistoryLimit(1).Claims("data")
		b.MinReady(rapid.SampledFrom([]int32{0, 12}).Draw(t, "minReady")).MaxUnavailable(fmt.Sprint(budget))
		if rapid.Bool().Draw(t, "parallel") {
			b.Parallel()
		}
		c := newCluster(t, b.Obj())
		for i := range rapid.IntRange(1, 6).Draw(t, "events") {
			c.crashAfter = rapid.IntRange(-1, 3).Draw(t, fmt.Sprintf("crash-%d", i))
			for range rapid.IntRange(0, 8).Draw(t, fmt.Sprintf("rounds-%d", i)) {
				c.round()
				checkBudget(t, c, budget)
			}
			disturb(t, c, i)
		}
		c.settle()
		checkSettled(t, c)
	})
}

// TestRecovery is L2: after a template that never gets ready, a good one gets
// through with every strategy that promises it, nobody having to delete a pod.
func TestRecovery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := web(rapid.Int32Range(1, 4).Draw(t, "replicas")).HistoryLimit(1)
		switch rapid.SampledFrom([]string{"Enforced", "Recreate", "timeout"}).Draw(t, "strategy") {
		case "Enforced":
			b.Strategy(v1.EnforcedRollingUpdateStrategy).MaxUnavailable(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "maxUnavailable"))
		case "Recreate":
			b.Strategy(v1.RecreateStrategy)
		case "timeout":
			b.ProgressTimeout(60).MaxUnavailable(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "maxUnavailable"))
		}
		if rapid.Bool().Draw(t, "parallel") {
			b.Parallel()
		}
		c := newCluster(t, b.Obj())
		c.broken = "x"
		c.settle()
		c.edit("template x, which never gets ready", template("x"))
		c.crashAfter = rapid.IntRange(-1, 3).Draw(t, "crash")
		c.rounds(rapid.IntRange(0, 30).Draw(t, "rounds"))
		c.edit("template b", template("b"))
		c.settle()
		checkSettled(t, c)
	})
}

// TestPlainOrderedUpdateStalls is L5, the promised default.
func TestPlainOrderedUpdateStalls(t *testing.T) {
	c := newCluster(t, web(2).Obj())
	c.broken = "x"
	c.settle()
	c.edit("template x, which never gets ready", template("x"))
	c.settle()
	c.edit("template b", template("b"))
	c.settle()
	if got := c.describe(); got != "0:a/available 1:x/running" {
		t.Errorf("the set is at rest as %s", got)
	}
}

// disturb does something that users or nodes do.
func disturb(t *rapid.T, c *cluster, i int) {
	draw := func(label string) string { return fmt.Sprintf("%s-%d", label, i) }
	victim := ordinal.PodName("web", rapid.IntRange(0, 3).Draw(t, draw("victim")))
	switch rapid.SampledFrom([]string{"template", "template", "replicas", "fail", "delete", "pause"}).Draw(t, draw("event")) {
	case "template":
		letter := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, draw("letter"))
		c.edit("template "+letter, template(letter))
	case "replicas":
		n := rapid.Int32Range(0, 4).Draw(t, draw("n"))
		c.edit(fmt.Sprintf("replicas %d", n), replicas(n))
	case "pause":
		c.edit("pause", func(spec *v1.StatefulSetSpec) { spec.Paused = true })
		c.rounds(3)
		c.edit("resume", func(spec *v1.StatefulSetSpec) { spec.Paused = false })
	case "fail":
		if pod := c.pods[victim]; pod != nil && pod.DeletionTimestamp == nil {
			c.edit(victim+" fails", func(*v1.StatefulSetSpec) { testkit.SetState(pod, "failed", c.now) })
		}
	case "delete":
		c.edit(victim+" is deleted", func(*v1.StatefulSetSpec) { delete(c.pods, victim) })
	}
}

// checkBudget forgets the slots that serve again and counts the others.
func checkBudget(t *rapid.T, c *cluster, budget int) {
	minReady := time.Duration(c.set.Spec.MinReadySeconds) * time.Second
	down := 0
	for number, isDown := range c.down {
		state := podstate.Classify(c.pods[ordinal.PodName("web", number)], minReady, c.now)
		if state.IsAvailable() || !ordinal.RangeOf(c.set).Contains(number) {
			delete(c.down, number)
		} else if isDown {
			down++
		}
	}
	if down > budget {
		t.Fatalf("%d pods are down for an update, the budget is %d:\n%s", down, budget, c.trace.String())
	}
}

func checkSettled(t *rapid.T, c *cluster) {
	status, slots := c.set.Status, ordinal.RangeOf(c.set)
	if len(c.pods) != slots.Count || int(status.AvailableReplicas) != slots.Count || int(status.UpdatedReplicas) != slots.Count {
		t.Fatalf("at rest with %d pods and status %+v:\n%s", len(c.pods), status, c.trace.String())
	}
	if status.CurrentRevision != status.UpdateRevision || status.ObservedGeneration != c.set.Generation {
		t.Fatalf("at rest, but not complete: %+v:\n%s", status, c.trace.String())
	}
	if live := 1; len(c.revisions) > live+1 {
		t.Fatalf("%d revisions are left, the limit is 1 beside the live one:\n%s", len(c.revisions), c.trace.String())
	}
}
