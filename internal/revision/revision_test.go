package revision

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(30)),
			Containers: []corev1.Container{{
				Name:    "main",
				Image:   image,
				Command: []string{"sh", "-c", "a < b && c"},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
				},
			}},
		},
	}
}

func mustData(t *testing.T, template corev1.PodTemplateSpec) []byte {
	t.Helper()
	data, err := Data(&template)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDataIsThatOfTheBuiltInController pins the bytes: a change of them makes
// adopted histories unrecognizable and restarts pods.
func TestDataIsThatOfTheBuiltInController(t *testing.T) {
	want := `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},` +
		`"spec":{"containers":[{"command":["sh","-c","a \u003c b \u0026\u0026 c"],"image":"web:1","name":"main",` +
		`"resources":{"requests":{"memory":"64Mi"}}}],"terminationGracePeriodSeconds":30}}}}`
	if diff := cmp.Diff(want, string(mustData(t, template("web:1")))); diff != "" {
		t.Errorf("Data (-want +got):\n%s", diff)
	}
}

// TestHashIsPinned pins names: a change of them makes pods look outdated. The
// function was checked against names that kube-controller-manager had given.
func TestHashIsPinned(t *testing.T) {
	for image, want := range map[string]string{"web:1": "66fffb4848", "web:2": "74779747c9"} {
		if got := Hash(mustData(t, template(image)), 0); got != want {
			t.Errorf("the hash of the template with image %s is %q, want %q", image, got, want)
		}
	}
}

func TestCollisionCountChangesTheName(t *testing.T) {
	data := mustData(t, template("web:1"))
	if Hash(data, 0) == Hash(data, 1) {
		t.Error("the collision count does not change the hash")
	}
}

func TestTemplateInvertsData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := template(rapid.String().Draw(t, "image"))
		want.Annotations = rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "annotations")
		if len(want.Annotations) == 0 {
			want.Annotations = nil
		}
		data, err := Data(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Template(&appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: data}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Fatalf("Template(Data(t)) (-want +got):\n%s", diff)
		}
	})
}

func TestTemplateErrors(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"not JSON":    {`{`, "read the pod template of revision web-1: "},
		"no template": {`{"spec":{}}`, "read the pod template of revision web-1: its data has none"},
		"empty":       {``, "read the pod template of revision web-1: "},
	} {
		t.Run(name, func(t *testing.T) {
			revision := &appsv1.ControllerRevision{
				ObjectMeta: metav1.ObjectMeta{Name: "web-1"},
				Data:       runtime.RawExtension{Raw: []byte(test.data)},
			}
			_, err := Template(revision)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Template error = %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestNew(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "u1",
		Annotations: map[string]string{"kubernetes.io/change-cause": "image web:2", corev1.LastAppliedConfigAnnotation: "{…}"},
	}}
	set.Spec.Template = template("web:2")
	data := mustData(t, set.Spec.Template)
	hash := Hash(data, 3)
	want := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   "shop",
			Name:        "web-" + hash,
			Labels:      map[string]string{"app": "web", HashLabel: hash},
			Annotations: map[string]string{"kubernetes.io/change-cause": "image web:2"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.rollcall.dev/v1", Kind: "StatefulSet", Name: "web", UID: "u1",
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: 7,
	}
	if diff := cmp.Diff(want, New(set, data, 7, 3)); diff != "" {
		t.Errorf("New (-want +got):\n%s", diff)
	}
}

func TestNameFitsForTheLongestSet(t *testing.T) {
	if got := len(Name(strings.Repeat("a", 253), "4294967295")); got > 253 {
		t.Errorf("the name has %d characters", got)
	}
}

func TestIsNamedAfter(t *testing.T) {
	for name, want := range map[string]bool{
		"web-66fffb4848": true, "web-": false, "web": false, "web-db-66fffb4848": false, "db-66fffb4848": false,
	} {
		if got := IsNamedAfter("web", name); got != want {
			t.Errorf("IsNamedAfter(web, %s) = %t, want %t", name, got, want)
		}
	}
}

// numbered makes a revision that is told apart by its name.
func numbered(name string, number int64, age time.Duration) *appsv1.ControllerRevision {
	created := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age))
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: created},
		Revision:   number,
	}
}

