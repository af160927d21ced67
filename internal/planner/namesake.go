package planner

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// A set that is created beside a StatefulSet of apps/v1 with its name is there to
// take over from it. Until that one has let go of everything, ours does nothing:
// a pod that is lost in the meantime would be made by both, and a revision of our
// own would compete with the one that the pods bear, so that every pod would be
// outdated as soon as it is ours. Letting go takes the garbage collector many
// writes, and half of the history is worse than none.
//
// A set that controls anything itself does not wait any more: nobody stops it by
// creating a namesake.

// awaitsNamesake tells whether a StatefulSet of apps/v1 is still in charge.
func (d *decision) awaitsNamesake() bool {
	if d.isDeleting() {
		return false
	}
	isWaiting := false
	for _, pod := range d.observation.Pods {
		if metav1.IsControlledBy(pod, d.set) {
			return false
		}
		isWaiting = isWaiting || isOfNamesake(pod, d.set)
	}
	for _, revision := range d.observation.Revisions {
		if metav1.IsControlledBy(revision, d.set) {
			return false
		}
		isWaiting = isWaiting || isOfNamesake(revision, d.set)
	}
	return isWaiting
}

func isOfNamesake(object metav1.Object, set *v1.StatefulSet) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.Name == set.Name && owner.Kind == v1.Kind.Kind &&
		owner.APIVersion == appsv1.SchemeGroupVersion.String()
}

// waitingForNamesake is the plan of a set that has not taken over yet: it changes nothing,
// and keeps the revisions that the status may hold already for the day it does.
func (d *decision) waitingForNamesake() plan.Plan {
	message := fmt.Sprintf("the StatefulSet %s of apps/v1 controls the pods and their history: have them handed over with "+
		"\"kubectl delete statefulset.apps %[1]s --cascade=orphan\", or delete this set", d.set.Name)
	p := d.standstill(v1.ReasonNamesakeInCharge, message)
	p.WakeAt = d.now.Add(recheckInterval)
	return p
}
