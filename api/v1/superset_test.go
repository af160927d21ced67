package v1_test

import (
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// TestTypesAreASuperset: every field of apps/v1 is there under the same JSON name. A Kubernetes upgrade that brings a new
// one fails here.
func TestTypesAreASuperset(t *testing.T) {
	tests := map[string]struct{ theirs, ours any }{
		"spec":             {appsv1.StatefulSetSpec{}, v1.StatefulSetSpec{}},
		"status":           {appsv1.StatefulSetStatus{}, v1.StatefulSetStatus{}},
		"update strategy":  {appsv1.StatefulSetUpdateStrategy{}, v1.UpdateStrategy{}},
		"rolling update":   {appsv1.RollingUpdateStatefulSetStrategy{}, v1.RollingUpdate{}},
		"ordinals":         {appsv1.StatefulSetOrdinals{}, v1.Ordinals{}},
		"retention policy": {appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}, v1.PersistentVolumeClaimRetentionPolicy{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ours := jsonNames(test.ours)
			for field := range jsonNames(test.theirs) {
				if !ours[field] {
					t.Errorf("apps/v1 has the field %s, ours has not", field)
				}
			}
		})
	}
}

func jsonNames(value any) map[string]bool {
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}
