package webhook

import (
	jsonpatch "gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// keepSpelling restores the stored value of an immutable field that was sent in other words: 1024Mi for 1Gi, an empty
// list for none. apps/v1 compares meanings; the CRD's rule compares values and would refuse.
func keepSpelling(set, stored object) []jsonpatch.JsonPatchOperation {
	var patch []jsonpatch.JsonPatchOperation
	for _, field := range []struct {
		path []string
		same func(a, b any) bool
	}{
		{[]string{"spec", "selector"}, sameMeaning[metav1.LabelSelector]},
		{[]string{"spec", "volumeClaimTemplates"}, sameClaims},
	} {
		sent, isSent := lookup(set, field.path...)
		kept, isStored := lookup(stored, field.path...)
		if isSent && isStored && !equality.Semantic.DeepEqual(sent, kept) && field.same(sent, kept) {
			patch = append(patch, replace(kept, field.path...))
		}
	}
	return patch
}

// sameClaims compares claim templates by what becomes of them; their apiVersion and kind play no part.
func sameClaims(a, b any) bool {
	left, okLeft := decodeAs[[]corev1.PersistentVolumeClaim](a)
	right, okRight := decodeAs[[]corev1.PersistentVolumeClaim](b)
	for _, claims := range [][]corev1.PersistentVolumeClaim{left, right} {
		for i := range claims {
			claims[i].TypeMeta = metav1.TypeMeta{}
		}
	}
	return okLeft && okRight && equality.Semantic.DeepEqual(left, right)
}

func sameMeaning[T any](a, b any) bool {
	left, okLeft := decodeAs[T](a)
	right, okRight := decodeAs[T](b)
	return okLeft && okRight && equality.Semantic.DeepEqual(left, right)
}

// decodeAs reads a part of an object as a Go type.
func decodeAs[T any](value any) (T, bool) {
	var typed T
	raw, err := json.Marshal(value)
	if err != nil {
		return typed, false
	}
	return typed, json.Unmarshal(raw, &typed) == nil
}
