package conformance

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// artist draws the objects of one side in words that do not depend on the side:
// UIDs by the order in which they came up for each name, versions by whether they
// changed since the last picture that both sides agreed on.
type artist struct {
	aliases  map[types.UID]string
	versions map[types.UID]string
	count    map[string]int
}

func newArtist() *artist {
	return &artist{aliases: map[types.UID]string{"other": "other"}, versions: map[types.UID]string{}, count: map[string]int{}}
}

// draw describes each object in a line.
func (a *artist) draw(store simulation.Store) []string {
	var lines []string
	if set := store.Set; set != nil {
		lines = append(lines, a.line("set", set, true, fmt.Sprintf("generation %d, status %s of %d, finalizers %v",
			set.Generation, set.Status.CurrentRevision, set.Status.ObservedGeneration, set.Finalizers)))
	}
	for _, pod := range store.Pods {
		lines = append(lines, a.line("pod", pod, !isForgotten(pod), fmt.Sprintf("%s, placed %t, finalizers %v, labels %q %q %q",
			phaseOf(pod), pod.Spec.NodeName != "", pod.Finalizers,
			pod.Labels[v1.PodNameLabel], pod.Labels[v1.RevisionLabel], pod.Labels["variant"])))
	}
	for _, claim := range store.Claims {
		lines = append(lines, a.line("claim", claim, false, ""))
	}
	for _, revision := range store.Revisions {
		lines = append(lines, a.line("revision", revision, true, fmt.Sprintf("number %d, data %s", revision.Revision, revision.Data.Raw)))
	}
	return lines
}

// isForgotten tells whether a pod is being deleted without ever having had a node.
// kube-controller-manager calls such a pod failed after some time, if a finalizer
// holds it. Nobody reads that: it is terminating first of all.
func isForgotten(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
}

func phaseOf(pod *corev1.Pod) string {
	if isForgotten(pod) {
		return "of no phase"
	}
	return fmt.Sprintf("%s, ready %t", pod.Status.Phase, podstate.Classify(pod, 0, pod.CreationTimestamp.Time).Ready)
}

// line describes what all objects have in common, and more. The versions of claims
// do not count: controllers write to them in their own time.
func (a *artist) line(kind string, object metav1.Object, isVersioned bool, more string) string {
	words := []string{a.alias(kind, object)}
	if before, isKnown := a.versions[object.GetUID()]; isVersioned && isKnown && before != object.GetResourceVersion() {
		words = append(words, "changed")
	}
	if object.GetDeletionTimestamp() != nil {
		words = append(words, "leaving")
	}
	for _, owner := range object.GetOwnerReferences() {
		words = append(words, "of "+a.owner(owner))
	}
	return strings.Join(append(words, more), " ")
}

// alias names an object, by its name and how many of that name both sides agreed
// on before it. One that the garbage collector took at once was nobody.
func (a *artist) alias(kind string, object metav1.Object) string {
	if known, ok := a.aliases[object.GetUID()]; ok {
		return known
	}
	name := kind + " " + object.GetName()
	return fmt.Sprintf("%s#%d", name, a.count[name]+1)
}

func (a *artist) owner(owner metav1.OwnerReference) string {
	role := ""
	if owner.Controller != nil && *owner.Controller {
		role = ", which controls it"
	}
	if known, ok := a.aliases[owner.UID]; ok {
		return known + role
	}
	return "somebody new" + role
}

// sign makes the objects as they are the ones to compare with.
func (a *artist) sign(store simulation.Store) {
	clear(a.versions)
	if store.Set != nil {
		a.signObject("set", store.Set)
	}
	for _, pod := range store.Pods {
		a.signObject("pod", pod)
	}
	for _, claim := range store.Claims {
		a.signObject("claim", claim)
	}
	for _, revision := range store.Revisions {
		a.signObject("revision", revision)
	}
}

func (a *artist) signObject(kind string, object metav1.Object) {
	a.versions[object.GetUID()] = object.GetResourceVersion()
	if _, isKnown := a.aliases[object.GetUID()]; !isKnown {
		a.aliases[object.GetUID()] = a.alias(kind, object)
		a.count[kind+" "+object.GetName()]++
	}
}

// byName returns pointers to objects in the order of their names.
func byName[T any, P interface {
	*T
	metav1.Object
}](items []T) []P {
	objects := make([]P, len(items))
	for i := range items {
		objects[i] = &items[i]
	}
	slices.SortFunc(objects, func(a, b P) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

// withoutProtection leaves out the finalizer that the model knows as "in use".
func withoutProtection(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(name string) bool { return name == "kubernetes.io/pvc-protection" })
	return claim
}
