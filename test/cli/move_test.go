package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// moving is a set of apps/v1 at rest, about to be moved, and what must not change on the way.
type moving struct {
	*scenario.Story
	t    *testing.T
	user *user
	// uids are those of pods and claims, by name.
	uids map[string]types.UID
	// revisions are the names of all there are and which of them pods bear.
	revisions map[string]int
	tape      int
}

// given starts with a set of apps/v1 with pods that are all available, and with the operator at work.
func givenBuiltIn(t *testing.T, replicas int32, edits ...scenario.Edit) *moving {
	t.Helper()
	story := scenario.Given(t, scenario.BuiltIn, append(edits, scenario.Replicas(replicas))...)
	story.ThenUpdated(replicas)
	scenario.RunOperator(t, story.Space)
	return &moving{Story: story, t: t, user: newUser(t, story.Space)}
}

// stage has the pods from an ordinal up run another image.
func (m *moving) stage(replicas, partition int32) {
	m.t.Helper()
	m.When(scenario.Image("web:2"), scenario.Partition(partition))
	m.Then("the update is staged", func(set *v1.StatefulSet) error {
		status := set.Status
		if status.UpdatedReplicas != replicas-partition || status.AvailableReplicas != replicas || status.CurrentRevision == status.UpdateRevision {
			return fmt.Errorf("%+v", status)
		}
		return nil
	})
}

// remember notes what must not change from here on.
func (m *moving) remember() {
	m.t.Helper()
	m.uids, m.revisions = m.objects()
	m.tape = len(m.Tape())
}

func (m *moving) objects() (map[string]types.UID, map[string]int) {
	m.t.Helper()
	uids, revisions := map[string]types.UID{}, map[string]int{}
	for _, revision := range m.Revisions() {
		revisions[revision.Name] = 0
	}
	for _, pod := range m.Pods() {
		uids["pod "+pod.Name] = pod.UID
		revisions[pod.Labels[v1.RevisionLabel]]++
	}
	var claims corev1.PersistentVolumeClaimList
	if err := m.Client.List(m.Context, &claims, client.InNamespace(m.Name)); err != nil {
		m.t.Fatalf("listing claims: %v", err)
	}
	for i := range claims.Items {
		if claims.Items[i].DeletionTimestamp == nil {
			uids["claim "+claims.Items[i].Name] = claims.Items[i].UID
		}
	}
	return uids, revisions
}

// thenUntouched fails if a pod or a claim is not the one of before, a pod was so much as asked to go, or the history changed.
func (m *moving) thenUntouched(when string) {
	m.t.Helper()
	uids, revisions := m.objects()
	if diff := cmp.Diff(m.uids, uids); diff != "" {
		m.t.Errorf("%s: pods or claims are others (-before +after):\n%s", when, diff)
	}
	if diff := cmp.Diff(m.revisions, revisions); diff != "" {
		m.t.Errorf("%s: revisions differ (-before +after):\n%s", when, diff)
	}
	if happened := m.Tape()[m.tape:]; len(happened) > 0 {
		m.t.Errorf("%s: pods came or went: %q", when, happened)
	}
}

// thenBelongsTo waits until a set controls everything, claims as the retention policy has it, and the other is gone.
func (m *moving) thenBelongsTo(by scenario.Controller, claimsToo bool) {
	m.t.Helper()
	m.Eventually(m.t, "all belongs to "+string(by), func(ctx context.Context) error {
		for _, other := range []scenario.Controller{scenario.BuiltIn, scenario.Rollcall} {
			if exists := m.As(other).Exists(); exists != (other == by) {
				return fmt.Errorf("that of %s exists: %v", other, exists)
			}
		}
		return m.owned(ctx, m.As(by).Set().UID, claimsToo)
	})
}

