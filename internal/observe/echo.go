package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// ErrBehind says that the view does not show all of the operator's own writes
// yet. The event that completes it will come; Patience is the safety net.
var ErrBehind = errors.New("the view lags behind the operator's own writes")

// Patience is how long a write may take to show up before the API server is
// asked what became of it.
const Patience = time.Second

// memory is what the process remembers of its writes, by set. It is lost in a
// crash, which is safe: a new process starts from a fresh list.
type memory struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*writes
}

// writes are those for one set that the view may not show yet.
type writes struct {
	owner types.UID
	// set is the set as the API server answered the last status write. It takes
	// the place of an older one in the view, so that nobody waits for its echo.
	set *v1.StatefulSet
	// echoes are the writes to other objects, in the order of writing.
	echoes []echo
}

// echo is the trace that a write will leave in the view.
type echo struct {
	object client.Object
	// isDelete: the object should be gone or terminating; otherwise the view
	// should show the object as written, or newer.
	isDelete bool
	since    time.Time
}

func newMemory() *memory { return &memory{sets: map[types.NamespacedName]*writes{}} }

// recall returns what is remembered of the set with this UID. What was written
// for a namesake before it is of no interest any more.
func (m *memory) recall(key types.NamespacedName, uid types.UID) *writes {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.sets[key]; known != nil && known.owner == uid {
		return known
	}
	m.sets[key] = &writes{owner: uid}
	return m.sets[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
}

// Remember notes what was done for a set, so that no decision is made before
// the view shows it: objects as the API server answered their write, and
// objects that were deleted.
func (o *Observer) Remember(set *v1.StatefulSet, written, deleted []client.Object) {
	recalled := o.memory.recall(client.ObjectKeyFromObject(set), set.UID)
	now := o.now()
	for _, object := range written {
		if own, ok := object.(*v1.StatefulSet); ok {
			recalled.set = own
			continue
		}
		recalled.echoes = append(recalled.echoes, echo{object: object, since: now})
	}
	for _, object := range deleted {
		recalled.echoes = append(recalled.echoes, echo{object: object, isDelete: true, since: now})
	}
}

// newest returns the set as last written by us, unless the view is as new.
func (w *writes) newest(viewed *v1.StatefulSet) *v1.StatefulSet {
	if w.set == nil || isAtLeast(viewed, w.set) {
		w.set = nil
		return viewed
	}
	return w.set
}

// awaitEchoes drops the writes that the view shows, up to the first that it does not.
func (o *Observer) awaitEchoes(ctx context.Context, recalled *writes) error {
	for len(recalled.echoes) > 0 {
		arrived, err := o.hasArrived(ctx, recalled.echoes[0])
		if err != nil {
			return err
		}
		if !arrived {
			return ErrBehind
		}
		recalled.echoes = recalled.echoes[1:]
	}
	return nil
}

// hasArrived tells whether the view shows a write, or never will.
func (o *Observer) hasArrived(ctx context.Context, expected echo) (bool, error) {
	viewed, err := read(ctx, o.cached, expected.object)
	switch {
	case err != nil:
		return false, err
	case expected.isDelete:
		return viewed == nil || viewed.GetUID() != expected.object.GetUID() || viewed.GetDeletionTimestamp() != nil, nil
	case viewed != nil && isAtLeast(viewed, expected.object):
		return true, nil
	case o.now().Sub(expected.since) < Patience:
		return false, nil
	default:
		return o.isLost(ctx, expected.object)
	}
}

// isLost tells whether a written object will not show up any more: somebody
// deleted it before the view could show it, or took away the label that the
// view is restricted to.
func (o *Observer) isLost(ctx context.Context, written client.Object) (bool, error) {
	current, err := read(ctx, o.live, written)
	if err != nil || current == nil || current.GetUID() != written.GetUID() {
		return err == nil, err
	}
	_, isPod := current.(*corev1.Pod)
	_, isNamed := current.GetLabels()[v1.PodNameLabel]
	return isPod && !isNamed, nil
}

// read returns the object of the same kind and name, or nil if there is none.
func read(ctx context.Context, from client.Reader, object client.Object) (client.Object, error) {
	var found client.Object
	switch plan.KindOf(object) {
	case plan.KindPod:
		found = &corev1.Pod{}
	case plan.KindClaim:
		found = &corev1.PersistentVolumeClaim{}
	case plan.KindRevision:
		found = &appsv1.ControllerRevision{}
	default:
		return nil, fmt.Errorf("look for the echo of a write to a %T: no such objects are observed", object)
	}
	key := client.ObjectKeyFromObject(object)
	err := from.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the echo of a write to %T %s: %w", object, key, err)
	}
	return found, nil
}

// isAtLeast tells whether an object is of the version of another or newer.
// Versions that can't be compared come from no API server of ours: they never
// match, and the API server is asked.
func isAtLeast(object, other client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), other.GetResourceVersion())
	return err == nil && order >= 0
}
