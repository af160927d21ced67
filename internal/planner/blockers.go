package planner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// blockers are what keeps slots empty and only somebody else can remove.
type blockers struct {
	// stranger bears the name of a slot's pod and is there to stay.
	stranger *corev1.Pod
	// onItsWayOut names what the first slot that has to waits for: a claim or a
	// pod that will be gone.
	onItsWayOut string
	// err: the template of a revision can't be read.
	err error
}

// nameTaken notes a pod that has the name of one of ours. One that leaves, or
// that an earlier set of our name left to the garbage collector, is no alarm.
func (b *blockers) nameTaken(stranger *corev1.Pod, set *v1.StatefulSet) {
	owner := metav1.GetControllerOfNoCopy(stranger)
	isLeftOver := owner != nil && owner.UID != set.UID && owner.Name == set.Name &&
		owner.Kind == v1.Kind.Kind && owner.APIVersion == v1.GroupVersion.String()
	switch {
	case stranger.DeletionTimestamp != nil || isLeftOver:
		b.awaitEnd("pod %s, which does not belong to this set", stranger.Name)
	case b.stranger == nil:
		b.stranger = stranger
	}
}

// claimDoomed notes a claim on which no pod may be created.
func (b *blockers) claimDoomed(claim *corev1.PersistentVolumeClaim) {
	b.awaitEnd("claim %s, which is being deleted or belongs to an earlier pod", claim.Name)
}

func (b *blockers) unreadable(err error) { b.err = err }

// awaitEnd keeps the first of the things that have to be gone.
func (b *blockers) awaitEnd(format, name string) {
	if b.onItsWayOut == "" {
		b.onItsWayOut = fmt.Sprintf(format, name)
	}
}

// any tells whether a slot waits for somebody else's object to go.
func (b *blockers) any() bool { return b.stranger != nil || b.onItsWayOut != "" }
