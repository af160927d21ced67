package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/revision"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// command is one thing that both sides do: a step of the world around the
// operator, or a write of the operator. Exactly one of step and write is set.
type command struct {
	step simulation.Step
	// write is the kind of write, a key of writes, or "status".
	write string
	// number is the ordinal or the index of the object that is written, variant
	// whatever else the kind of write leaves open.
	number, variant int
	// age is how many commands ago the operator saw what it writes about.
	age int
}

func (c command) String() string {
	if c.write == "" {
		return c.step.String()
	}
	return fmt.Sprintf("%s %d (variant %d, as of %d commands ago)", c.write, c.number, c.variant, c.age)
}

// verb is what commands are counted by.
func (c command) verb() string {
	if c.write == "" {
		return string(c.step.Verb)
	}
	return c.write
}

// statusWrite is the write that is no action of a plan.
const statusWrite = "status"

// writes build actions from what was seen; nil if there is nothing to write about.
var writes = map[string]func(seen simulation.Store, c command) plan.Action{
	"create pod":      createPod,
	"delete pod":      deletePod,
	"adopt pod":       adoptPod,
	"release pod":     releasePod,
	"label pod":       labelPod,
	"create claim":    createClaim,
	"own claim":       ownClaim,
	"create revision": createRevision,
	"delete revision": deleteRevision,
	"number revision": numberRevision,
	"adopt revision":  adoptRevision,
}

// drawWrite draws a write of the operator about one of the views it has had.
func drawWrite(random *rand.Rand, views int) command {
	// Pods are what most is about.
	kinds := []string{statusWrite, "create pod", "create pod", "delete pod", "delete pod"}
	kinds = append(kinds, slices.Sorted(maps.Keys(writes))...)
	c := command{write: kinds[random.IntN(len(kinds))], number: random.IntN(4), variant: random.IntN(12)}
	if random.IntN(2) == 0 {
		c.age = random.IntN(min(views, 8))
	}
	return c
}

// nobody is a scheduler that there is not, so that nobody but the test moves pods.
const nobody = "nobody"

func createPod(seen simulation.Store, c command) plan.Action {
	if seen.Set == nil {
		return nil
	}
	name := "web-" + string(rune('a'+c.variant%3))
	pod := podbuild.Pod(seen.Set, &seen.Set.Spec.Template, name, c.number)
	pod.Spec.SchedulerName = nobody
	return plan.CreatePod{Ordinal: c.number, Revision: name, Pod: pod}
}

func deletePod(seen simulation.Store, c command) plan.Action {
	if pod := pick(seen.Pods, c.number); pod != nil {
		number, _ := ordinal.Parse("web", pod.Name)
		return plan.DeletePod{Ordinal: number, Pod: pod, IfUnchanged: c.variant%2 == 0}
	}
	return nil
}

func adoptPod(seen simulation.Store, c command) plan.Action {
	if pod := pick(seen.Pods, c.number); pod != nil && seen.Set != nil && len(pod.OwnerReferences) == 0 {
		return plan.AdoptPod{Pod: pod, Owner: podbuild.OwnerReference(seen.Set)}
	}
	return nil
}

func releasePod(seen simulation.Store, c command) plan.Action {
	if pod := pick(seen.Pods, c.number); pod != nil && isOf(seen.Set, pod) {
		return plan.ReleasePod{Pod: pod}
	}
	return nil
}

func labelPod(seen simulation.Store, c command) plan.Action {
	if pod := pick(seen.Pods, c.number); pod != nil {
		return plan.UpdatePod{Pod: pod, Labels: map[string]string{v1.PodNameLabel: pod.Name, "variant": fmt.Sprint(c.variant % 2)}}
	}
	return nil
}

func createClaim(seen simulation.Store, c command) plan.Action {
	if seen.Set == nil || len(seen.Set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	claim := podbuild.Claim(seen.Set, &seen.Set.Spec.VolumeClaimTemplates[0], c.number)
	claim.Spec.StorageClassName = new("") // so that nobody else writes to it
	return plan.CreateClaim{Claim: claim}
}

func ownClaim(seen simulation.Store, c command) plan.Action {
	claim := pick(seen.Claims, c.number)
	if claim == nil {
		return nil
	}
	var owners []metav1.OwnerReference
	if seen.Set != nil && c.variant&1 == 0 {
		owners = append(owners, podbuild.OwnerReference(seen.Set))
	}
	if pod := pick(seen.Pods, c.variant); pod != nil && c.variant&2 == 0 {
		owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID})
	}
	return plan.UpdateClaimOwner{Claim: claim, Owners: owners}
}

func createRevision(seen simulation.Store, c command) plan.Action {
	if seen.Set == nil {
		return nil
	}
	data, err := revision.Data(templateOf(seen.Set, c.number))
	if err != nil {
		return nil
	}
	created := revision.New(seen.Set, data, int64(len(seen.Revisions)+1), 0)
	if c.variant == 0 { // a name that something else may have by now
		created.Data.Raw, _ = revision.Data(templateOf(seen.Set, c.number+1))
	}
	return plan.CreateRevision{Revision: created}
}

func templateOf(set *v1.StatefulSet, number int) *corev1.PodTemplateSpec {
	template := set.Spec.Template.DeepCopy()
	template.Spec.Containers[0].Image = string(rune('a' + number%3))
	return template
}

func deleteRevision(seen simulation.Store, c command) plan.Action {
	if revision := pick(seen.Revisions, c.number); revision != nil {
		return plan.DeleteRevision{Revision: revision}
	}
	return nil
}

func numberRevision(seen simulation.Store, c command) plan.Action {
	if revision := pick(seen.Revisions, c.number); revision != nil {
		return plan.BumpRevision{Revision: revision, Number: revision.Revision + int64(c.variant%3)}
	}
	return nil
}

func adoptRevision(seen simulation.Store, c command) plan.Action {
	if revision := pick(seen.Revisions, c.number); revision != nil && seen.Set != nil && len(revision.OwnerReferences) == 0 {
		return plan.AdoptRevision{Revision: revision, Owner: podbuild.OwnerReference(seen.Set)}
	}
	return nil
}

// statusOf is a status that is news, or the one there is.
func statusOf(set *v1.StatefulSet, c command) v1.StatefulSetStatus {
	status := *set.Status.DeepCopy()
	status.CurrentRevision = "web-" + string(rune('a'+c.variant%3))
	status.ObservedGeneration = set.Generation
	return status
}

// pick returns one of the objects, nil if there are none.
func pick[T any](objects []*T, number int) *T {
	if len(objects) == 0 {
		return nil
	}
	return objects[number%len(objects)]
}

func isOf(set *v1.StatefulSet, object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return set != nil && controller != nil && controller.UID == set.UID
}
