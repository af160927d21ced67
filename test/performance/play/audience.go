package play

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// audience watches the pods of a namespace: it says when a goal is reached and
// has every change judged.
type audience struct {
	mu         sync.Mutex
	fleets     map[string]fleet
	judges     map[string]*judge
	goal       goal
	there      map[string]bool
	wanted     int
	reached    chan time.Time
	changed    map[string]chan struct{}
	violations []string
	err        error
	stop       func()
}

// attend starts watching. All sets are known beforehand, by name.
func attend(config *rest.Config, namespace string, sets []string) (*audience, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	pods := clients.CoreV1().Pods(namespace)
	now, err := pods.List(ctx, metav1.ListOptions{})
	if err == nil && len(now.Items) > 0 {
		err = fmt.Errorf("namespace %s is not empty", namespace)
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	events, err := toolswatch.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: pods.Watch})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	a := &audience{fleets: map[string]fleet{}, judges: map[string]*judge{}, there: map[string]bool{}, changed: map[string]chan struct{}{}}
	for _, set := range sets {
		a.fleets[set], a.changed[set] = fleet{}, make(chan struct{}, 1)
	}
	done := make(chan struct{})
	go a.follow(ctx, events.ResultChan(), done)
	a.stop = func() {
		cancel()
		events.Stop()
		<-done
	}
	return a, nil
}

func (a *audience) follow(ctx context.Context, events <-chan watch.Event, done chan<- struct{}) {
	defer close(done)
	for event := range events {
		if pod, ok := event.Object.(*corev1.Pod); ok {
			a.see(event.Type, pod)
		} else if ctx.Err() == nil {
			a.fail(fmt.Errorf("the watch brought %v", event.Object))
		}
	}
	if ctx.Err() == nil {
		a.fail(errors.New("the watch broke off"))
	}
}

func (a *audience) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// see takes a change in, has it judged, and says so if it was the last one to the goal.
func (a *audience) see(kind watch.EventType, object *corev1.Pod) {
	set, seen := podOf(object)
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	members, ok := a.fleets[set]
	if !ok {
		return
	}
	change := members.apply(kind, seen)
	if judge := a.judges[set]; judge != nil {
		if violation := judge.condemn(change, members); violation != "" {
			a.violations = append(a.violations, set+": "+violation)
		}
	}
	select {
	case a.changed[set] <- struct{}{}:
	default:
	}
	a.count(set, now)
}

// count keeps the number of sets that have reached the goal.
func (a *audience) count(set string, now time.Time) {
	if a.reached == nil {
		return
	}
	if a.goal.reached(a.fleets[set]) {
		a.there[set] = true
	} else {
		delete(a.there, set)
	}
	if len(a.there) == a.wanted {
		a.reached <- now
		a.reached = nil
	}
}

// expect sets the goal for all sets. The channel tells when it was reached.
func (a *audience) expect(target goal, judgeOf func() *judge) <-chan time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	reached := make(chan time.Time, 1)
	a.goal, a.there, a.wanted, a.reached, a.violations = target, map[string]bool{}, len(a.fleets), reached, nil
	for set := range a.fleets {
		a.judges[set] = judgeOf()
		a.count(set, time.Now())
	}
	return reached
}

// verdict ends the judging and returns what was condemned, and how many sets have not reached the goal.
func (a *audience) verdict() (violations []string, astray int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.judges)
	a.reached = nil
	return a.violations, a.wanted - len(a.there), a.err
}

// snapshot returns the pods of a set.
func (a *audience) snapshot(set string) fleet {
	a.mu.Lock()
	defer a.mu.Unlock()
	copied := make(fleet, len(a.fleets[set]))
	for number, held := range a.fleets[set] {
		copied[number] = held
	}
	return copied
}
