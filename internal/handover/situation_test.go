package handover_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

const (
	uidOfTheirs = types.UID("theirs")
	uidOfOurs   = types.UID("ours")
)

// world makes situations: a set of three pods and two revisions, a and b, of which b is that of the template.
type world struct{ s handover.Situation }

func newWorld() *world {
	set := testkit.MakeSet("web").Replicas(3).Template("b").Claims("data").Obj()
	o := testkit.Observe(set, "ab", "0:b/available 1:b/available 2:b/available")
	w := &world{handover.Situation{Pods: o.Pods, Revisions: o.Revisions}}
	for _, claim := range o.Claims {
		w.s.Claims = append(w.s.Claims, claim)
	}
	w.own(nil)
	return w
}

func revisionName(letter string) string {
	return testkit.RevisionName(testkit.MakeSet("web").Replicas(3).Claims("data").Obj(), letter)
}

// own makes somebody the owner of everything, or nobody.
func (w *world) own(owner *metav1.OwnerReference) *world {
	for _, object := range w.objects() {
		object.SetOwnerReferences(nil)
		if owner != nil {
			object.SetOwnerReferences([]metav1.OwnerReference{*owner})
		}
	}
	return w
}

func (w *world) objects() []metav1.Object {
	var all []metav1.Object
	for _, pod := range w.s.Pods {
		all = append(all, pod)
	}
	for _, revision := range w.s.Revisions {
		all = append(all, revision)
	}
	for _, claim := range w.s.Claims {
		all = append(all, claim)
	}
	return all
}

func theirs() *metav1.OwnerReference {
	owner := &metav1.ObjectMeta{Name: "web", UID: uidOfTheirs}
	return metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
}

func ours() *metav1.OwnerReference {
	return metav1.NewControllerRef(&metav1.ObjectMeta{Name: "web", UID: uidOfOurs}, v1.Kind)
}

// theirs puts the set of apps/v1 there.
func (w *world) theirs(edits ...func(*appsv1.StatefulSet)) *world {
	set := testkit.MakeSet("web").Replicas(3).Template("b").Claims("data").Obj()
	converted, _, err := handover.ToBuiltIn(set)
	if err != nil {
		panic(err)
	}
	converted.UID, converted.Generation = uidOfTheirs, 2
	converted.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: 2, CurrentRevision: revisionName("b"), UpdateRevision: revisionName("b"), CurrentReplicas: 3,
	}
	w.s.BuiltIn = converted
	w.s.Converted = handover.Marked(set, converted)
	for _, edit := range edits {
		edit(converted)
	}
	return w
}

// ours puts the set of ours there.
func (w *world) ours(edits ...func(*v1.StatefulSet)) *world {
	set := testkit.MakeSet("web").Replicas(3).Template("b").Claims("data").Obj()
	set.UID, set.Generation = uidOfOurs, 1
	set.Annotations = map[string]string{}
	for _, edit := range edits {
		edit(set)
	}
	w.s.Ours = set
	answer, _, err := handover.ToBuiltIn(set)
	if err != nil {
		panic(err)
	}
	w.s.Answer = answer
	return w
}

// Edits of ours.

func marked(set *v1.StatefulSet) { set.Annotations[handover.Mark] = string(uidOfTheirs) + "/2" }

func inCharge(set *v1.StatefulSet) {
	set.Status.ObservedGeneration = set.Generation
	set.Status.CurrentRevision, set.Status.UpdateRevision = revisionName("b"), revisionName("b")
}

func waits(set *v1.StatefulSet) {
	set.Status.ObservedGeneration = set.Generation
	set.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: "False", Reason: v1.ReasonNamesakeInCharge}}
}

func held(set *v1.StatefulSet) { heldAt("b")(set) }

func heldAt(current string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Finalizers = append(set.Finalizers, handover.Finalizer)
		set.Annotations[handover.Record] = revisionName(current) + " " + revisionName("b")
	}
}

func going(finalizers ...string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
		set.Finalizers = append(set.Finalizers, finalizers...)
	}
}

// written describes what a step would write, in a line.
func written(step handover.Step) string {
	switch object := step.Object.(type) {
	case *v1.StatefulSet:
		return fmt.Sprintf("%s ours", step.Verb)
	case *appsv1.StatefulSet:
		return fmt.Sprintf("%s theirs", step.Verb)
	case *appsv1.ControllerRevision:
		return fmt.Sprintf("%s revision %s", step.Verb, object.Name)
	default:
		return string(step.Verb)
	}
}

var kin = handover.Kin{Name: "web", Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), ClaimTemplates: []string{"data"}}

func podNamed(name string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return pod
}
