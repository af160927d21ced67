package webhook

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// asked answers the dry-run of a PodTemplate.
type asked func(ctx context.Context, template *corev1.PodTemplate) error

// checkerThat returns a checker whose API server answers as given.
func checkerThat(t *testing.T, answer asked) *TemplateChecker {
	t.Helper()
	funcs := interceptor.Funcs{
		Create: func(ctx context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
			applied := (&client.CreateOptions{}).ApplyOptions(options)
			if len(applied.DryRun) == 0 {
				t.Error("the template was created for real")
			}
			return answer(ctx, object.(*corev1.PodTemplate))
		},
	}
	return &TemplateChecker{client: interceptor.NewClient(nil, funcs), timeout: 50 * time.Millisecond}
}

func setWithImage(image string) *v1.StatefulSet {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: image}}
	set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "tmp"}, {Name: "data"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{
		{ObjectMeta: metav1.ObjectMeta{Name: "log"}}, {ObjectMeta: metav1.ObjectMeta{Name: "data"}},
	}
	return set
}

func invalid(paths ...string) error {
	var errs field.ErrorList
	for _, path := range paths {
		errs = append(errs, field.Required(field.NewPath(path), ""))
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "rollcall-x", errs)
}

func TestCheckRefusals(t *testing.T) {
	const image = "template.spec.containers[0].image"
	refuseEmpty := func(_ context.Context, template *corev1.PodTemplate) error {
		if template.Template.Spec.Containers[0].Image == "" {
			return invalid(image)
		}
		return nil
	}
	tests := map[string]struct {
		answer       asked
		set, stored  *v1.StatefulSet
		wantFields   []string
		wantWarnings []string
	}{
		"valid":                 {answer: refuseEmpty, set: setWithImage("a")},
		"invalid":               {answer: refuseEmpty, set: setWithImage(""), wantFields: []string{"spec." + image}},
		"update to invalid":     {answer: refuseEmpty, set: setWithImage(""), stored: setWithImage("a"), wantFields: []string{"spec." + image}},
		"update of other parts": {answer: func(context.Context, *corev1.PodTemplate) error { panic("asked about a template that did not change") }, set: setWithImage(""), stored: setWithImage("")},
		"update of an invalid one": {
			answer: func(context.Context, *corev1.PodTemplate) error { return invalid(image) },
			set:    setWithImage("a"), stored: setWithImage("b"),
			wantWarnings: []string{"accepted although invalid"},
		},
		"claims have paths of their own": {
			answer: func(context.Context, *corev1.PodTemplate) error {
				return invalid("template.spec.volumes[0].name", "template.spec.volumes[1].ephemeral.volumeClaimTemplate.spec.accessModes", "template.spec.volumes[2].name")
			},
			set:        setWithImage("a"),
			wantFields: []string{"spec.template.spec.volumes[0].name", "spec.volumeClaimTemplates[1].spec.accessModes", "spec.volumeClaimTemplates[0].metadata.name"},
		},
		"quota": {
			answer: func(context.Context, *corev1.PodTemplate) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "podtemplates"}, "x", http.ErrNotSupported)
			},
			set:          setWithImage("a"),
			wantWarnings: []string{"accepted unchecked"},
		},
		"refusal about something else": {
			answer:       func(context.Context, *corev1.PodTemplate) error { return invalid("metadata.name") },
			set:          setWithImage("a"),
			wantWarnings: []string{"accepted unchecked"},
		},
		"slow API server": {
			answer: func(ctx context.Context, _ *corev1.PodTemplate) error {
				<-ctx.Done()
				return ctx.Err()
			},
			set:          setWithImage("a"),
			wantWarnings: []string{"deadline exceeded"},
		},
		"warnings are handed on": {
			answer: func(ctx context.Context, _ *corev1.PodTemplate) error {
				warningRouter{}.HandleWarningHeaderWithContext(ctx, 299, "", "template.spec.containers[0]: old-fashioned")
				warningRouter{}.HandleWarningHeaderWithContext(ctx, 299, "", "would violate PodSecurity: a: b")
				return nil
			},
			set:          setWithImage("a"),
			wantWarnings: []string{"spec.template.spec.containers[0]: old-fashioned", "would violate PodSecurity: a: b"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			verdict := checkerThat(t, test.answer).Check(t.Context(), test.set, test.stored)
			var fields []string
			for _, cause := range verdict.Causes {
				fields = append(fields, cause.Field)
			}
			if diff := cmp.Diff(test.wantFields, fields); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
			if len(verdict.Warnings) != len(test.wantWarnings) {
				t.Fatalf("warnings %q, want %d", verdict.Warnings, len(test.wantWarnings))
			}
			for i, want := range test.wantWarnings {
				if !strings.Contains(verdict.Warnings[i], want) {
					t.Errorf("warning %q, want one with %q", verdict.Warnings[i], want)
				}
			}
		})
	}
}

func TestProbeIsWhatPodsGet(t *testing.T) {
	set := setWithImage("a")
	set.Spec.Template.Spec.Hostname, set.Spec.Template.Spec.Subdomain = "Bad_Host", "Bad_Domain"
	tests := map[string]struct {
		checkClaims bool
		want        func(name string) corev1.VolumeSource
	}{
		"new set: claims are judged": {
			checkClaims: true,
			want: func(string) corev1.VolumeSource {
				return corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}
			},
		},
		"update: claims are just there": {
			want: func(name string) corev1.VolumeSource {
				return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			probed := newProbe(set, test.checkClaims)
			got := probed.podTemplate()
			want := []corev1.Volume{
				{Name: "tmp"},
				{Name: "data", VolumeSource: test.want("data")},
				{Name: "log", VolumeSource: test.want("log")},
			}
			if diff := cmp.Diff(want, got.Template.Spec.Volumes); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
			if got.Template.Spec.Hostname != "" || got.Template.Spec.Subdomain != "" {
				t.Error("host name and subdomain are shown to the API server although pods don't get them")
			}
			if got.Namespace != "shop" {
				t.Errorf("asked in namespace %q, want that of the set", got.Namespace)
			}
		})
	}
}
