package slo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// life is what became of a pod, by when the watch showed it. A time is zero if that did not happen. The watch shows
// things in the order in which they happened, so of two times the earlier one was first in truth, too.
type life struct {
	pod                            string
	ordinal                        int
	image, revision                string
	created, ready, deleted, ended time.Time
}

// age is how old the pod was when it was deleted.
func (l life) age() time.Duration { return l.deleted.Sub(l.created) }

// recorder writes down the lives of all pods of the control plane.
type recorder struct {
	mu    sync.Mutex
	lives map[types.UID]*life
	// namespaces are the pods of each namespace in the order of their creation.
	namespaces map[string][]*life
	err        error
}

// shared is the one recorder of this test binary: one watch sees all.
var shared struct {
	sync.Once
	recorder *recorder
	err      error
}

// record returns the recorder and starts it if it is the first to ask.
func record(t *testing.T) *recorder {
	t.Helper()
	space := cluster.Namespace(t)
	shared.Do(func() {
		shared.recorder = &recorder{lives: map[types.UID]*life{}, namespaces: map[string][]*life{}}
		shared.err = shared.recorder.start(space)
	})
	if shared.err != nil {
		t.Fatalf("watching pods: %v", shared.err)
	}
	return shared.recorder
}

func (r *recorder) start(space *cluster.Space) error {
	clients, err := kubernetes.NewForConfig(space.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	pods := clients.CoreV1().Pods(metav1.NamespaceAll)
	now, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		cancel()
		return err
	}
	events, err := toolswatch.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: pods.Watch})
	if err != nil {
		cancel()
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.follow(ctx, events.ResultChan())
	}()
	cluster.BeforeStop(func() {
		cancel()
		<-done
	})
	return nil
}

func (r *recorder) follow(ctx context.Context, events <-chan watch.Event) {
	for event := range events {
		r.mu.Lock()
		if pod, ok := event.Object.(*corev1.Pod); ok {
			r.see(event.Type, pod, time.Now())
		} else if ctx.Err() == nil {
			r.err = fmt.Errorf("the watch brought %v", event.Object)
		}
		r.mu.Unlock()
	}
	if ctx.Err() == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = errors.New("the watch broke off")
	}
}

// see notes what is new about a pod.
func (r *recorder) see(kind watch.EventType, pod *corev1.Pod, now time.Time) {
	l := r.lives[pod.UID]
	if l == nil {
		number, _ := ordinal.Parse(scenario.SetName, pod.Name)
		l = &life{
			pod: pod.Name, ordinal: number, created: now,
			image: pod.Spec.Containers[0].Image, revision: pod.Labels[v1.RevisionLabel],
		}
		r.lives[pod.UID] = l
		r.namespaces[pod.Namespace] = append(r.namespaces[pod.Namespace], l)
	}
	isGone := kind == watch.Deleted
	stamp(&l.ready, now, isReady(pod))
	stamp(&l.deleted, now, isGone || pod.DeletionTimestamp != nil)
	stamp(&l.ended, now, isGone)
}

// stamp notes the first time at which something is the case.
func stamp(at *time.Time, now time.Time, isCase bool) {
	if isCase && at.IsZero() {
		*at = now
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// in returns the lives of a namespace so far, in the order of creation.
func (r *recorder) in(namespace string) ([]life, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lives []life
	for _, l := range r.namespaces[namespace] {
		lives = append(lives, *l)
	}
	return lives, r.err
}
