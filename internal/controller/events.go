package controller

import (
	"context"
	"slices"
	"strings"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/observe"
)

// router finds the sets that an object bears on.
type router struct {
	sets   client.Reader
	claims interface {
		SetsOfClaim(ctx context.Context, claim types.NamespacedName) ([]types.NamespacedName, error)
	}
}

// owner returns the set that controls a pod or revision. An object that no set
// of ours controls may be an orphan to adopt or stand in the way of a slot: it
// concerns the set that its name points to, if there is one.
func (r *router) owner(ctx context.Context, object client.Object) []reconcile.Request {
	key := types.NamespacedName{Namespace: object.GetNamespace()}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && observe.IsSet(controller) {
		key.Name = controller.Name
		return []reconcile.Request{{NamespacedName: key}}
	}
	var ok bool
	if key.Name, ok = observe.Stem(object.GetName()); !ok || !r.exists(ctx, key) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

func (r *router) exists(ctx context.Context, key types.NamespacedName) bool {
	return r.sets.Get(ctx, key, &v1.StatefulSet{}) == nil
}

// users returns the sets that would use a claim.
func (r *router) users(ctx context.Context, object client.Object) []reconcile.Request {
	keys, err := r.claims.SetsOfClaim(ctx, client.ObjectKeyFromObject(object))
	if err != nil {
		log.FromContext(ctx).Error(err, "An event of a claim is lost")
	}
	requests := make([]reconcile.Request, 0, len(keys))
	for _, key := range keys {
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// specChanged lets pass what changes a set's spec or deletes it. Its own status
// writes would otherwise wake the controller for nothing.
func specChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration()
	})
}

// podChanged lets pass what a decision reads of a pod or tells of it, which is
// what the view keeps: heartbeats and the turns of a crash loop do not get here.
func podChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		old, current := before.(*corev1.Pod), after.(*corev1.Pod)
		return hasMetaChanged(before, after) || !equality.Semantic.DeepEqual(newsOf(old), newsOf(current))
	})
}

// newsOf is the status without the numbers in messages. The scheduler counts the
// nodes that do not fit, so its message changes whenever a node comes or goes.
func newsOf(pod *corev1.Pod) corev1.PodStatus {
	status := pod.Status
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = strings.Map(withoutDigits, status.Conditions[i].Message)
	}
	return status
}

func withoutDigits(character rune) rune {
	if unicode.IsDigit(character) {
		return -1
	}
	return character
}

// metaChanged lets pass what a decision reads of a claim or revision.
func metaChanged() predicate.Predicate { return onUpdate(hasMetaChanged) }

func hasMetaChanged(before, after client.Object) bool {
	return before.GetUID() != after.GetUID() ||
		isGoing(before) != isGoing(after) ||
		!equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
		numberOf(before) != numberOf(after)
}

// isGoing tells whether an object is being deleted. Until when does not matter: the node brings it forward as the last thing
// that it does to a pod.
func isGoing(object client.Object) bool { return object.GetDeletionTimestamp() != nil }

// numberOf is the number of a revision; other objects have none.
func numberOf(object client.Object) int64 {
	if revision, ok := object.(*appsv1.ControllerRevision); ok {
		return revision.Revision
	}
	return 0
}

// onUpdate lets creations and deletions pass, and updates if they changed something.
func onUpdate(changed func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		return changed(update.ObjectOld, update.ObjectNew)
	}}
}
