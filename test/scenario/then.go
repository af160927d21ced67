package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
)

// quietTime is how long nothing must happen for a story to be called at rest. A
// controller that has something to do needs milliseconds.
const quietTime = 2 * time.Second

// Then waits until the set is as the condition says. The status must be about
// the spec as it is now.
func (s *Story) Then(what string, holds func(*v1.StatefulSet) error) {
	s.t.Helper()
	s.Eventually(s.t, what, func(ctx context.Context) error {
		set, err := s.read(ctx)
		if err != nil {
			return err
		}
		if set.Status.ObservedGeneration != set.Generation {
			return fmt.Errorf("generation %d is observed, not %d", set.Status.ObservedGeneration, set.Generation)
		}
		return holds(set)
	})
}

// ThenReady waits until there are exactly n pods, all available.
func (s *Story) ThenReady(n int32) {
	s.t.Helper()
	s.Then(fmt.Sprintf("%d pods are available", n), func(set *v1.StatefulSet) error {
		status := set.Status
		if status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n {
			return fmt.Errorf("%d pods, %d ready, %d available", status.Replicas, status.ReadyReplicas, status.AvailableReplicas)
		}
		return nil
	})
}

// ThenUpdated waits until there are exactly n pods, all available, and the update is complete.
func (s *Story) ThenUpdated(n int32) {
	s.t.Helper()
	s.ThenReady(n)
	s.Then("the update is complete", func(set *v1.StatefulSet) error {
		status := set.Status
		if status.UpdatedReplicas != n || status.CurrentReplicas != n || status.CurrentRevision != status.UpdateRevision {
			return fmt.Errorf("%d updated, %d current, revisions %s and %s",
				status.UpdatedReplicas, status.CurrentReplicas, status.CurrentRevision, status.UpdateRevision)
		}
		return nil
	})
}

// ThenPod waits until the pod of an ordinal is as the condition says.
func (s *Story) ThenPod(number int, what string, holds func(*corev1.Pod) error) {
	s.t.Helper()
	name := ordinal.PodName(SetName, number)
	s.Eventually(s.t, name+" is "+what, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Name, Name: name}, pod); err != nil {
			return err
		}
		return holds(pod)
	})
}

// ThenTape waits until exactly this has happened to pods.
func (s *Story) ThenTape(want ...string) {
	s.t.Helper()
	s.Eventually(s.t, "the tape is as expected", func(context.Context) error {
		if diff := gocmp.Diff(want, s.Tape()); diff != "" {
			return errors.New("tape (-want +got):\n" + diff)
		}
		return nil
	})
}

// ThenQuiet fails if anything more happens to pods.
func (s *Story) ThenQuiet() {
	s.t.Helper()
	before := s.Tape()
	select {
	case <-time.After(quietTime):
	case <-s.Context.Done():
	}
	if diff := gocmp.Diff(before, s.Tape()); diff != "" {
		s.t.Fatalf("pods came or went although nothing should happen (-before +after):\n%s", diff)
	}
}

// ThenSettled waits until nothing happens any more, neither to pods nor to the set.
func (s *Story) ThenSettled() {
	s.t.Helper()
	s.Eventually(s.t, "everything has settled", func(ctx context.Context) error {
		before := s.version() + fmt.Sprint(s.Tape())
		select {
		case <-time.After(quietTime):
		case <-ctx.Done():
		}
		if after := s.version() + fmt.Sprint(s.Tape()); after != before {
			return fmt.Errorf("something happened within %s", quietTime)
		}
		return nil
	})
}

// version is the set's resourceVersion; none if it is gone.
func (s *Story) version() string {
	s.t.Helper()
	if !s.Exists() {
		return ""
	}
	return s.Set().ResourceVersion
}