func (m *moving) owned(ctx context.Context, uid types.UID, claimsToo bool) error {
	var pods corev1.PodList
	var claims corev1.PersistentVolumeClaimList
	var revisions appsv1.ControllerRevisionList
	for _, list := range []client.ObjectList{&pods, &claims, &revisions} {
		if err := m.Client.List(ctx, list, client.InNamespace(m.Name)); err != nil {
			return err
		}
	}
	var members []metav1.Object
	for i := range pods.Items {
		members = append(members, &pods.Items[i])
	}
	for i := range revisions.Items {
		members = append(members, &revisions.Items[i])
	}
	for i := range claims.Items {
		if claimsToo {
			members = append(members, &claims.Items[i])
		} else if owners := claims.Items[i].OwnerReferences; len(owners) > 0 {
			return fmt.Errorf("claim %s belongs to %+v", claims.Items[i].Name, owners)
		}
	}
	for _, member := range members {
		if owners := member.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != uid {
			return fmt.Errorf("%s belongs to %+v", member.GetName(), owners)
		}
	}
	return nil
}

// spec returns what is stored, as JSON without its defaults being told apart: both kinds store the same ones.
func (m *moving) spec(by scenario.Controller) map[string]any {
	m.t.Helper()
	data, err := json.Marshal(m.As(by).Set().Spec)
	if err != nil {
		m.t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		m.t.Fatal(err)
	}
	return fields
}

// Adopted and released, the five pods of a set run on, with the same claims, the same history and the same spec, and a
// client that watches sees none of them go.
func TestAdoptAndRelease(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 5, scenario.Claims("data"), scenario.Parallel())
	m.remember()
	before := m.spec(scenario.BuiltIn)

	want := strings.Join([]string{
		"statefulset.apps/web: 5 pods, 5 claims, 1 revision; no pod has to be restarted",
		"statefulset.apps.rollcall.dev/web is created and waits to take over",
		"statefulset.apps/web is deleted, its pods are left running",
		"statefulset.apps.rollcall.dev/web has taken over",
		"web: done; 5 pods run on, none was restarted",
		"",
	}, "\n")
	if diff := cmp.Diff(want, m.user.must("adopt", "web", "--yes")); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	m.thenBelongsTo(scenario.Rollcall, false)
	m.As(scenario.Rollcall).ThenUpdated(5)
	m.thenUntouched("adopted")
	if diff := cmp.Diff(before, m.spec(scenario.Rollcall)); diff != "" {
		t.Errorf("spec (-apps/v1 +ours):\n%s", diff)
	}
	if got := m.user.must("adopt", "web"); got != "web is a StatefulSet of apps.rollcall.dev already\n" {
		t.Errorf("adopted twice: %q", got)
	}

	want = strings.Join([]string{
		"statefulset.apps.rollcall.dev/web: 5 pods, 5 claims, 1 revision; no pod has to be restarted",
		"statefulset.apps.rollcall.dev/web is held, so that its spec is not lost on the way",
		"statefulset.apps.rollcall.dev/web is let go, its pods are left running",
		"statefulset.apps/web is created",
		"statefulset.apps/web has taken over, statefulset.apps.rollcall.dev/web is gone",
		"web: done; 5 pods run on, none was restarted",
		"",
	}, "\n")
	if diff := cmp.Diff(want, m.user.must("release", "web", "--yes")); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	m.thenBelongsTo(scenario.BuiltIn, false)
	m.As(scenario.BuiltIn).ThenUpdated(5)
	m.ThenQuiet()
	m.thenUntouched("released")
	if diff := cmp.Diff(before, m.spec(scenario.BuiltIn)); diff != "" {
		t.Errorf("spec (-before +after):\n%s", diff)
	}
}

// With kubectl alone: the manifest is applied with the new apiVersion, waits, and takes over when the other is orphaned.
func TestHandOverByHand(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 3, scenario.Claims("data"))
	m.remember()
	moved := m.As(scenario.Rollcall)
	moved.Create(scenario.Replicas(3), scenario.Claims("data"))
	moved.ThenCondition(v1.ConditionStalled, "True NamesakeInCharge", "kubectl delete statefulset.apps web --cascade=orphan")
	m.thenUntouched("while both exist")
	m.Delete(metav1.DeletePropagationOrphan)
	moved.ThenUpdated(3)
	m.thenBelongsTo(scenario.Rollcall, false)
	m.thenUntouched("handed over")
}

