package recorder

import (
	"context"
	"fmt"
	"maps"
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
	// version is where the next watch goes on; empty when only a list can tell.
	version string
	// isBegun: the first list was read.
	isBegun bool

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

// relist notes what differs from what is known.
func (s *stream) relist(ctx context.Context) error {
	found, version, err := s.list(ctx)
	if err != nil {
		return err
	}
	isChanged := false
	for uid, object := range s.remembered() {
		if found[uid] == nil {
			isChanged = true
			last := object.DeepCopyObject().(client.Object)
			last.SetResourceVersion(version)
			if err := s.note(last, true); err != nil {
				return err
			}
		}
	}
	for uid, object := range found {
		if before := s.remembered()[uid]; before == nil || before.GetResourceVersion() != object.GetResourceVersion() {
			isChanged = true
			if err := s.note(object, false); err != nil {
				return err
			}
		}
	}
	if isChanged && s.isBegun {
		s.recorder.countGap()
	}
	s.version, s.isBegun = version, true
	return nil
}

func (s *stream) list(ctx context.Context) (map[types.UID]client.Object, string, error) {
	list := s.newList()
	if err := s.client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
		return nil, "", err
	}
	found := map[types.UID]client.Object{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		found[object.GetUID()] = object
		return nil
	})
	return found, list.GetResourceVersion(), err
}

func (s *stream) remembered() map[types.UID]client.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.known)
}

// isUpToDate tells whether all that is stored is known.
func (s *stream) isUpToDate(ctx context.Context) error {
	found, _, err := s.list(ctx)
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
