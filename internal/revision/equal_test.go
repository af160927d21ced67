package revision

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func recorded(name string, number int64, data string) *appsv1.ControllerRevision {
	revision := numbered(name, number, 0)
	revision.Data = runtime.RawExtension{Raw: []byte(data)}
	return revision
}

func nameOrNone(revision *appsv1.ControllerRevision) string {
	if revision == nil {
		return "none"
	}
	return revision.Name
}

func TestFindData(t *testing.T) {
	sorted := []*appsv1.ControllerRevision{recorded("a", 1, "x"), recorded("b", 2, "x"), recorded("c", 3, "y")}
	for data, want := range map[string]string{"x": "b", "y": "c", "z": "none"} {
		if got := nameOrNone(FindData(sorted, []byte(data))); got != want {
			t.Errorf("FindData(%q) = %s, want %s", data, got, want)
		}
	}
}

func TestFindMeaning(t *testing.T) {
	plain, other := template("web:1"), template("web:2")
	defaulted := *plain.DeepCopy()
	defaulted.Spec.RestartPolicy = corev1.RestartPolicyAlways
	withNull := `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},` +
		`"spec":{"containers":[{"name":"main","image":"web:1","command":["sh","-c","a < b && c"],` +
		`"resources":{"requests":{"memory":"64Mi"}}}],"terminationGracePeriodSeconds":30}}}}`
	tests := map[string]struct {
		data   string
		wanted Wanted
		want   string
	}{
		"written by another version": {withNull, Wanted{Template: &plain}, "a"},
		"another template":           {withNull, Wanted{Template: &other}, "none"},
		"unreadable":                 {"{", Wanted{Template: &plain}, "none"},
		"defaults not known":         {string(mustData(t, defaulted)), Wanted{Template: &plain}, "none"},
		"re-applied without defaults": {
			string(mustData(t, defaulted)),
			Wanted{&plain, &defaulted, map[string]*corev1.PodTemplateSpec{"a": &defaulted}},
			"a",
		},
		"different after defaulting": {
			string(mustData(t, plain)),
			Wanted{&plain, &defaulted, map[string]*corev1.PodTemplateSpec{"a": &other}},
			"none",
		},
		"defaults known of one side only": {
			string(mustData(t, defaulted)), Wanted{&plain, &defaulted, nil}, "none",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sorted := []*appsv1.ControllerRevision{recorded("a", 1, test.data)}
			if got := nameOrNone(FindMeaning(sorted, test.wanted)); got != test.want {
				t.Errorf("FindMeaning = %s, want %s", got, test.want)
			}
		})
	}
}

func TestFindMeaningPrefersTheNewest(t *testing.T) {
	data := string(mustData(t, template("web:1")))
	sorted := []*appsv1.ControllerRevision{recorded("a", 1, data), recorded("b", 2, data)}
	wanted := template("web:1")
	if got := nameOrNone(FindMeaning(sorted, Wanted{Template: &wanted})); got != "b" {
		t.Errorf("FindMeaning = %s, want b", got)
	}
}
