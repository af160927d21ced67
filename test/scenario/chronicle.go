package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	gocmp "github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// Chronicle is every version of a set that a watch showed, in order: what polling
// misses, such as a condition that held for a moment.
type Chronicle struct {
	story *Story

	mu       sync.Mutex
	versions []*v1.StatefulSet
	// err is why the recording broke off.
	err error
}

// Chronicle starts recording the set from its present version on.
func (s *Story) Chronicle() *Chronicle {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	set := s.Set()
	versions, err := s.watchSet(ctx, set.ResourceVersion)
	if err != nil {
		cancel()
		s.t.Fatalf("watching the set: %v", err)
	}
	chronicle := &Chronicle{story: s, versions: []*v1.StatefulSet{set}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		chronicle.follow(ctx, versions.ResultChan())
	}()
	s.t.Cleanup(func() {
		cancel()
		versions.Stop()
		<-done
		if s.t.Failed() {
			s.t.Logf("Progressing: %s", strings.Join(chronicle.Of(v1.ConditionProgressing), ", "))
		}
	})
	return chronicle
}

func (s *Story) watchSet(ctx context.Context, resourceVersion string) (watch.Interface, error) {
	sets, err := client.NewWithWatch(s.Config, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		return nil, err
	}
	return toolswatch.NewRetryWatcherWithContext(ctx, resourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return sets.Watch(ctx, &v1.StatefulSetList{}, client.InNamespace(s.Name), &client.ListOptions{Raw: &options})
		},
	})
}

func (c *Chronicle) follow(ctx context.Context, events <-chan watch.Event) {
	for event := range events {
		c.mu.Lock()
		if set, ok := event.Object.(*v1.StatefulSet); ok {
			c.versions = append(c.versions, set)
		} else if ctx.Err() == nil {
			c.err = fmt.Errorf("the watch brought %v", event.Object)
		}
		c.mu.Unlock()
	}
	if ctx.Err() == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = errors.New("the watch broke off")
	}
}

// Versions returns the set as it was at each moment so far.
func (c *Chronicle) Versions() []*v1.StatefulSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		c.story.t.Errorf("the chronicle is not whole: %v", c.err)
	}
	return slices.Clone(c.versions)
}

// Of returns what a condition has been, one entry for each change of its status
// or reason: "True UpdateInProgress", "True UpdateComplete".
func (c *Chronicle) Of(condition string) []string {
	var states []string
	for _, set := range c.Versions() {
		if found := meta.FindStatusCondition(set.Status.Conditions, condition); found != nil {
			states = append(states, fmt.Sprintf("%s %s", found.Status, found.Reason))
		}
	}
	return slices.Compact(states)
}

// ThenWas waits until a condition has been all of this, in this order, and
// nothing else.
func (c *Chronicle) ThenWas(condition string, want ...string) {
	c.story.t.Helper()
	c.story.Eventually(c.story.t, condition+" has been as expected", func(context.Context) error {
		if diff := gocmp.Diff(want, c.Of(condition)); diff != "" {
			return errors.New("states (-want +got):\n" + diff)
		}
		return nil
	})
}

// ThenCondition waits until a condition is as CheckCondition wants it.
func (s *Story) ThenCondition(kind, want string, texts ...string) {
	s.t.Helper()
	s.Then(kind+" is "+want, func(set *v1.StatefulSet) error { return CheckCondition(set, kind, want, texts...) })
}

// CheckCondition compares a condition with one such as "True UpdateComplete" and
// looks for texts in its message.
func CheckCondition(set *v1.StatefulSet, kind, want string, texts ...string) error {
	condition := meta.FindStatusCondition(set.Status.Conditions, kind)
	if condition == nil {
		return fmt.Errorf("there is no condition %s", kind)
	}
	if got := fmt.Sprintf("%s %s", condition.Status, condition.Reason); got != want {
		return fmt.Errorf("%s is %s: %s", kind, got, condition.Message)
	}
	if !containsAll(condition.Message, texts) {
		return fmt.Errorf("the message of %s is %q, without all of %q", kind, condition.Message, texts)
	}
	return nil
}

// ThenEvent waits for an event about the set whose text contains all texts, and
// returns it.
func (s *Story) ThenEvent(reason string, texts ...string) eventsv1.Event {
	s.t.Helper()
	var found eventsv1.Event
	s.Eventually(s.t, "there is an event "+reason, func(context.Context) error {
		notes := []string{}
		for _, event := range s.Events(reason) {
			if containsAll(event.Note, texts) {
				found = event
				return nil
			}
			notes = append(notes, event.Note)
		}
		return fmt.Errorf("none with %q in it, but %q", texts, notes)
	})
	return found
}

// Events returns the events about the set with a reason, so far.
func (s *Story) Events(reason string) []eventsv1.Event {
	s.t.Helper()
	var list eventsv1.EventList
	if err := s.Client.List(s.Context, &list, client.InNamespace(s.Name)); err != nil {
		s.t.Fatalf("listing events: %v", err)
	}
	return slices.DeleteFunc(list.Items, func(event eventsv1.Event) bool {
		return event.Reason != reason || event.Regarding.Name != SetName
	})
}

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
