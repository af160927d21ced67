package observe

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// The set that a live read finds must be the one observed, not a namesake.
func TestLiveSet(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	namesake := testkit.MakeSet("web").Obj()
	namesake.UID = "another"
	deleting := testkit.MakeSet("web").Deleting().Obj()
	deleting.Finalizers = []string{"test/hold"}
	tests := map[string]struct {
		live         client.Object
		wantNotFound bool
		wantDeleting bool
	}{
		"the same":      {live: set.DeepCopy()},
		"being deleted": {live: deleting, wantDeleting: true},
		"a namesake":    {live: namesake, wantNotFound: true},
		"gone":          {wantNotFound: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.live != nil {
				objects = append(objects, test.live)
			}
			observer := New(Sources{Live: newReader(t, interceptor.Funcs{}, objects...)}, plan.AllGates())
			observation, err := observer.Complete(t.Context(), plan.Observation{Set: set}, plan.LiveReads{Set: true})
			if apierrors.IsNotFound(err) != test.wantNotFound {
				t.Fatalf("error %v, want \"not found\": %v", err, test.wantNotFound)
			}
			if err == nil && (!observation.Live.Set || (observation.Set.DeletionTimestamp != nil) != test.wantDeleting) {
				t.Errorf("live %+v, deletion %v", observation.Live, observation.Set.DeletionTimestamp)
			}
		})
	}
}

// A live list finds pods that the view can't show.
func TestLivePods(t *testing.T) {
	set, other := testkit.MakeSet("web").Obj(), testkit.MakeSet("other").Obj()
	live := newReader(t, interceptor.Funcs{},
		pod("web-0", set), unlabelled(pod("web-1", set)), unlabelled(pod("odd-name", set)), pod("web-2", nil), pod("other-0", other))
	observer := New(Sources{Live: live}, plan.AllGates())
	observation, err := observer.Complete(t.Context(), plan.Observation{Set: set}, plan.LiveReads{Pods: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"odd-name", "web-0", "web-1", "web-2"}, namesOf(observation.Pods)); diff != "" || !observation.Live.Pods {
		t.Errorf("live %+v, pods (-want +got):\n%s", observation.Live, diff)
	}
}

// dryRuns plays the API server's defaults and counts how often it is asked.
type dryRuns struct {
	answer error
	asked  int
}

func (d *dryRuns) hooks() interceptor.Funcs {
	return interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
		d.asked++
		if chosen := (&client.CreateOptions{}).ApplyOptions(options); len(chosen.DryRun) == 0 {
			return apierrors.NewBadRequest("not a dry run")
		}
		object.(*corev1.PodTemplate).Template.Spec.DNSPolicy = corev1.DNSClusterFirst
		return d.answer
	}}
}

// Templates are asked for once per generation and set of revisions, all together.
func TestTemplates(t *testing.T) {
	set := testkit.MakeSet("web").Template("b").Obj()
	revisions := []*appsv1.ControllerRevision{testkit.Revision(set, "a", 1)}
	server := &dryRuns{}
	observer := New(Sources{DryRun: newReader(t, server.hooks()), Now: time.Now}, plan.AllGates())
	ask := func() plan.Observation {
		t.Helper()
		observation, err := observer.Complete(t.Context(), plan.Observation{Set: set, Revisions: revisions}, plan.LiveReads{Templates: true})
		if err != nil {
			t.Fatal(err)
		}
		return observation
	}

	got := ask()
	if got.Defaulted.Spec.Spec.DNSPolicy != corev1.DNSClusterFirst || got.Defaulted.Revisions[revisions[0].Name] == nil || !got.Live.Templates {
		t.Errorf("defaulted %+v, live %+v", got.Defaulted, got.Live)
	}
	if set.Spec.Template.Spec.DNSPolicy != "" {
		t.Error("the set itself was changed")
	}
	if ask(); server.asked != 2 {
		t.Errorf("asked %d times for two templates, want 2", server.asked)
	}
	set.Generation++
	if ask(); server.asked != 4 {
		t.Errorf("asked %d times after a change of the spec, want 4", server.asked)
	}
	revisions = append(revisions, testkit.Revision(set, "c", 2))
	if ask(); server.asked != 7 {
		t.Errorf("asked %d times after a new revision, want 7", server.asked)
	}
	observer.Forget(client.ObjectKeyFromObject(set))
	if ask(); server.asked != 10 {
		t.Errorf("asked %d times after the set was forgotten, want 10", server.asked)
	}
}

// A template that mounts its claims is only valid together with their volumes.
func TestTemplatesHaveTheVolumesOfClaims(t *testing.T) {
	set := testkit.MakeSet("web").Claims("data").Obj()
	server := &dryRuns{}
	observer := New(Sources{DryRun: newReader(t, server.hooks()), Now: time.Now}, plan.AllGates())
	observation := plan.Observation{Set: set, Revisions: []*appsv1.ControllerRevision{testkit.Revision(set, "b", 1)}}
	got, err := observer.Complete(t.Context(), observation, plan.LiveReads{Templates: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range []*corev1.PodTemplateSpec{got.Defaulted.Spec, got.Defaulted.Revisions[observation.Revisions[0].Name]} {
		if volumes := template.Spec.Volumes; len(volumes) != 1 || volumes[0].Name != "data" || volumes[0].PersistentVolumeClaim == nil {
			t.Errorf("the API server was asked about a template with the volumes %v", volumes)
		}
	}
	if len(set.Spec.Template.Spec.Volumes) > 0 {
		t.Error("the set itself was changed")
	}
}

// A refusal leaves the template out; trouble is an error, to be retried.
func TestTemplatesRefused(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	tests := map[string]struct {
		answer  error
		wantErr bool
	}{
		"invalid":   {answer: apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PodTemplate").GroupKind(), "", nil)},
		"forbidden": {answer: apierrors.NewForbidden(corev1.Resource("podtemplates"), "", nil)},
		"trouble":   {answer: apierrors.NewServiceUnavailable("try later"), wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := &dryRuns{answer: test.answer}
			observer := New(Sources{DryRun: newReader(t, server.hooks())}, plan.AllGates())
			observation, err := observer.Complete(t.Context(), plan.Observation{Set: set}, plan.LiveReads{Templates: true})
			if (err != nil) != test.wantErr {
				t.Fatalf("error %v, want one: %v", err, test.wantErr)
			}
			if err == nil && (observation.Defaulted.Spec != nil || !observation.Live.Templates) {
				t.Errorf("defaulted %+v, live %+v", observation.Defaulted, observation.Live)
			}
		})
	}
}