func names(revisions []*appsv1.ControllerRevision) []string {
	var names []string
	for _, revision := range revisions {
		names = append(names, revision.Name)
	}
	return names
}

func TestSorted(t *testing.T) {
	given := []*appsv1.ControllerRevision{
		numbered("e", 3, 0), numbered("d", 2, 0), numbered("c", 2, 0), numbered("b", 2, time.Hour), numbered("a", 9, time.Hour),
	}
	if diff := cmp.Diff([]string{"b", "c", "d", "e", "a"}, names(Sorted(given))); diff != "" {
		t.Errorf("Sorted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"e", "d", "c", "b", "a"}, names(given)); diff != "" {
		t.Errorf("Sorted changed its argument (-want +got):\n%s", diff)
	}
}

func TestNextNumber(t *testing.T) {
	if got := NextNumber(nil); got != 1 {
		t.Errorf("the first number is %d, want 1", got)
	}
	if got := NextNumber([]*appsv1.ControllerRevision{numbered("a", 1, 0), numbered("b", 5, 0)}); got != 6 {
		t.Errorf("the number after 5 is %d", got)
	}
	if got := NextNumber([]*appsv1.ControllerRevision{numbered("a", math.MaxInt64, 0)}); got != math.MaxInt64 {
		t.Errorf("the number after the highest is %d", got)
	}
}

func TestExcess(t *testing.T) {
	sorted := []*appsv1.ControllerRevision{numbered("a", 1, 0), numbered("b", 2, 0), numbered("c", 3, 0), numbered("d", 4, 0)}
	tests := map[string]struct {
		live  string
		limit int
		want  []string
	}{
		"within the limit":         {"d", 3, nil},
		"oldest go first":          {"d", 1, []string{"a", "b"}},
		"live ones do not count":   {"ad", 1, []string{"b"}},
		"none may stay":            {"d", 0, []string{"a", "b", "c"}},
		"all live":                 {"abcd", 0, nil},
		"negative limit keeps all": {"d", -1, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			isLive := func(name string) bool { return strings.Contains(test.live, name) }
			if diff := cmp.Diff(test.want, names(Excess(sorted, isLive, test.limit))); diff != "" {
				t.Errorf("Excess (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCouldMean(t *testing.T) {
	change := func(edit func(*corev1.PodTemplateSpec)) *corev1.PodTemplateSpec {
		changed := template("web:1")
		edit(&changed)
		return &changed
	}
	tests := map[string]struct {
		template *corev1.PodTemplateSpec
		want     bool
	}{
		"the same":             {change(func(*corev1.PodTemplateSpec) {}), true},
		"a default spelt out":  {change(func(t *corev1.PodTemplateSpec) { t.Spec.RestartPolicy = corev1.RestartPolicyAlways }), true},
		"another image":        {change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "other" }), false},
		"another container":    {change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Name = "other" }), false},
		"one container more":   {change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers = append(t.Spec.Containers, corev1.Container{}) }), false},
		"an init container":    {change(func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers = []corev1.Container{{Name: "init"}} }), false},
		"restarted on request": {change(func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"restartedAt": "now"} }), false},
		"another label":        {change(func(t *corev1.PodTemplateSpec) { t.Labels = map[string]string{"tier": "other"} }), false},
	}
	recorded := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: mustData(t, template("web:1"))}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CouldMean([]*appsv1.ControllerRevision{recorded}, test.template); got != test.want {
				t.Errorf("could mean the same: %v, want %v", got, test.want)
			}
		})
	}
}
