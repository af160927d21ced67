package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// drawSet draws a set with settings of every kind. Its history is a, b, c.
func drawSet(t *rapid.T) *testkit.SetBuilder {
	b := web(rapid.Int32Range(0, 5).Draw(t, "replicas")).Start(rapid.Int32Range(0, 2).Draw(t, "start"))
	if rapid.Bool().Draw(t, "parallel") {
		b.Parallel()
	}
	strategy := rapid.SampledFrom([]v1.UpdateStrategyType{
		v1.RollingUpdateStrategy, v1.RollingUpdateStrategy, v1.EnforcedRollingUpdateStrategy, v1.RecreateStrategy, v1.OnDeleteStrategy,
	}).Draw(t, "strategy")
	b.Strategy(strategy)
	if strategy == v1.RollingUpdateStrategy && rapid.Bool().Draw(t, "timeout") {
		b.ProgressTimeout(600)
	}
	if strategy == v1.RollingUpdateStrategy || strategy == v1.EnforcedRollingUpdateStrategy {
		b.Partition(rapid.SampledFrom([]int32{0, 0, 0, 1, 2, 9}).Draw(t, "partition"))
		b.MaxUnavailable(rapid.SampledFrom([]string{"1", "2", "3", "50%"}).Draw(t, "maxUnavailable"))
	}
	b.MinReady(rapid.SampledFrom([]int32{0, 10}).Draw(t, "minReady"))
	b.HistoryLimit(rapid.Int32Range(0, 2).Draw(t, "historyLimit"))
	if rapid.SampledFrom([]bool{false, false, true}).Draw(t, "paused") {
		b.Paused()
	}
	b.Template(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "template"))
	return b.Current(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "current"))
}

// drawFleet draws pods in any state for the ordinals in and around the range.
func drawFleet(t *rapid.T) string {
	states := []string{
		"available", "available", "available", "available", "ready", "pending", "crashing", "unready",
		"failed", "succeeded", "terminating", "leaving",
	}
	var words []string
	for i := range 8 {
		if rapid.IntRange(0, 4).Draw(t, fmt.Sprintf("exists-%d", i)) == 0 {
			continue
		}
		letter := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, fmt.Sprintf("revision-%d", i))
		state := rapid.SampledFrom(states).Draw(t, fmt.Sprintf("state-%d", i))
		words = append(words, fmt.Sprintf("%d:%s/%s", i, letter, state))
	}
	return strings.Join(words, " ")
}

// judged is a plan beside what it was made from, counted independently of the
// planner.
type judged struct {
	o           plan.Observation
	p           plan.Plan
	slots       ordinal.Range
	states      map[int]podstate.Class
	revisions   map[int]string
	unavailable int
	inFlight    int
	condemned   []int
	budget      int
	partition   int
	strategy    v1.UpdateStrategyType
}

func judge(o plan.Observation, p plan.Plan) judged {
	j := judged{o: o, p: p, slots: ordinal.RangeOf(o.Set), states: map[int]podstate.Class{}, revisions: map[int]string{}, budget: 1}
	minReady := time.Duration(o.Set.Spec.MinReadySeconds) * time.Second
	for _, pod := range o.Pods {
		number, _ := ordinal.Parse(o.Set.Name, pod.Name)
		j.states[number] = podstate.Classify(pod, minReady, o.Now).Class
		j.revisions[number] = pod.Labels[v1.RevisionLabel]
		if !j.slots.Contains(number) {
			j.condemned = append(j.condemned, number)
		}
	}
	j.strategy = o.Set.Spec.UpdateStrategy.Type
	tuning := o.Set.Spec.UpdateStrategy.RollingUpdate
	if j.strategy == v1.EnforcedRollingUpdateStrategy {
		tuning = o.Set.Spec.UpdateStrategy.EnforcedRollingUpdate
	}
	if tuning != nil {
		j.partition = int(*tuning.Partition)
		j.budget = tuning.MaxUnavailable.IntValue()
		if tuning.MaxUnavailable.StrVal == "50%" {
			j.budget = max(1, j.slots.Count/2)
		}
	}
	for i := j.slots.Start; i < j.slots.End(); i++ {
		isAvailable := j.states[i] == podstate.Available
		if !isAvailable {
			j.unavailable++
		}
		if !isAvailable && (j.revisions[i] == j.wanted(i) || j.states[i] == podstate.Missing || j.states[i] == podstate.Terminating) {
			j.inFlight++
		}
	}
	return j
}

func (j judged) creates() (creates []plan.CreatePod) {
	for action := range j.p.Actions() {
		if create, ok := action.(plan.CreatePod); ok {
			creates = append(creates, create)
		}
	}
	return creates
}

// deletes returns the deletions with one of the reasons.
func (j judged) deletes(codes ...plan.ReasonCode) (deletes []plan.DeletePod) {
	for action := range j.p.Actions() {
		remove, ok := action.(plan.DeletePod)
		for _, code := range codes {
			if ok && remove.Reason.Code == code {
				deletes = append(deletes, remove)
			}
		}
	}
	return deletes
}

