package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// tape records what a watch shows of the pods of a namespace: "create web-0 r1"
// and "delete web-0", and besides "ready web-0 r1" for who wants to know when
// pods became ready. Revisions go by r1, r2, … in the order in which pods of
// them first appear, because their names depend on the API version.
type tape struct {
	mu        sync.Mutex
	lines     []string
	isReady   map[types.UID]bool
	isDeleted map[types.UID]bool
	revisions []string
	// err is why the recording broke off.
	err error
}

// record starts recording. Only what happens from now on is on the tape.
func record(t testing.TB, space *cluster.Space) *tape {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	pods, err := watchPods(ctx, space)
	if err != nil {
		cancel()
		t.Fatalf("watching pods: %v", err)
	}
	recording := &tape{isReady: map[types.UID]bool{}, isDeleted: map[types.UID]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		recording.follow(ctx, pods.ResultChan())
	}()
	t.Cleanup(func() {
		cancel()
		pods.Stop()
		<-done
		if t.Failed() {
			t.Logf("tape:\n%s", strings.Join(recording.Lines(), "\n"))
		}
	})
	return recording
}

// watchPods watches from now on and takes the watch up again where the API
// server breaks it off, which it does with a watcher that is slow.
func watchPods(ctx context.Context, space *cluster.Space) (watch.Interface, error) {
	config := rest.CopyConfig(space.Config)
	config.ContentType = runtime.ContentTypeProtobuf
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods := clients.CoreV1().Pods(space.Name)
	now, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return toolswatch.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: pods.Watch,
	})
}

func (r *tape) follow(ctx context.Context, events <-chan watch.Event) {
	for event := range events {
		pod, ok := event.Object.(*corev1.Pod)
		r.mu.Lock()
		if ok {
			r.note(event.Type, pod)
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

func (r *tape) note(kind watch.EventType, pod *corev1.Pod) {
	isGoing := kind == watch.Deleted || pod.DeletionTimestamp != nil
	named := pod.Name + " " + r.alias(pod.Labels[v1.RevisionLabel])
	switch {
	case kind == watch.Added && !isGoing:
		r.lines = append(r.lines, "create "+named)
	case isGoing && !r.isDeleted[pod.UID]:
		r.isDeleted[pod.UID] = true
		r.lines = append(r.lines, "delete "+pod.Name)
	case !isGoing && !r.isReady[pod.UID] && readiness(pod, true) == nil:
		r.isReady[pod.UID] = true
		r.lines = append(r.lines, readyVerb+named)
	}
}

const readyVerb = "ready "

// alias is the number that stands for a revision.
func (r *tape) alias(revision string) string {
	if revision == "" {
		return "-"
	}
	at := slices.Index(r.revisions, revision)
	if at < 0 {
		at = len(r.revisions)
		r.revisions = append(r.revisions, revision)
	}
	return fmt.Sprintf("r%d", at+1)
}

// Lines returns the tape so far.
func (r *tape) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return append(slices.Clone(r.lines), r.err.Error())
	}
	return slices.Clone(r.lines)
}

// Tape returns which pods were created and deleted so far.
func (s *Story) Tape() []string {
	return slices.DeleteFunc(s.tape.Lines(), func(line string) bool { return strings.HasPrefix(line, readyVerb) })
}

// FullTape returns the tape with the moments at which pods became ready.
func (s *Story) FullTape() []string { return s.tape.Lines() }

// MostDown returns how many pods were down at the same time at most on a full
// tape: deleted, and not ready again yet.
func MostDown(tape []string) int {
	down, most := 0, 0
	for _, line := range tape {
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "delete":
			down++
		case "ready":
			down--
		}
		most = max(most, down)
	}
	return most
}

// Alias returns what stands for a revision on the tape.
func (s *Story) Alias(revision string) string {
	s.tape.mu.Lock()
	defer s.tape.mu.Unlock()
	return s.tape.alias(revision)
}

// Note puts a remark of the test's own on the tape.
func (s *Story) Note(remark string) {
	s.tape.mu.Lock()
	defer s.tape.mu.Unlock()
	s.tape.lines = append(s.tape.lines, remark)
}
