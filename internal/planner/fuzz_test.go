package planner_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// FuzzCompute feeds the planner observations of every kind, absurd ones included
// (see fuzz_draw_test.go). Whatever it is given, it does not panic, changes
// nothing of what it was given, decides the same again, is satisfied with the live
// reads it asks for, and makes no plan that violates a property which a plan on
// its own can violate. What no API server stores may confuse its counting, but
// never whom it deletes.
func FuzzCompute(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(judgeInput)
}

var (
	inputs    = flag.Int("inputs", 3000, "random inputs of TestRandomObservations")
	inputSeed = flag.Uint64("input-seed", 1, "seed of TestRandomObservations")
)

// TestRandomObservations judges many random inputs as FuzzCompute does. Without a
// search for coverage it tries far more of them in the same time.
func TestRandomObservations(t *testing.T) {
	random := rand.New(rand.NewPCG(*inputSeed, 0))
	for i := range *inputs {
		data := make([]byte, random.IntN(500))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		if judgeInput(t, data); t.Failed() {
			t.Fatalf("input %d of seed %d: %q", i, *inputSeed, data)
		}
	}
}

func judgeInput(t *testing.T, data []byte) {
	o := drawObservation(&source{data: data})
	before := copyOf(o)
	p := satisfied(t, &o)
	o.Live, o.Defaulted = before.Live, before.Defaulted
	if !reflect.DeepEqual(before, o) {
		t.Error("the observation was modified")
	}
	judgePlan(t, o, p)
	judgeConclusion(t, o, p, data)
}

// satisfied computes a plan, with the live reads that it asks for.
func satisfied(t *testing.T, o *plan.Observation) plan.Plan {
	t.Helper()
	for range 4 {
		p := planner.Compute(*o)
		if again := planner.Compute(*o); !reflect.DeepEqual(p, again) {
			t.Fatalf("two plans differ:\n%s\n%s", p, again)
		}
		if !p.NeedsLiveRead.Any() {
			return p
		}
		o.Live.Set = o.Live.Set || p.NeedsLiveRead.Set
		o.Live.Pods = o.Live.Pods || p.NeedsLiveRead.Pods
		o.Live.Templates = o.Live.Templates || p.NeedsLiveRead.Templates
	}
	t.Fatalf("the planner is never satisfied: %+v", planner.Compute(*o).NeedsLiveRead)
	return plan.Plan{}
}

// judgePlan holds a plan against the properties of the model checker, as far as
// they mean anything, and against those that hold for whatever is observed.
func judgePlan(t *testing.T, o plan.Observation, p plan.Plan) {
	t.Helper()
	for action := range p.Actions() {
		judgeAction(t, o, action)
	}
	isRefused := p.Summary == plan.Summary{}
	if isRefused && !p.IsEmpty() {
		t.Errorf("a spec is called invalid, and acted on:\n%s", p)
	}
	if isRefused || !isPlausible(o) {
		return
	}
	o.Live = plan.LiveReads{Set: true, Pods: true, Templates: true} // whatever was asked for
	if violation := simulation.JudgePlan(o, p); violation != nil {
		t.Errorf("%v\nplan:\n%sspec: %+v\nstatus before: %+v\nstatus after: %+v", violation, p, o.Set.Spec, o.Set.Status, p.Status)
	}
}

// judgeAction is what holds for every single action.
func judgeAction(t *testing.T, o plan.Observation, action plan.Action) {
	t.Helper()
	if o.Set.DeletionTimestamp != nil {
		t.Errorf("%s although the set is being deleted", action)
	}
	if action.Why().Text == "" || action.String() == "" {
		t.Errorf("%T without a reason or a name", action)
	}
	switch a := action.(type) {
	case plan.DeletePod:
		if !slices.Contains(o.Pods, a.Pod) {
			t.Errorf("%s, which was not observed", a)
		}
		isKept := a.Reason.Code != plan.ScaledDown && a.Reason.Code != plan.PodEnded
		if isKept && (o.Set.Spec.Paused || o.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStrategy) {
			t.Errorf("%s (%s) while paused or OnDelete", a, a.Reason)
		}
	case plan.CreatePod:
		if slices.ContainsFunc(o.Pods, func(pod *corev1.Pod) bool { return pod.Name == a.Pod.Name }) {
			t.Errorf("%s, which is there", a)
		}
	}
}

// isPlausible tells whether an API server could have stored what was observed:
// then every property can be judged.
func isPlausible(o plan.Observation) bool {
	names := map[string]bool{}
	for _, pod := range o.Pods {
		if names[pod.Name] {
			return false
		}
		names[pod.Name] = true
	}
	for _, recorded := range o.Revisions {
		if names[recorded.Name] {
			return false
		}
		names[recorded.Name] = true
	}
	return ordinal.RangeOf(o.Set).Start >= 0 && o.Set.Spec.MinReadySeconds >= 0
}

// judgeConclusion lets actions fail and looks at the status that remains.
func judgeConclusion(t *testing.T, o plan.Observation, p plan.Plan, data []byte) {
	t.Helper()
	refusals := []error{
		errors.New("no"), apierrors.NewForbidden(corev1.Resource("pods"), "", nil),
		apierrors.NewAlreadyExists(corev1.Resource("pods"), ""), apierrors.NewConflict(corev1.Resource("pods"), "", nil),
	}
	var failures []plan.Failure
	i := 0
	for action := range p.Actions() {
		if i++; i < len(data) && data[i]%2 == 0 {
			failures = append(failures, plan.Failure{Action: action, Err: refusals[int(data[i]/2)%len(refusals)]})
		}
	}
	status := planner.Conclude(o, p, failures)
	isOrdered := 0 <= status.AvailableReplicas && status.AvailableReplicas <= status.ReadyReplicas && status.ReadyReplicas <= status.Replicas
	if !isOrdered || status.CurrentReplicas < 0 || status.UpdatedReplicas < 0 {
		if isPlausible(o) && p.Summary != (plan.Summary{}) {
			t.Errorf("the status is %+v", status)
		}
	}
}