func (j judged) updates() []plan.DeletePod {
	return j.deletes(plan.Outdated, plan.OutdatedUnavailable, plan.ForcedReplacement, plan.Recreated, plan.ProgressTimedOut)
}

func (j judged) target() string {
	return testkit.RevisionName(j.o.Set, j.o.Set.Spec.Template.Spec.Containers[0].Image)
}

func (j judged) isOrdered() bool { return j.o.Set.Spec.PodManagementPolicy == v1.OrderedReady }

// wanted is G5: the revision of a slot, said independently of the planner.
func (j judged) wanted(number int) string {
	if number < j.slots.Start+j.partition {
		return j.o.Set.Status.CurrentRevision
	}
	return j.target()
}

// invariants are the properties of one plan, under the names that
// docs and issues use for them.
var invariants = map[string]func(j judged) error{
	"G1 one pod per ordinal": func(j judged) error {
		seen := map[int]bool{}
		for _, create := range j.creates() {
			if _, exists := j.states[create.Ordinal]; exists || seen[create.Ordinal] {
				return fmt.Errorf("%s although there is one", create)
			}
			seen[create.Ordinal] = true
		}
		return nil
	},
	"G2 a pod is deleted once, by its UID": func(j judged) error {
		seen := map[string]bool{}
		for action := range j.p.Actions() {
			if remove, ok := action.(plan.DeletePod); ok {
				if remove.Pod.UID == "" || seen[remove.Pod.Name] || remove.Pod.DeletionTimestamp != nil {
					return fmt.Errorf("%s: UID %q, again %t, terminating %v", remove, remove.Pod.UID, seen[remove.Pod.Name], remove.Pod.DeletionTimestamp)
				}
				seen[remove.Pod.Name] = true
			}
		}
		return nil
	},
	"G5 the revision follows from the slot": func(j judged) error {
		for _, create := range j.creates() {
			if create.Revision != j.wanted(create.Ordinal) || create.Pod.Labels[v1.RevisionLabel] != create.Revision {
				return fmt.Errorf("%s, want %s", create, j.wanted(create.Ordinal))
			}
		}
		return nil
	},
	"G7 the budget holds": func(j judged) error {
		used := j.unavailable
		if j.strategy == v1.EnforcedRollingUpdateStrategy {
			used = j.inFlight
		}
		available := len(j.deletes(plan.Outdated))
		if allowed := max(0, j.budget-used); available > allowed {
			return fmt.Errorf("%d available pods go, %d may", available, allowed)
		}
		return nil
	},
	"G9 the counts are in order": func(j judged) error {
		s := j.p.Status
		if s.AvailableReplicas < 0 || s.AvailableReplicas > s.ReadyReplicas || s.ReadyReplicas > s.Replicas ||
			s.CurrentReplicas < 0 || s.CurrentReplicas > s.Replicas || s.UpdatedReplicas < 0 || s.UpdatedReplicas > s.Replicas {
			return fmt.Errorf("status %+v", s)
		}
		return nil
	},
	"R1 nothing below the partition is updated": func(j judged) error {
		for _, remove := range j.updates() {
			if remove.Ordinal < j.slots.Start+j.partition {
				return fmt.Errorf("%s (%s)", remove, remove.Reason)
			}
		}
		return nil
	},
	"R2 ordered creation": func(j judged) error {
		if !j.isOrdered() {
			return nil
		}
		for _, create := range j.creates() {
			below := 0
			for i := j.slots.Start; i < create.Ordinal; i++ {
				if j.states[i] != podstate.Available {
					below++
				}
			}
			if below >= j.budget {
				return fmt.Errorf("%s with %d unavailable below it", create, below)
			}
		}
		return nil
	},
	"R2 ordered scale-down": func(j judged) error {
		removed := j.deletes(plan.ScaledDown)
		if !j.isOrdered() || len(removed) == 0 || j.strategy == v1.RecreateStrategy {
			return nil
		}
		holding := j.unavailable
		if j.strategy == v1.EnforcedRollingUpdateStrategy {
			holding = j.inFlight
		}
		highest := 0
		for _, number := range j.condemned {
			highest = max(highest, number)
		}
		if len(removed) > 1 || removed[0].Ordinal != highest || holding > 0 {
			return fmt.Errorf("%v go, the highest is %d, %d slots hold it up", removed, highest, holding)
		}
		return nil
	},
	"R3, R4 ordered updates": func(j judged) error {
		updates := j.deletes(plan.Outdated, plan.OutdatedUnavailable)
		if !j.isOrdered() || len(updates) == 0 || j.strategy != v1.RollingUpdateStrategy {
			return nil
		}
		if j.unavailable > 0 || len(j.condemned) > 0 || len(updates) > j.budget {
			return fmt.Errorf("%d pods go, %d slots are unavailable, %d pods condemned", len(updates), j.unavailable, len(j.condemned))
		}
		for i := j.slots.End() - 1; i > updates[len(updates)-1].Ordinal; i-- {
			isTaken := false
			for _, remove := range updates {
				isTaken = isTaken || remove.Ordinal == i
			}
			if !isTaken && j.revisions[i] != j.wanted(i) {
				return fmt.Errorf("pod %d is outdated and passed over", i)
			}
		}
		return nil
	},
	"A1, O1 nothing is updated against the user's will": func(j judged) error {
		isHeld := j.o.Set.Spec.Paused || j.o.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStrategy
		if isHeld && len(j.updates()) > 0 {
			return fmt.Errorf("%v", j.updates())
		}
		return nil
	},
	"C1 Recreate does not mix": func(j judged) error {
		if j.strategy != v1.RecreateStrategy {
			return nil
		}
		for number, revision := range j.revisions {
			if revision != j.target() && len(j.creates()) > 0 {
				return fmt.Errorf("pods are created while pod %d is at another revision", number)
			}
		}
		return nil
	},
	"C2 Recreate takes all others at once": func(j judged) error {
		if j.strategy != v1.RecreateStrategy || j.o.Set.Spec.Paused {
			return nil
		}
		gone := map[int]bool{}
		for action := range j.p.Actions() {
			if remove, ok := action.(plan.DeletePod); ok {
				gone[remove.Ordinal] = true
			}
		}
		for number, revision := range j.revisions {
			if revision != j.target() && j.states[number] != podstate.Terminating && !gone[number] {
				return fmt.Errorf("pod %d stays at another revision", number)
			}
		}
		return nil
	},
	"F2 the safety halt holds": func(j judged) error {
		top := j.slots.End() - 1
		state := j.states[top]
		isStarting := state != podstate.Missing && state != podstate.Terminating && state != podstate.Ready && state != podstate.Available
		isHalted := j.revisions[top] == j.target() && isStarting && j.partition < j.slots.Count
		if j.strategy != v1.EnforcedRollingUpdateStrategy || !isHalted {
			return nil
		}
		for _, remove := range j.updates() {
			if remove.Ordinal < j.slots.End()-j.budget {
				return fmt.Errorf("%s (%s)", remove, remove.Reason)
			}
		}
		return nil
	},
	"F3 no pod at the target is replaced": func(j judged) error {
		for _, remove := range j.updates() {
			if remove.Reason.Code != plan.ProgressTimedOut && j.revisions[remove.Ordinal] == j.target() {
				return fmt.Errorf("%s (%s)", remove, remove.Reason)
			}
		}
		return nil
	},
	"P1, P2 the timeout takes only what was never ready": func(j judged) error {
		for _, remove := range j.deletes(plan.ProgressTimedOut) {
			if podstate.WasReady(remove.Pod) || !remove.IfUnchanged || remove.Pod.CreationTimestamp.Add(10*time.Minute).After(j.o.Now) {
				return fmt.Errorf("%s (%s)", remove, remove.Reason)
			}
		}
		return nil
	},
	"H1 live revisions stay, the rest is limited": func(j judged) error {
		live := map[string]bool{j.p.Status.UpdateRevision: true, j.o.Set.Status.CurrentRevision: true}
		for _, revision := range j.revisions {
			live[revision] = true
		}
		unused := 0
		for _, revision := range j.o.Revisions {
			if !live[revision.Name] {
				unused++
			}
		}
		for action := range j.p.Actions() {
			if remove, ok := action.(plan.DeleteRevision); ok {
				if live[remove.Revision.Name] {
					return fmt.Errorf("%s, which is live", remove)
				}
				unused--
			}
		}
		if limit := int(*j.o.Set.Spec.RevisionHistoryLimit); unused > limit {
			return fmt.Errorf("%d unused revisions stay, the limit is %d", unused, limit)
		}
		return nil
	},
}

// TestInvariants checks every property on plans for random observations.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t).Obj()
		o := testkit.Observe(set, "abc", drawFleet(t))
		o.Live.Pods = true
		before := cloneObservation(o)
		p := planner.Compute(o)
		if diff := cmp.Diff(before, o); diff != "" {
			t.Fatalf("Compute changed its input (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(p, planner.Compute(o)); diff != "" {
			t.Fatalf("G8: the second plan differs (-first +second):\n%s", diff)
		}
		j := judge(o, p)
		for name, check := range invariants {
			if err := check(j); err != nil {
				t.Fatalf("%s: %v\nplan:\n%s", name, err, testkit.Letters(set, p.String(), "abc"))
			}
		}
	})
}

func cloneObservation(o plan.Observation) plan.Observation {
	o.Set = o.Set.DeepCopy()
	pods := make([]*corev1.Pod, len(o.Pods))
	for i := range o.Pods {
		pods[i] = o.Pods[i].DeepCopy()
	}
	o.Pods = pods
	return o
}
