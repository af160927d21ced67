package play

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
)

// floorRequests is how many requests the floor driver has under way at a time.
const floorRequests = 32

// floor drives pods to a goal with the deletes and creates that it takes, and
// with nothing else. It is told by the audience what there is.
type floor struct {
	clients  kubernetes.Interface
	audience *audience
	slots    chan struct{}
}

func newFloor(config *rest.Config, audience *audience) (*floor, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	clients, err := kubernetes.NewForConfig(config)
	return &floor{clients: clients, audience: audience, slots: make(chan struct{}, floorRequests)}, err
}

// drive brings all sets to the goal.
func (f *floor) drive(ctx context.Context, sets []*v1.StatefulSet, target goal, budget int) error {
	var running sync.WaitGroup
	errs := make(chan error, len(sets))
	for _, set := range sets {
		running.Go(func() {
			driver := &floorSet{floor: f, set: set, goal: target, budget: budget, sent: map[int]types.UID{}, errs: make(chan error, 1)}
			if err := driver.drive(ctx); err != nil {
				errs <- fmt.Errorf("driving set %s: %w", set.Name, err)
			}
		})
	}
	running.Wait()
	close(errs)
	return <-errs
}

// floorSet drives one set.
type floorSet struct {
	*floor
	set    *v1.StatefulSet
	goal   goal
	budget int
	// sent remembers what is under way: for each ordinal the pod that was told to go, or "" for one to come.
	sent map[int]types.UID
	errs chan error
}

func (f *floorSet) drive(ctx context.Context) error {
	for {
		now := f.audience.snapshot(f.set.Name)
		if f.goal.reached(now) {
			return nil
		}
		f.create(ctx, now)
		f.take(ctx, now)
		select {
		case <-f.audience.changed[f.set.Name]:
		case err := <-f.errs:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// create fills the slots that are empty: those that it emptied itself, and others in their turn.
func (f *floorSet) create(ctx context.Context, now fleet) {
	for number := range f.goal.replicas {
		_, isHeld := now[number]
		taken, isSent := f.sent[number]
		isUnderWay := isSent && taken == ""
		hasTurn := isSent || !f.isOrdered() || now.unavailable(number) == 0
		if isHeld || isUnderWay || !hasTurn {
			continue
		}
		f.sent[number] = ""
		made := f.build(number)
		f.request(func() error {
			_, err := f.clients.CoreV1().Pods(f.set.Namespace).Create(ctx, made, metav1.CreateOptions{})
			return err
		})
	}
}

// build makes a pod like the others', but nobody's: there is no set that could own it.
func (f *floorSet) build(number int) *corev1.Pod {
	made := podbuild.Pod(f.set, &f.set.Spec.Template, "floor", number)
	made.OwnerReferences = nil
	made.Spec.Containers[0].Image = f.goal.image
	return made
}

// take deletes outdated pods from the top, one after another: in order the next batch when all are available, else what
// the budget allows.
func (f *floorSet) take(ctx context.Context, now fleet) {
	down := now.unavailable(f.goal.replicas)
	if f.isOrdered() && down > 0 {
		return
	}
	var batch []int
	for number := f.goal.replicas - 1; number >= 0 && down < f.budget; number-- {
		held := now[number]
		if !held.isAvailable || held.image == f.goal.image {
			continue
		}
		down++
		if f.sent[number] == held.uid {
			continue
		}
		f.sent[number] = held.uid
		batch = append(batch, number)
	}
	f.request(func() error {
		for _, number := range batch {
			options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(now[number].uid)}}
			if err := f.clients.CoreV1().Pods(f.set.Namespace).Delete(ctx, ordinal.PodName(f.set.Name, number), options); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *floorSet) isOrdered() bool { return f.set.Spec.PodManagementPolicy == v1.OrderedReady }

func (f *floorSet) request(send func() error) {
	go func() {
		f.slots <- struct{}{}
		defer func() { <-f.slots }()
		if err := send(); err != nil {
			select {
			case f.errs <- err:
			default:
			}
		}
	}()
}
