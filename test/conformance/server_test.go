package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/simulation"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// server is the side of the real API server, with the garbage collector of
// kube-controller-manager beside it.
type server struct {
	space    *cluster.Space
	executor *execute.Executor
	// model tells what a user wants: the spec after an edit is what users write.
	model *model
	// node is where pods run. No kubelet serves it: the test does.
	node string
	// stranger is the owner of pods that are not ours.
	stranger metav1.OwnerReference
	views    []simulation.Store
	artist   *artist
}

func newServer(t *testing.T, space *cluster.Space, model *model) *server {
	t.Helper()
	s := &server{space: space, model: model, node: "conformance-" + space.Name, artist: newArtist()}
	s.executor = execute.New(execute.Targets{Writer: space.Client, Live: space.Client, Events: &events.FakeRecorder{}, Now: time.Now})
	s.makeNode(t)
	s.makeStranger(t)
	if err := s.makeSet(); err != nil {
		t.Fatal(err)
	}
	view, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	s.views = []simulation.Store{view}
	return s
}

// makeNode makes a node that seems to be alive as long as the test lasts: its
// lease is renewed far into the future.
func (s *server) makeNode(t *testing.T) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.node}}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: s.node},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &s.node, LeaseDurationSeconds: new(int32(3600)), RenewTime: &metav1.MicroTime{Time: time.Now().Add(time.Hour)},
		},
	}
	for _, object := range []client.Object{node, lease} {
		if err := s.space.Client.Create(s.space.Context, object); err != nil {
			t.Fatalf("make a node: %v", err)
		}
		t.Cleanup(func() {
			if err := s.space.Client.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
				t.Errorf("remove the node: %v", err)
			}
		})
	}
}

// makeStranger makes the owner of other people's pods.
func (s *server) makeStranger(t *testing.T) {
	t.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.space.Name, Name: "other"}}
	if err := s.space.Client.Create(s.space.Context, owner); err != nil {
		t.Fatalf("make a stranger: %v", err)
	}
	s.stranger = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)}
	s.artist.aliases[owner.UID] = "other"
}

// makeSet creates the set as the model has it.
func (s *server) makeSet() error {
	wanted := s.model.world.Truth.Set
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.space.Name, Name: wanted.Name},
		Spec:       *wanted.Spec.DeepCopy(),
	}
	if err := s.space.Client.Create(s.space.Context, set); err != nil {
		return fmt.Errorf("create the set: %w", err)
	}
	return nil
}

// read returns all objects as the model has them.
func (s *server) read() (simulation.Store, error) {
	var sets v1.StatefulSetList
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	var revisions appsv1.ControllerRevisionList
	for _, list := range []client.ObjectList{&sets, &pods, &claims, &revisions} {
		if err := s.space.Client.List(s.space.Context, list, client.InNamespace(s.space.Name)); err != nil {
			return simulation.Store{}, fmt.Errorf("read the objects: %w", err)
		}
	}
	store := simulation.Store{Pods: byName(pods.Items), Claims: byName(claims.Items), Revisions: byName(revisions.Items)}
	for _, claim := range store.Claims {
		withoutProtection(claim)
	}
	if len(sets.Items) > 0 {
		store.Set = &sets.Items[0]
	}
	return store, nil
}

func (s *server) picture() ([]string, error) {
	store, err := s.read()
	return s.artist.draw(store), err
}

func (s *server) remember() error {
	store, err := s.read()
	s.views = append(s.views, store)
	s.artist.sign(store)
	return err
}

func (s *server) play(c command) (string, error) {
	if c.write == "" {
		return "", s.happen(c.step)
	}
	seen := s.views[max(0, len(s.views)-1-c.age)]
	todo, status := plan.Plan{}, v1.StatefulSetStatus{}
	set := seen.Set
	if c.write == statusWrite {
		status = statusOf(set, c)
	} else {
		if set == nil {
			set = &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.space.Name, Name: "web"}}
		}
		status = set.Status
		todo.Steps = []plan.Step{{Pace: plan.InTurn, Lanes: []plan.Lane{{writes[c.write](seen, c)}}}}
	}
	outcome := s.executor.Run(s.space.Context, set, todo, func([]plan.Failure) v1.StatefulSetStatus { return status })
	return classOfOutcome(outcome), nil
}

func classOfOutcome(outcome execute.Outcome) string {
	if len(outcome.Failures) > 0 {
		return classOf(outcome.Failures[0].Err)
	}
	return classOf(outcome.StatusErr)
}

// awaitCollector waits until the garbage collector has dealt with something that
// came after all else.
func (s *server) awaitCollector(t *testing.T) {
	t.Helper()
	last := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.space.Name, Name: "last",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"}},
	}}
	if err := s.space.Client.Create(s.space.Context, last); err != nil {
		t.Fatal(err)
	}
	s.space.Eventually(t, "the garbage collector has seen everything", func(ctx context.Context) error {
		err := s.space.Client.Get(ctx, client.ObjectKeyFromObject(last), last)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it has not: %w", err)
	})
}
