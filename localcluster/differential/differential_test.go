package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

const (
	letters = "abc"
	claim   = "data"
)

// On every state both want the same pods and claims created and the same pods deleted.
func TestActionsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		observation := drawObservation(t)
		want, err := askBuiltIn(observation)
		if err != nil {
			t.Fatalf("the built-in controller fails: %v", err)
		}
		got := planner.Compute(observation)
		if diff := cmp.Diff(withoutVainClaims(want.actions), podActions(got)); diff != "" {
			t.Errorf("actions (-built-in +ours):\n%s", testkit.Letters(observation.Set, diff, letters))
		}
		compareStatus(t, want, got.Status)
	})
}

// compareStatus leaves out what differs by design: availableReplicas (ours never counts a pod that is terminating),
// currentRevision (ours needs all pods available to complete) and currentReplicas (which follows from it).
func compareStatus(t *rapid.T, want answer, got v1.StatefulSetStatus) {
	type counts struct {
		Replicas, Ready, Updated int32
		UpdateRevision           string
	}
	theirs := counts{want.status.Replicas, want.status.ReadyReplicas, want.status.UpdatedReplicas, want.status.UpdateRevision}
	ours := counts{got.Replicas, got.ReadyReplicas, got.UpdatedReplicas, got.UpdateRevision}
	if diff := cmp.Diff(theirs, ours); theirs != (counts{}) && diff != "" {
		t.Errorf("status (-built-in +ours):\n%s", diff)
	}
}

// podActions are the actions that both controllers have words for.
func podActions(p plan.Plan) []string {
	actions := []string{}
	for action := range p.Actions() {
		switch action.(type) {
		case plan.CreatePod, plan.DeletePod, plan.CreateClaim, plan.UpdatePod:
			actions = append(actions, action.String())
		}
	}
	slices.Sort(actions)
	return actions
}

// withoutVainClaims drops the claims that the built-in controller creates for a pod that it deletes in the same breath.
func withoutVainClaims(actions []string) []string {
	return slices.DeleteFunc(append([]string{}, actions...), func(action string) bool {
		pod, isClaim := strings.CutPrefix(action, "create claim "+claim+"-")
		return isClaim && slices.Contains(actions, "delete pod "+pod)
	})
}

// On every healthy fleet both give claims the same owners, whatever the retention policy and whoever owns them now.
func TestClaimOwnersAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		observation := drawOwnedClaims(t)
		want, err := askBuiltIn(observation)
		if err != nil {
			t.Fatalf("the built-in controller fails: %v", err)
		}
		got := map[string]string{}
		for action := range planner.Compute(observation).Actions() {
			if update, is := action.(plan.UpdateClaimOwner); is {
				got[update.Claim.Name] = ownersInWords(update.Owners)
			}
		}
		if diff := cmp.Diff(want.owners, got); diff != "" {
			t.Errorf("owners (-built-in +ours):\n%s", diff)
		}
	})
}

// drawObservation makes a set and a fleet of any shape that both controllers understand alike: maxUnavailable above 1
// only with Parallel, since ours makes something of it with OrderedReady.
func drawObservation(t *rapid.T) plan.Observation {
	builder := testkit.MakeSet("web").Template("c").
		Replicas(rapid.Int32Range(0, 4).Draw(t, "replicas")).
		Start(rapid.Int32Range(0, 2).Draw(t, "start")).
		MinReady(rapid.SampledFrom([]int32{0, 10}).Draw(t, "minReadySeconds"))
	isParallel := rapid.Bool().Draw(t, "parallel")
	if isParallel {
		builder.Parallel()
	}
	if rapid.Bool().Draw(t, "claims") {
		builder.Claims(claim)
	}
	drawStrategy(t, builder, isParallel)
	set := builder.Current(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "current")).Obj()
	observation := testkit.Observe(set, letters, drawFleet(t))
	for _, name := range slices.Sorted(maps.Keys(observation.Claims)) {
		if rapid.IntRange(0, 4).Draw(t, "lost "+name) == 0 {
			delete(observation.Claims, name)
		}
	}
	return observation
}

func drawStrategy(t *rapid.T, builder *testkit.SetBuilder, isParallel bool) {
	if rapid.IntRange(0, 3).Draw(t, "strategy") == 0 {
		builder.Strategy(v1.OnDeleteStrategy)
		return
	}
	builder.Partition(rapid.SampledFrom([]int32{0, 0, 0, 1, 2, 9}).Draw(t, "partition"))
	if isParallel {
		builder.MaxUnavailable(rapid.SampledFrom([]string{"1", "2", "3", "30%", "50%"}).Draw(t, "maxUnavailable"))
	}
}

// drawFleet writes a fleet of up to 8 pods, most of them healthy, in the notation of testkit.
func drawFleet(t *rapid.T) string {
	states := []string{
		"available", "available", "available", "available", "available",
		"ready", "pending", "crashing", "failed", "succeeded", "terminating", "leaving",
	}
	var words []string
	for ordinal := range rapid.IntRange(0, 8).Draw(t, "pods") {
		if rapid.IntRange(0, 5).Draw(t, "missing") > 0 {
			revision := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "revision")
			words = append(words, fmt.Sprintf("%d:%s/%s", ordinal, revision, rapid.SampledFrom(states).Draw(t, "state")))
		}
	}
	return strings.Join(words, " ")
}

// drawOwnedClaims makes a healthy set, too large at times, whose claims belong to anybody.
func drawOwnedClaims(t *rapid.T) plan.Observation {
	policies := rapid.SampledFrom([]v1.RetentionPolicyType{v1.Retain, v1.Delete})
	builder := testkit.MakeSet("web").Claims(claim).
		Replicas(rapid.Int32Range(1, 3).Draw(t, "replicas")).
		Retention(policies.Draw(t, "whenDeleted"), policies.Draw(t, "whenScaled"))
	if rapid.Bool().Draw(t, "parallel") {
		builder.Parallel()
	}
	set := builder.Current("a").Obj()
	var words []string
	for ordinal := range int(*set.Spec.Replicas) + rapid.IntRange(0, 2).Draw(t, "condemned") {
		words = append(words, fmt.Sprintf("%d:a/available", ordinal))
	}
	observation := testkit.Observe(set, "a", strings.Join(words, " "))
	for _, pod := range observation.Pods {
		observation.Claims[claim+"-"+pod.Name].OwnerReferences = drawOwners(t, set, pod)
	}
	return observation
}

// drawOwners makes references to the set, the pod and a stranger, or to dead namesakes; at most one is the controller,
// as the API server demands.
func drawOwners(t *rapid.T, set *v1.StatefulSet, pod metav1.Object) []metav1.OwnerReference {
	var owners []metav1.OwnerReference
	hasController := false
	for _, owner := range []metav1.OwnerReference{
		{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind.Kind, Name: set.Name, UID: set.UID},
		{APIVersion: "v1", Kind: "Pod", Name: pod.GetName(), UID: pod.GetUID()},
		{APIVersion: "x/v1", Kind: "Backup", Name: "backup", UID: "backup-uid"},
	} {
		if !rapid.Bool().Draw(t, "owned by "+owner.Kind) {
			continue
		}
		if owner.Kind != "Backup" && rapid.IntRange(0, 3).Draw(t, "dead") == 0 {
			owner.UID = "dead-uid"
		}
		if !hasController && rapid.IntRange(0, 2).Draw(t, "controller") > 0 {
			hasController = true
			owner.Controller = new(true)
		}
		owners = append(owners, owner)
	}
	return owners
}
