package execute

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// fields is a piece of JSON.
type fields = map[string]any

// change is a patch and the object it goes to.
type change struct {
	object   client.Object
	resource schema.GroupResource
	kind     types.PatchType
	data     []byte
}

// changeFor returns the patch that carries out an action. Every patch names the
// UID of its object, so that it is refused if another one has the name by now.
func changeFor(action plan.Action) (change, error) {
	switch a := action.(type) {
	case plan.AdoptPod:
		return strategic(blankPod(a.Pod), a.Pod, fields{"ownerReferences": []any{a.Owner}})
	case plan.AdoptRevision:
		return strategic(blankRevision(a.Revision), a.Revision, fields{"ownerReferences": []any{a.Owner}})
	case plan.ReleasePod:
		return strategic(blankPod(a.Pod), a.Pod, fields{"ownerReferences": []any{withoutController(a.Pod)}})
	case plan.UpdatePod:
		return merge(blankPod(a.Pod), fields{"metadata": fields{"uid": a.Pod.UID, "labels": a.Labels}})
	case plan.UpdateClaimOwner:
		return merge(&corev1.PersistentVolumeClaim{ObjectMeta: identityOf(a.Claim)}, fields{"metadata": fields{
			"uid":             a.Claim.UID,
			"resourceVersion": a.Claim.ResourceVersion,
			"ownerReferences": ownersOrNone(a.Owners),
		}})
	case plan.BumpRevision:
		return merge(blankRevision(a.Revision), fields{"metadata": fields{"uid": a.Revision.UID}, "revision": a.Number})
	default:
		return change{}, fmt.Errorf("no patch is known for a %T", action)
	}
}

// withoutController removes the one owner that is the controller and leaves the others.
func withoutController(pod *corev1.Pod) fields {
	removal := fields{"$patch": "delete"}
	if controller := metav1.GetControllerOfNoCopy(pod); controller != nil {
		removal["uid"] = controller.UID
	}
	return removal
}

// ownersOrNone makes "no owners" an empty list: a merge patch takes null for
// "remove" and a missing list for "leave".
func ownersOrNone(owners []metav1.OwnerReference) []metav1.OwnerReference {
	if owners == nil {
		return []metav1.OwnerReference{}
	}
	return owners
}

func blankRevision(revision *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: identityOf(revision)}
}

// strategic makes a patch of metadata that adds to and removes from lists by
// key, so that owners added by others in between stay.
func strategic(object client.Object, observed metav1.Object, meta fields) (change, error) {
	meta["uid"] = observed.GetUID()
	return encode(object, types.StrategicMergePatchType, fields{"metadata": meta})
}

// merge makes a patch that replaces what it names.
func merge(object client.Object, patch fields) (change, error) {
	return encode(object, types.MergePatchType, patch)
}

func encode(object client.Object, kind types.PatchType, patch fields) (change, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		return change{}, fmt.Errorf("encode the patch: %w", err)
	}
	return change{object: object, resource: resourceOf(object), kind: kind, data: data}, nil
}

// resourceOf is what errors call objects of a kind.
func resourceOf(object client.Object) schema.GroupResource {
	switch object.(type) {
	case *appsv1.ControllerRevision:
		return appsv1.Resource("controllerrevisions")
	case *corev1.PersistentVolumeClaim:
		return corev1.Resource("persistentvolumeclaims")
	default:
		return corev1.Resource("pods")
	}
}
