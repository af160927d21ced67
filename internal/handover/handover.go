// Package handover moves a set between apps/v1 and Rollcall without touching its
// pods. It decides; internal/cli reads and writes.
//
// A move is a function from what there is to the next single write,
//
//	Adopt, Release: Situation -> Step
//
// asked again after every step, so a move that was interrupted anywhere is
// resumed by asking. Two rules make every state in between safe:
//
//   - The spec is always stored in one of the two objects. Adopt creates ours
//     beside the other, where it waits for its namesake to let go (see
//     internal/planner, namesake.go), and only then deletes the other. Release
//     keeps ours, terminating, by a finalizer until the other has taken over.
//   - Deleting orphans: the garbage collector takes the owner off pods, claims
//     and revisions, each of which then has no owner or its new one, and never
//     one that is gone.
//
// Pods keep their labels and revisions their names, so the new controller
// recognizes each pod as what it is. What it would do beyond that is known
// beforehand: Preview asks the planner.
package handover

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

const (
	// Mark is the annotation of a set of ours that Adopt made. It names the set of
	// apps/v1 that the spec was taken from and the generation of it.
	Mark = v1.GroupName + "/adopts"
	// Finalizer keeps a set of ours, and thus its spec, until Release is done.
	Finalizer = v1.GroupName + "/release"
	// Record is the annotation of a set of ours under Release with its current
	// revision and that of its template, as "web-5c9d web-7f2b". The status of a set
	// that has let go of its history does not know them any more.
	Record = v1.GroupName + "/releases"
)

// Situation is all that a move depends on.
type Situation struct {
	// BuiltIn is the set of apps/v1, nil if there is none.
	BuiltIn *appsv1.StatefulSet
	// Ours is the set of apps.rollcall.dev, nil if there is none.
	Ours *v1.StatefulSet
	// Converted is BuiltIn as a set of ours. Only Adopt needs it.
	Converted *v1.StatefulSet
	// Answer is what the API server would make of Ours as a set of apps/v1, nil
	// while there is one. Only Release needs it.
	Answer *appsv1.StatefulSet
	// Pods are those that bear a name of the set's pods.
	Pods []*corev1.Pod
	// Revisions are those that bear a name of the set's revisions.
	Revisions []*appsv1.ControllerRevision
	// Claims are those made from the set's claim templates.
	Claims []*corev1.PersistentVolumeClaim
}

// Verb is what a step does.
type Verb string

// The verbs. All writes carry the version that the decision was made on.
const (
	Create       Verb = "create"
	Update       Verb = "update"
	UpdateStatus Verb = "update the status of"
	// Orphan deletes a set and leaves its pods, claims and revisions behind.
	Orphan Verb = "orphan"
	Delete Verb = "delete"
	// Wait writes nothing; somebody else is at work.
	Wait Verb = "wait"
	// Refuse writes nothing: the move can't be made, or not gone on with.
	Refuse Verb = "refuse"
	// Finish: nothing is left to do.
	Finish Verb = "finish"
)

// Object is anything that is stored at the API server.
type Object interface {
	metav1.Object
	runtime.Object
}

// Step is the next thing to do.
type Step struct {
	Verb   Verb
	Object Object
	// Text tells people about it: what was done, what is waited for, or what to do
	// about a refusal.
	Text string
}

func wait(format string, args ...any) Step {
	return Step{Verb: Wait, Text: fmt.Sprintf(format, args...)}
}

func refuse(format string, args ...any) Step {
	return Step{Verb: Refuse, Text: fmt.Sprintf(format, args...)}
}

// How the two kinds are called in texts.
const (
	builtInName = "statefulset.apps/"
	oursName    = "statefulset." + v1.GroupName + "/"
)

// dependents counts the objects that name an owner.
func (s Situation) dependents(owner types.UID) int {
	count := 0
	for _, refs := range s.ownerReferences() {
		for _, ref := range refs {
			if ref.UID == owner {
				count++
			}
		}
	}
	return count
}

func (s Situation) ownerReferences() [][]metav1.OwnerReference {
	var all [][]metav1.OwnerReference
	for _, pod := range s.Pods {
		all = append(all, pod.OwnerReferences)
	}
	for _, revision := range s.Revisions {
		all = append(all, revision.OwnerReferences)
	}
	for _, claim := range s.Claims {
		all = append(all, claim.OwnerReferences)
	}
	return all
}

// podsWithout counts the pods that the owner does not control.
func (s Situation) podsWithout(owner metav1.Object) int {
	count := 0
	for _, pod := range s.Pods {
		if !metav1.IsControlledBy(pod, owner) {
			count++
		}
	}
	return count
}

// controls tells whether the owner controls any pod or revision.
func (s Situation) controls(owner metav1.Object) bool {
	for _, pod := range s.Pods {
		if metav1.IsControlledBy(pod, owner) {
			return true
		}
	}
	for _, revision := range s.Revisions {
		if metav1.IsControlledBy(revision, owner) {
			return true
		}
	}
	return false
}