// ThenPods waits until exactly these pods exist, given as "web-0 r1".
func (s *Story) ThenPods(want ...string) {
	s.t.Helper()
	s.Eventually(s.t, "exactly these pods exist", func(ctx context.Context) error {
		pods, err := s.pods(ctx)
		if err != nil {
			return err
		}
		var got []string
		for i := range pods {
			got = append(got, fmt.Sprintf("%s %s", pods[i].Name, s.Alias(pods[i].Labels[v1.RevisionLabel])))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			return errors.New("pods (-want +got):\n" + diff)
		}
		return nil
	})
}

// ThenGone waits until the set is gone.
func (s *Story) ThenGone() {
	s.t.Helper()
	s.Eventually(s.t, "the set is gone", func(ctx context.Context) error {
		_, err := s.read(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there (%w)", err)
	})
}

// Exists tells whether the set is there.
func (s *Story) Exists() bool {
	s.t.Helper()
	_, err := s.read(s.Context)
	if client.IgnoreNotFound(err) != nil {
		s.t.Fatalf("reading the set: %v", err)
	}
	return err == nil
}

// ThenNoRevisions waits until the garbage collector has removed all revisions.
func (s *Story) ThenNoRevisions() {
	s.t.Helper()
	s.Eventually(s.t, "the revisions are gone", func(context.Context) error {
		if revisions := s.Revisions(); len(revisions) > 0 {
			return fmt.Errorf("%d are there", len(revisions))
		}
		return nil
	})
}

// Pods returns the pods of the namespace by ordinal.
func (s *Story) Pods() []corev1.Pod {
	s.t.Helper()
	pods, err := s.pods(s.Context)
	if err != nil {
		s.t.Fatalf("listing pods: %v", err)
	}
	return pods
}

func (s *Story) pods(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := s.Client.List(ctx, &list, client.InNamespace(s.Name)); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		first, _ := ordinal.Parse(SetName, a.Name)
		second, _ := ordinal.Parse(SetName, b.Name)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// Pod returns the pod of an ordinal.
func (s *Story) Pod(number int) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: s.Name, Name: ordinal.PodName(SetName, number)}
	if err := s.Client.Get(s.Context, key, pod); err != nil {
		s.t.Fatalf("reading pod %s: %v", key.Name, err)
	}
	return pod
}

// Revisions returns the revisions of the namespace by number.
func (s *Story) Revisions() []appsv1.ControllerRevision {
	s.t.Helper()
	var list appsv1.ControllerRevisionList
	if err := s.Client.List(s.Context, &list, client.InNamespace(s.Name)); err != nil {
		s.t.Fatalf("listing revisions: %v", err)
	}
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	return list.Items
}

// Claims returns the claims of the namespace that are not on their way out, with
// the kinds of their owners: "data-web-0", "data-web-1 of Pod".
func (s *Story) Claims() []string {
	s.t.Helper()
	var list corev1.PersistentVolumeClaimList
	if err := s.Client.List(s.Context, &list, client.InNamespace(s.Name)); err != nil {
		s.t.Fatalf("listing claims: %v", err)
	}
	names := []string{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			names = append(names, list.Items[i].Name+ownerKinds(list.Items[i].OwnerReferences))
		}
	}
	slices.Sort(names)
	return names
}

func ownerKinds(owners []metav1.OwnerReference) string {
	text := ""
	for _, owner := range owners {
		text += " of " + owner.Kind
	}
	return text
}

// ThenClaims waits until exactly these claims exist, given as Claims returns them.
func (s *Story) ThenClaims(want ...string) {
	s.t.Helper()
	s.Eventually(s.t, "exactly these claims exist", func(context.Context) error {
		if diff := gocmp.Diff(want, s.Claims(), equateEmpty); diff != "" {
			return errors.New("claims (-want +got):\n" + diff)
		}
		return nil
	})
}

var equateEmpty = gocmp.FilterValues(
	func(a, b []string) bool { return len(a) == 0 && len(b) == 0 },
	gocmp.Comparer(func(_, _ []string) bool { return true }),
)
