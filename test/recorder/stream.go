package recorder

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pause is how long a stream waits before it asks an API server again that did not answer.
const pause = 50 * time.Millisecond

// stream follows the objects of one kind.
type stream struct {
	recorder  *Recorder
	client    client.WithWatch
	namespace string
	newList   func() client.ObjectList
	// version is where the next watch goes on; empty when it can't.
	version string
	// seen is the version up to which all is noted; 0 in the beginning.
	seen uint64

	mu    sync.Mutex
	known map[types.UID]client.Object
}

// follow lists and watches until it is told to stop.
func (s *stream) follow(ctx context.Context) {
	for ctx.Err() == nil {
		var err error
		if s.version == "" {
			err = s.relist(ctx)
		} else {
			err = s.watch(ctx)
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			s.version = ""
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// watch notes events until the watch ends.
func (s *stream) watch(ctx context.Context) error {
	options := &client.ListOptions{Namespace: s.namespace, Raw: &metav1.ListOptions{ResourceVersion: s.version, AllowWatchBookmarks: true}}
	events, err := s.client.Watch(ctx, s.newList(), options)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(client.Object)
		switch {
		case event.Type == watch.Error:
			return apierrors.FromObject(event.Object)
		case !ok:
			return fmt.Errorf("the watch brought a %T", event.Object)
		case event.Type != watch.Bookmark:
			if err := s.note(object, event.Type == watch.Deleted); err != nil {
				return err
			}
		}
		s.version = object.GetResourceVersion()
		if s.seen, err = strconv.ParseUint(s.version, 10, 64); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) note(object client.Object, isGone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isGone {
		delete(s.known, object.GetUID())
	} else {
		s.known[object.GetUID()] = object
	}
	return s.recorder.note(object, isGone)
}

// relist takes up the thread after an interruption.
func (s *stream) relist(ctx context.Context) error {
	found, version, err := s.list(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := s.fill(ctx, state{s.seen, s.remembered()}, state{version, found}); err != nil {
		return err
	}
	s.version = strconv.FormatUint(version, 10)
	return nil
}

// state is what was stored at a version.
type state struct {
	version uint64
	objects map[types.UID]client.Object
}

// equals tells whether nothing differs. What was created and removed in between can't be seen.
func (s state) equals(other state) bool {
	return maps.EqualFunc(s.objects, other.objects, func(a, b client.Object) bool { return a.GetResourceVersion() == b.GetResourceVersion() })
}

// fill notes what happened between two states, by looking at those in between, which the API server can still list.
func (s *stream) fill(ctx context.Context, before, after state) error {
	middle := before.version + (after.version-before.version)/2
	if before.version == 0 || middle == before.version || before.equals(after) {
		return s.leap(before, after)
	}
	found, _, err := s.list(ctx, metav1.ListOptions{
		ResourceVersion: strconv.FormatUint(middle, 10), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		s.recorder.countGap()
		return s.leap(before, after)
	}
	if err != nil {
		return err
	}
	between := state{middle, found}
	if err := s.fill(ctx, before, between); err != nil {
		return err
	}
	return s.fill(ctx, between, after)
}

// leap notes what differs between two states.
func (s *stream) leap(before, after state) error {
	for uid, object := range before.objects {
		if after.objects[uid] == nil {
			last := object.DeepCopyObject().(client.Object)
			last.SetResourceVersion(strconv.FormatUint(after.version, 10))
			if err := s.note(last, true); err != nil {
				return err
			}
		}
	}
	for uid, object := range after.objects {
		if known := before.objects[uid]; known == nil || known.GetResourceVersion() != object.GetResourceVersion() {
			if err := s.note(object, false); err != nil {
				return err
			}
		}
	}
	s.seen = after.version
	return nil
}

// list returns what is stored, now or at another version, and the version.
func (s *stream) list(ctx context.Context, options metav1.ListOptions) (map[types.UID]client.Object, uint64, error) {
	list := s.newList()
	if err := s.client.List(ctx, list, &client.ListOptions{Namespace: s.namespace, Raw: &options}); err != nil {
		return nil, 0, err
	}
	found := map[types.UID]client.Object{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		found[object.GetUID()] = object
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	version, err := strconv.ParseUint(list.GetResourceVersion(), 10, 64)
	return found, version, err
}

func (s *stream) remembered() map[types.UID]client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.known)
}

// isUpToDate tells whether all that is stored is known.
func (s *stream) isUpToDate(ctx context.Context) error {
	found, _, err := s.list(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	known := s.remembered()
	if len(known) != len(found) {
		return fmt.Errorf("%d objects are known and %d stored", len(known), len(found))
	}
	for uid, object := range found {
		if known[uid] == nil || known[uid].GetResourceVersion() != object.GetResourceVersion() {
			return fmt.Errorf("%T %s is not known as it is stored", object, object.GetName())
		}
	}
	return nil
}
