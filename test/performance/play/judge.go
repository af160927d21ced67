package play

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// judge holds the watched history of one set in one act against what was
// promised, so that speed is never bought with a broken promise. The API server
// shows every change of a pod in the order in which it happened, so what the
// judge sees is what was.
type judge struct {
	kind      scenarios.Kind
	isOrdered bool
	strategy  v1.UpdateStrategyType
	// slots is how many pods there are to be, budget how many of them may be unavailable in an update.
	slots, budget int
	image         string
	// lowest is the lowest ordinal that was taken in this act.
	lowest int
}

func newJudge(scenario scenarios.Scenario, contestant scenarios.Contestant, act int, target goal) *judge {
	terms := scenario.TermsOf(act)
	j := &judge{
		kind: scenario.Acts[act].Kind, isOrdered: scenario.PodManagementPolicy == v1.OrderedReady, strategy: terms.Strategy(contestant),
		slots: target.replicas, image: target.image, lowest: target.replicas,
	}
	j.budget = resolve(terms.MaxUnavailable, target.replicas)
	if j.kind == scenarios.Fix {
		// What the bad image broke is unavailable already.
		j.budget *= 2
	}
	return j
}

// resolve is the budget: a number, or percent of the slots rounded down, at least 1.
func resolve(maxUnavailable string, slots int) int {
	if percent, ok := strings.CutSuffix(maxUnavailable, "%"); ok {
		number, _ := strconv.Atoi(percent)
		return max(1, slots*number/100)
	}
	number, _ := strconv.Atoi(maxUnavailable)
	return max(1, number)
}

// condemn says what is wrong with a step that has led to this fleet, if anything is.
func (j *judge) condemn(change step, now fleet) string {
	switch {
	case j.kind == scenarios.Create && j.isOrdered && change.isCreate():
		return j.condemnCreate(change, now)
	case j.kind == scenarios.Update && j.strategy == v1.RecreateStrategy:
		return j.condemnMixture(change, now)
	case j.kind == scenarios.Update || j.kind == scenarios.Fix:
		return j.condemnUpdate(change, now)
	case j.kind == scenarios.Scale && j.isOrdered && change.isTaken():
		return j.condemnScaleDown(change, now)
	default:
		return ""
	}
}

// condemnCreate: in order, a pod is created when all below it are available.
func (j *judge) condemnCreate(change step, now fleet) string {
	if missing := now.unavailable(change.after.ordinal); missing > 0 {
		return fmt.Sprintf("pod %d was created while %d below it were unavailable", change.after.ordinal, missing)
	}
	return ""
}

// condemnMixture: Recreate never has old and new pods at the same time.
func (j *judge) condemnMixture(change step, now fleet) string {
	if !change.isCreate() || change.after.image != j.image {
		return ""
	}
	for number, held := range now {
		if held.image != j.image {
			return fmt.Sprintf("pod %d was created while pod %d was there with the old image", change.after.ordinal, number)
		}
	}
	return ""
}

// condemnUpdate: the budget is kept, and in order pods are taken from the top.
func (j *judge) condemnUpdate(change step, now fleet) string {
	if down := now.unavailable(j.slots); down > j.budget && change.kind != watch.Added {
		return fmt.Sprintf("%d pods were unavailable, %d may be", down, j.budget)
	}
	if !j.isOrdered || !change.isTaken() || j.kind == scenarios.Fix {
		return ""
	}
	if change.after.ordinal >= j.lowest {
		return fmt.Sprintf("pod %d was taken after pod %d", change.after.ordinal, j.lowest)
	}
	j.lowest = change.after.ordinal
	return ""
}

// condemnScaleDown: in order, one pod goes at a time, from the top.
func (j *judge) condemnScaleDown(change step, now fleet) string {
	for number, held := range now {
		switch {
		case number > change.after.ordinal:
			return fmt.Sprintf("pod %d was taken while pod %d above it was there", change.after.ordinal, number)
		case number != change.after.ordinal && held.isStopping:
			return fmt.Sprintf("pod %d was taken while pod %d was stopping", change.after.ordinal, number)
		}
	}
	return ""
}
