package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

var (
	oursVersion   = v1.GroupVersion.String()
	theirsVersion = appsv1.SchemeGroupVersion.String()
)

// oracle asks the API server about manifests, in both groups.
type oracle struct{ space *cluster.Space }

func newOracle(t testing.TB) *oracle {
	t.Helper()
	space := cluster.Namespace(t)
	admission.Serve(t, space, plan.AllGates())
	return &oracle{space: space}
}

// answer is what the API server says to a manifest.
type answer struct {
	object *unstructured.Unstructured
	err    error
}

func (a answer) accepted() bool { return a.err == nil }

// fields are the paths that a refusal names.
func (a answer) fields() []string {
	var status apierrors.APIStatus
	if !errors.As(a.err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func (a answer) String() string {
	if a.accepted() {
		return "accepted"
	}
	return "refused: " + a.err.Error()
}

// as returns the manifest as an object of one of the groups.
func (o *oracle) as(version string, m manifest) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(m)}
	object.SetAPIVersion(version)
	object.SetKind("StatefulSet")
	object.SetNamespace(o.space.Name)
	return object
}

// create asks whether a new set would be accepted.
func (o *oracle) create(ctx context.Context, version string, m manifest) answer {
	object := o.as(version, m)
	err := o.space.Client.Create(ctx, object, client.DryRunAll, client.FieldValidation("Strict"))
	return answer{object, err}
}

// update stores a set and asks whether it could then be replaced by another.
func (o *oracle) update(t testing.TB, version string, stored, m manifest) answer {
	t.Helper()
	object := o.as(version, stored)
	if err := o.space.Client.Create(o.space.Context, object); err != nil {
		t.Fatalf("storing the set of %s that is to be updated: %v", version, err)
	}
	defer func() {
		if err := o.space.Client.Delete(o.space.Context, object); err != nil {
			t.Errorf("deleting the set of %s that was to be updated: %v", version, err)
		}
	}()
	next := o.as(version, m)
	next.SetResourceVersion(object.GetResourceVersion())
	err := o.space.Client.Update(o.space.Context, next, client.DryRunAll, client.FieldValidation("Strict"))
	return answer{next, err}
}

// compareStored says how two accepted sets differ in what is stored; "" if they agree.
func (o *oracle) compareStored(ctx context.Context, ours, theirs *unstructured.Unstructured) (string, error) {
	if diff := cmp.Diff(outside(theirs), outside(ours)); diff != "" {
		return "outside template and claims (-apps/v1 +ours):\n" + diff, nil
	}
	wantSpec, err := o.normalize(ctx, theirs)
	if err != nil {
		return "", err
	}
	gotSpec, err := o.normalize(ctx, ours)
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(wantSpec, gotSpec, cmpopts.EquateEmpty()); diff != "" {
		return "in the defaulted spec (-apps/v1 +ours):\n" + diff, nil
	}
	return "", nil
}

// outside is the part of the spec that must agree literally.
func outside(object *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	delete(spec, "template")
	delete(spec, "volumeClaimTemplates")
	return spec
}

// normalize reads a spec as one of apps/v1, which fails if anything in it is an extension, and has the API server fill
// in the template.
func (o *oracle) normalize(ctx context.Context, object *unstructured.Unstructured) (*appsv1.StatefulSetSpec, error) {
	raw, err := json.Marshal(object.Object["spec"])
	if err != nil {
		return nil, err
	}
	spec := &appsv1.StatefulSetSpec{}
	if err := json.Unmarshal(raw, spec); err != nil {
		return nil, fmt.Errorf("reading the spec of %s as apps/v1: %w", object.GetAPIVersion(), err)
	}
	template := spec.Template.DeepCopy()
	spec.Template, err = o.defaultTemplate(ctx, template, spec.VolumeClaimTemplates)
	return spec, err
}

// defaultTemplate has the API server fill in a template, which it does for any PodTemplate. What pods never get stays
// out of it: host name and subdomain, which are overwritten, and volumes in whose place a claim comes.
func (o *oracle) defaultTemplate(ctx context.Context, template *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) (corev1.PodTemplateSpec, error) {
	hostname, subdomain := template.Spec.Hostname, template.Spec.Subdomain
	template.Spec.Hostname, template.Spec.Subdomain = "", ""
	own := replaceVolumes(template, claims)
	pods := &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "parity-", Namespace: o.space.Name},
		Template:   *template,
	}
	if err := o.space.Client.Create(ctx, pods, client.DryRunAll); err != nil {
		return corev1.PodTemplateSpec{}, fmt.Errorf("having the API server default the template: %w", err)
	}
	pods.Template.Spec.Hostname, pods.Template.Spec.Subdomain = hostname, subdomain
	pods.Template.Spec.Volumes = pods.Template.Spec.Volumes[:own]
	return pods.Template, nil
}

// replaceVolumes gives the template the volumes that pods have for the claims, since volume mounts refer to them. It
// returns the number of volumes, the first ones, that are the template's own.
func replaceVolumes(template *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) int {
	volumes := slices.DeleteFunc(template.Spec.Volumes, func(volume corev1.Volume) bool {
		return slices.ContainsFunc(claims, func(claim corev1.PersistentVolumeClaim) bool { return claim.Name == volume.Name })
	})
	own := len(volumes)
	for i, claim := range claims {
		earlier := func(c corev1.PersistentVolumeClaim) bool { return c.Name == claim.Name }
		if slices.ContainsFunc(claims[:i], earlier) {
			continue
		}
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}
		volumes = append(volumes, corev1.Volume{Name: claim.Name, VolumeSource: source})
	}
	template.Spec.Volumes = volumes
	return own
}
