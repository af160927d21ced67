// Package scenario tells what happens to a set as a story: given a set, when
// somebody does this, then that can be seen.
//
//	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
//	story.ThenReady(3)
//	story.When(scenario.Image("web:2"))
//	story.ThenUpdated(3)
//	story.ThenTape("create web-0 r1", …)
//
// The same story can be played by the built-in controller with apps/v1, and by
// ours. Everything goes through the API server; nothing is mocked.
package scenario

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// AtOnce is how many stories are told at the same time unless -test.parallel
// says otherwise. Stories wait for most of their time. TestMain calls it.
func AtOnce(stories int) {
	if err := flag.Set("test.parallel", strconv.Itoa(stories)); err != nil {
		panic(fmt.Sprintf("setting a flag of package testing: %v", err))
	}
}

// Controller is who plays a set: the API version that its manifest names.
type Controller string

const (
	// BuiltIn is the controller of Kubernetes itself.
	BuiltIn Controller = "apps/v1"
	// Rollcall is ours.
	Rollcall Controller = "apps.rollcall.dev/v1"
)

// SetName is the name of the set that every story is about.
const SetName = "web"

// Story is what happens to one set in a namespace of its own.
type Story struct {
	*cluster.Space
	t    testing.TB
	by   Controller
	tape *tape
}

// Given starts a story with a set that is created as edited.
func Given(t testing.TB, by Controller, edits ...Edit) *Story {
	t.Helper()
	story := Prepare(t, by)
	story.Create(edits...)
	return story
}

// Prepare starts a story without a set.
func Prepare(t testing.TB, by Controller) *Story {
	t.Helper()
	story := PrepareUnattended(t, by)
	if by == Rollcall {
		RunOperator(t, story.Space)
	}
	return story
}

// PrepareUnattended starts a story without a set and without starting an
// operator: who tells it runs one.
func PrepareUnattended(t testing.TB, by Controller) *Story {
	t.Helper()
	space := cluster.Namespace(t, cluster.Nodes)
	story := &Story{Space: space, t: t, by: by}
	story.Eventually(t, "the namespace takes pods", func(ctx context.Context) error {
		return space.Client.Get(ctx, client.ObjectKey{Namespace: space.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
	story.tape = record(t, space)
	return story
}

// Create creates the set.
func (s *Story) Create(edits ...Edit) {
	s.t.Helper()
	if err := s.Client.Create(s.Context, s.encode(NewSet(s.Name, SetName, edits...))); err != nil {
		s.t.Fatalf("creating the set: %v", err)
	}
}

// When edits the set.
func (s *Story) When(edits ...Edit) {
	s.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		set, err := s.read(s.Context)
		if err != nil {
			return err
		}
		for _, edit := range edits {
			edit(set)
		}
		return s.Client.Update(s.Context, s.encode(set))
	})
	if err != nil {
		s.t.Fatalf("editing the set: %v", err)
	}
}

// Set returns the set as stored.
func (s *Story) Set() *v1.StatefulSet {
	s.t.Helper()
	set, err := s.read(s.Context)
	if err != nil {
		s.t.Fatalf("reading the set: %v", err)
	}
	return set
}

func (s *Story) read(ctx context.Context) (*v1.StatefulSet, error) {
	stored := s.blank()
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
		return nil, err
	}
	set := &v1.StatefulSet{}
	return set, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, set)
}

// blank names the set.
func (s *Story) blank() *unstructured.Unstructured {
	set := &unstructured.Unstructured{}
	set.SetAPIVersion(string(s.by))
	set.SetKind(v1.Kind.Kind)
	set.SetNamespace(s.Name)
	set.SetName(SetName)
	return set
}

// encode writes the set down for the controller that plays it: the one line that
// differs is apiVersion.
func (s *Story) encode(set *v1.StatefulSet) *unstructured.Unstructured {
	s.t.Helper()
	set.APIVersion, set.Kind = string(s.by), v1.Kind.Kind
	data, err := json.Marshal(set)
	if err != nil {
		s.t.Fatalf("encoding the set: %v", err)
	}
	encoded := &unstructured.Unstructured{}
	if err := encoded.UnmarshalJSON(data); err != nil {
		s.t.Fatalf("encoding the set: %v", err)
	}
	return encoded
}

// Scale sets replicas by the scale subresource, as `kubectl scale` does.
func (s *Story) Scale(replicas int32) {
	s.t.Helper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	err := s.Client.SubResource("scale").Patch(s.Context, s.blank(), client.RawPatch("application/merge-patch+json", []byte(patch)))
	if err != nil {
		s.t.Fatalf("scaling the set: %v", err)
	}
}

// Delete deletes the set; its pods fare as the policy says.
func (s *Story) Delete(policy metav1.DeletionPropagation) {
	s.t.Helper()
	if err := s.Client.Delete(s.Context, s.blank(), client.PropagationPolicy(policy)); err != nil {
		s.t.Fatalf("deleting the set: %v", err)
	}
}

// As continues the story with another controller. The tape goes on.
func (s *Story) As(by Controller) *Story {
	s.t.Helper()
	if by == Rollcall {
		RunOperator(s.t, s.Space)
	}
	continued := *s
	continued.by = by
	return &continued
}