// A pod below the partition that is lost after a move comes back as what it was.
func TestStagedUpdateMoves(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 4)
	m.stage(4, 2)
	m.remember()
	status := m.Set().Status
	for _, move := range []struct {
		verb string
		by   scenario.Controller
	}{{"adopt", scenario.Rollcall}, {"release", scenario.BuiltIn}} {
		m.user.must(move.verb, "web", "--yes")
		moved := m.As(move.by)
		m.thenUntouched(move.verb)
		moved.Then("the update is staged as it was", func(set *v1.StatefulSet) error {
			got := set.Status
			if got.CurrentRevision != status.CurrentRevision || got.UpdateRevision != status.UpdateRevision || got.UpdatedReplicas != 2 || got.CurrentReplicas != 2 {
				return fmt.Errorf("%+v", got)
			}
			return nil
		})
		moved.DeletePod(0)
		moved.ThenPod(0, "back at the current revision", func(pod *corev1.Pod) error {
			if pod.UID == m.uids["pod web-0"] || pod.Labels[v1.RevisionLabel] != status.CurrentRevision {
				return fmt.Errorf("uid %s, revision %s", pod.UID, pod.Labels[v1.RevisionLabel])
			}
			return nil
		})
		moved.ThenReady(4)
		m.remember()
	}
}

// A set that was never one of apps/v1, with a template that leaves the defaults open, can be given to apps/v1 and taken back.
func TestReleaseWhatWasBornHere(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3), scenario.Claims("data"))
	story.ThenUpdated(3)
	m := &moving{Story: story, t: t, user: newUser(t, story.Space)}
	m.remember()
	m.user.must("release", "web", "--yes")
	m.thenBelongsTo(scenario.BuiltIn, false)
	m.As(scenario.BuiltIn).ThenUpdated(3)
	m.ThenQuiet()
	m.thenUntouched("released")
	m.user.must("adopt", "web", "--yes")
	m.As(scenario.Rollcall).ThenUpdated(3)
	m.thenUntouched("adopted")
}

func newTemplate(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
	}
}

// awaitRevision waits until the built-in controller has seen a set.
func awaitRevision(t *testing.T, space *cluster.Space, set *appsv1.StatefulSet) {
	t.Helper()
	space.Eventually(t, set.Name+" is seen", func(ctx context.Context) error {
		if err := space.Client.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if set.Status.UpdateRevision == "" {
			return errors.New("it has no revision yet")
		}
		return nil
	})
}

// All sets of a namespace are adopted with one command; what can't be is left and named.
func TestAdoptAll(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 2)
	for name, owners := range map[string][]metav1.OwnerReference{
		"db":      nil,
		"managed": {{APIVersion: "example.com/v1", Kind: "Database", Name: "main", UID: "f1", Controller: new(true)}},
	} {
		labels := map[string]string{"app": name}
		other := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.Name, Name: name, OwnerReferences: owners},
			Spec: appsv1.StatefulSetSpec{
				Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: newTemplate(labels),
			},
		}
		if err := m.Client.Create(m.Context, other); err != nil {
			t.Fatal(err)
		}
		awaitRevision(t, m.Space, other)
	}
	m.remember()
	got := m.user.run("adopt", "--all", "--yes")
	if got.code != 1 || !strings.Contains(got.err, "Database main controls statefulset.apps/managed") {
		t.Errorf("code %d:\n%s%s", got.code, got.out, got.err)
	}
	for name, isAdopted := range map[string]bool{"web": true, "db": true, "managed": false} {
		err := m.Client.Get(m.Context, client.ObjectKey{Namespace: m.Name, Name: name}, &v1.StatefulSet{})
		if client.IgnoreNotFound(err) != nil || apierrors.IsNotFound(err) == isAdopted {
			t.Errorf("%s: %v, want adopted %v", name, err, isAdopted)
		}
	}
	m.thenUntouched("adopted")
}
