package cli

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// pointer is a kind whose objects name the set that they act on by its API version. Budgets and services don't: they
// select pods.
type pointer struct {
	kind schema.GroupVersionKind
	// resource is how kubectl calls it.
	resource string
	// field of spec that names the set.
	field string
}

var pointerKinds = []pointer{
	{schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}, "hpa", "scaleTargetRef"},
	{schema.GroupVersionKind{Group: "autoscaling.k8s.io", Version: "v1", Kind: "VerticalPodAutoscaler"}, "vpa", "targetRef"},
	{schema.GroupVersionKind{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"}, "scaledobject", "scaleTargetRef"},
}

// pointers says which objects have to be pointed to the set under its new API version, and how.
func (m *mover) pointers(ctx context.Context, set metav1.Object, apiVersion string) []string {
	var notes []string
	for _, kind := range pointerKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.kind)
		err := m.client.List(ctx, list, client.InNamespace(set.GetNamespace()))
		switch {
		case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
			continue // the cluster has no such kind
		case err != nil:
			notes = append(notes, fmt.Sprintf("warning: whether a %s points to %s could not be seen: %s", kind.kind.Kind, set.GetName(), oneLine(rootMessage(err))))
		}
		for i := range list.Items {
			if kind.pointsTo(&list.Items[i], set.GetName(), apiVersion) {
				notes = append(notes, kind.note(&list.Items[i], apiVersion))
			}
		}
	}
	return notes
}

// pointsTo tells whether an object names the set under the API version that it had so far.
func (k pointer) pointsTo(object *unstructured.Unstructured, name, apiVersion string) bool {
	ref, _, _ := unstructured.NestedStringMap(object.Object, "spec", k.field)
	groups := []string{appsv1.GroupName, v1.GroupName}
	group, err := schema.ParseGroupVersion(ref["apiVersion"])
	return err == nil && ref["name"] == name && ref["kind"] == v1.Kind.Kind &&
		ref["apiVersion"] != apiVersion && slices.Contains(groups, group.Group)
}

func (k pointer) note(object *unstructured.Unstructured, apiVersion string) string {
	command := fmt.Sprintf(`kubectl patch %s %s -n %s --type=merge -p '{"spec":{%q:{"apiVersion":%q}}}'`,
		k.resource, object.GetName(), object.GetNamespace(), k.field, apiVersion)
	return fmt.Sprintf("warning: %s %s acts on the set by its API version: point it there afterwards with\n  %s",
		k.kind.Kind, object.GetName(), command)
}
