package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

const (
	// patience is how long a tenant waits for something while things go wrong.
	patience = 2 * time.Minute
	// glance is how long a tenant waits between looks.
	glance = 100 * time.Millisecond
)

// tenant is a user with a set, who does not give up when the API server does not answer.
type tenant struct {
	*testing.T
	style
	stage  *stage
	random *rand.Rand
	// releases counts the templates.
	releases int
	// unclear are the pods of which it is not known whether their deletion got through.
	unclear map[types.UID]bool
}

// newTenant creates the set of a tenant.
func newTenant(t *testing.T, s *stage, style style, number uint64) *tenant {
	tn := &tenant{T: t, style: style, stage: s, random: rand.New(rand.NewPCG(s.seed, number)), unclear: map[types.UID]bool{}}
	set := scenario.NewSet(s.space.Name, style.name, append(style.edits(tn.random), scenario.Image(tn.good()))...)
	tn.insist("create the set", func(ctx context.Context) error {
		err := s.space.Client.Create(ctx, set.DeepCopy())
		if apierrors.IsAlreadyExists(err) {
			return nil // the answer was lost
		}
		return err
	})
	return tn
}

// insist tries until it succeeds.
func (tn *tenant) insist(what string, attempt func(ctx context.Context) error) {
	tn.Helper()
	ctx, cancel := context.WithTimeout(tn.Context(), patience)
	defer cancel()
	var last error
	for {
		err := attempt(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			tn.Fatalf("%s: trying to %s for %s: %v", tn.name, what, patience, last)
		case <-time.After(glance):
		}
	}
}

// good and broken are images of templates that were never used before.
func (tn *tenant) good() string {
	tn.releases++
	return fmt.Sprintf("web:%d-start-%dms-stop-%dms", tn.releases, tn.random.IntN(600), tn.random.IntN(400))
}

func (tn *tenant) broken() string {
	ways := []string{"crash-loop", "never-ready", "image-pull-backoff"}
	return tn.good() + "-" + ways[tn.random.IntN(len(ways))]
}

// read returns the set as stored.
func (tn *tenant) read(ctx context.Context) (*v1.StatefulSet, error) {
	set := &v1.StatefulSet{}
	return set, tn.stage.space.Client.Get(ctx, client.ObjectKey{Namespace: tn.stage.space.Name, Name: tn.name}, set)
}

// edit changes the set.
func (tn *tenant) edit(edits ...scenario.Edit) {
	tn.Helper()
	tn.insist("edit the set", func(ctx context.Context) error {
		set, err := tn.read(ctx)
		if err != nil {
			return err
		}
		for _, edit := range edits {
			edit(set)
		}
		return tn.stage.space.Client.Update(ctx, set)
	})
}

// await waits until the set and its pods are as the condition says.
func (tn *tenant) await(what string, holds func(set *v1.StatefulSet, pods []corev1.Pod) error) {
	tn.Helper()
	tn.insist("wait until "+what, func(ctx context.Context) error {
		set, err := tn.read(ctx)
		if err != nil {
			return err
		}
		var pods corev1.PodList
		err = tn.stage.space.Client.List(ctx, &pods, client.InNamespace(tn.stage.space.Name), client.MatchingLabels{"app": tn.name})
		if err != nil {
			return err
		}
		return holds(set, pods.Items)
	})
}

// awaitDone waits until the update is complete, and deletes the pods that a user has to.
func (tn *tenant) awaitDone() {
	tn.Helper()
	tn.await("the update is complete", func(set *v1.StatefulSet, pods []corev1.Pod) error {
		if tn.needsUser() {
			if err := tn.deleteForUpdate(set, pods); err != nil {
				return err
			}
		}
		return isDone(set)
	})
}

// deleteForUpdate does what OnDelete and a plain ordered update leave to users: it deletes pods that the update has
// to replace and, unless the strategy is OnDelete, that are broken.
func (tn *tenant) deleteForUpdate(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set.Status.ObservedGeneration != set.Generation {
		return errors.New("the new template is not observed")
	}
	for i := range pods {
		pod := &pods[i]
		isOutdated := imageOf(&pod.Spec) != imageOf(&set.Spec.Template.Spec)
		isBroken := !podstate.Classify(pod, 0, time.Now()).Ready
		if pod.DeletionTimestamp != nil || !isOutdated || (set.Spec.UpdateStrategy.Type != v1.OnDeleteStrategy && !isBroken) {
			continue
		}
		if err := tn.delete(pod); err != nil {
			return err
		}
		if tn.random.IntN(2) == 0 {
			return errors.New("a pod was deleted, others may follow")
		}
	}
	return nil
}

// delete deletes a pod as it was seen. One that has become ready meanwhile is not broken any more, and stays.
func (tn *tenant) delete(pod *corev1.Pod) error {
	tn.stage.recorder.NoteUserDelete(pod.UID)
	asSeen := client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}
	err := tn.stage.space.Client.Delete(context.Background(), pod, asSeen)
	switch {
	case err == nil:
	case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
		tn.unclear[pod.UID] = true
	case !tn.unclear[pod.UID]:
		tn.stage.recorder.RetractUserDelete(pod.UID)
	}
	return err
}

func imageOf(spec *corev1.PodSpec) string { return spec.Containers[0].Image }

// isDone tells whether a set is complete as its status has it.
func isDone(set *v1.StatefulSet) error {
	s, all := set.Status, *set.Spec.Replicas
	if s.ObservedGeneration != set.Generation || s.Replicas != all || s.AvailableReplicas != all || s.UpdatedReplicas != all ||
		s.CurrentReplicas != all || s.CurrentRevision != s.UpdateRevision {
		return fmt.Errorf("%d pods are asked for by generation %d, and the status is %+v", all, set.Generation, s)
	}
	return nil
}
