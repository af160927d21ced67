// Package recorder writes down all that happens to the sets, pods, claims and revisions of a namespace, for test/judge.
//
// It watches the API server directly. A restarted API server does not take up an old watch; then the recorder lists what
// was stored at versions in between, as long as it takes to find every single change. Only a Gap, when those versions
// are stored no more, or an object that was created and removed unseen, is lost.
package recorder

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/judge"
)

// Recorder records until the test ends.
type Recorder struct {
	space   *cluster.Space
	streams []*stream

	mu      sync.Mutex
	entries []judge.Entry
	byUser  map[types.UID]bool
	gaps    int
}

// kinds are what is recorded.
var kinds = []func() client.ObjectList{
	func() client.ObjectList { return &v1.StatefulSetList{} },
	func() client.ObjectList { return &corev1.PodList{} },
	func() client.ObjectList { return &corev1.PersistentVolumeClaimList{} },
	func() client.ObjectList { return &appsv1.ControllerRevisionList{} },
}

// Start starts recording. It has to come before the first set is created.
func Start(t testing.TB, space *cluster.Space) *Recorder {
	t.Helper()
	watcher, err := client.NewWithWatch(space.Config, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{space: space, byUser: map[types.UID]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var followers sync.WaitGroup
	for _, newList := range kinds {
		s := &stream{recorder: r, client: watcher, namespace: space.Name, newList: newList, known: map[types.UID]client.Object{}}
		r.streams = append(r.streams, s)
		followers.Go(func() { s.follow(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		followers.Wait()
	})
	return r
}

// NoteUserDelete says that a pod is about to be deleted by somebody else than the operator.
func (r *Recorder) NoteUserDelete(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUser[uid] = true
}

// RetractUserDelete says that this did not happen.
func (r *Recorder) RetractUserDelete(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byUser, uid)
}

// Gaps is how often something may have been missed.
func (r *Recorder) Gaps() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gaps
}

// History waits until everything that is stored now is recorded, and returns the history so far.
func (r *Recorder) History(t testing.TB) judge.History {
	t.Helper()
	for _, s := range r.streams {
		r.space.Eventually(t, "the recorder has seen all", s.isUpToDate)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return judge.History{Entries: append([]judge.Entry{}, r.entries...), ByUser: maps.Clone(r.byUser)}
}

// note writes down a change.
func (r *Recorder) note(object client.Object, isGone bool) error {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("reading the version of %s: %w", object.GetName(), err)
	}
	object.SetManagedFields(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, judge.Entry{Version: version, At: time.Now(), Object: object, Gone: isGone})
	return nil
}

func (r *Recorder) countGap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps++
}

// Len is how many changes have been recorded so far.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}
