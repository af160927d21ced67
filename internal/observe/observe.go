// Package observe gathers everything that a decision about one set depends on.
//
// Three rules:
//
//   - Reads come from informers and cost what the set's own objects cost. All
//     that bears on a set is found by an index: by the name of an object's
//     controller, and by the stem of its own name (the part before the last
//     dash), which pods, claims and revisions derive from their set.
//   - A view that does not show the operator's own writes yet is not a view to
//     decide on: Observe answers ErrBehind until it does (see echo.go).
//   - What no cache can vouch for is read from the API server, and only when the
//     plan asks for it (see live.go).
package observe

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Observer makes observations. It is safe for concurrent use, as long as no two
// calls are about the same set.
type Observer struct {
	cached    client.Reader
	shelf     *Shelf
	live      client.Reader
	templates *templates
	memory    *memory
	gates     plan.Gates
	now       func() time.Time
}

// Sources are where an Observer reads.
type Sources struct {
	// Cached reads from informers that were set up with CacheOptions and AddIndexes.
	Cached client.Reader
	// Shelf holds the pods of the same informers; if it is nil, they are listed.
	Shelf *Shelf
	// Live reads from the API server.
	Live client.Reader
	// DryRun creates at the API server; it is only used with dry runs.
	DryRun client.Writer
	// Now tells the time.
	Now func() time.Time
}

// New returns an Observer that reads from the sources and passes on the gates.
func New(sources Sources, gates plan.Gates) *Observer {
	return &Observer{
		cached:    sources.Cached,
		shelf:     sources.Shelf,
		live:      sources.Live,
		templates: newTemplates(sources.DryRun),
		memory:    newMemory(),
		gates:     gates,
		now:       sources.Now,
	}
}

// Observe returns the view of the set. The error is "not found" when there is
// no such set, and ErrBehind when the view lags behind the operator's own writes.
func (o *Observer) Observe(ctx context.Context, key types.NamespacedName) (plan.Observation, error) {
	set, err := o.observeSet(ctx, key)
	if err != nil {
		return plan.Observation{}, err
	}
	observation := plan.Observation{Set: set, Gates: o.gates}
	if observation.Pods, err = o.pods(ctx, set); err != nil {
		return plan.Observation{}, err
	}
	if observation.Claims, err = o.claims(ctx, set); err != nil {
		return plan.Observation{}, err
	}
	if observation.Revisions, err = o.revisions(ctx, set); err != nil {
		return plan.Observation{}, err
	}
	observation.Now = o.now()
	return observation, nil
}

// observeSet returns the set, provided that all that was written for it is visible.
func (o *Observer) observeSet(ctx context.Context, key types.NamespacedName) (*v1.StatefulSet, error) {
	set := &v1.StatefulSet{}
	if err := o.cached.Get(ctx, key, set); err != nil {
		return nil, fmt.Errorf("read set %s: %w", key, err)
	}
	recalled := o.memory.recall(key, set.UID)
	if err := o.awaitEchoes(ctx, recalled); err != nil {
		return nil, fmt.Errorf("observe set %s: %w", key, err)
	}
	set = recalled.newest(set).DeepCopy()
	v1.SetDefaults(set)
	return set, nil
}

// Forget drops what is remembered of a set that is gone.
func (o *Observer) Forget(key types.NamespacedName) {
	o.memory.forget(key)
	o.templates.forget(key)
}

// pods returns the pods that a set of this name controls and all that bear a name of its pods.
func (o *Observer) pods(ctx context.Context, set *v1.StatefulSet) ([]*corev1.Pod, error) {
	if o.shelf != nil {
		return o.shelf.take(set.Namespace, set.Name)
	}
	var list corev1.PodList
	if err := o.cached.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingFields{bySet: set.Name}); err != nil {
		return nil, fmt.Errorf("list the pods of set %s/%s: %w", set.Namespace, set.Name, err)
	}
	return pointers(list.Items), nil
}

// revisions returns the revisions that a set of this name controls and all that bear a name of its revisions.
func (o *Observer) revisions(ctx context.Context, set *v1.StatefulSet) ([]*appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	if err := o.cached.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingFields{bySet: set.Name}); err != nil {
		return nil, fmt.Errorf("list the revisions of set %s/%s: %w", set.Namespace, set.Name, err)
	}
	return pointers(list.Items), nil
}

// claims returns the claims made from the set's claim templates, whatever their
// ordinals, by name. A claim needs no label for that: users put claims in place
// beforehand, for instance to restore a backup.
func (o *Observer) claims(ctx context.Context, set *v1.StatefulSet) (map[string]*corev1.PersistentVolumeClaim, error) {
	found := map[string]*corev1.PersistentVolumeClaim{}
	for _, stem := range claimStems(set) {
		var list corev1.PersistentVolumeClaimList
		err := o.cached.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingFields{byStem: stem})
		if err != nil {
			return nil, fmt.Errorf("list the claims %s-… of set %s/%s: %w", stem, set.Namespace, set.Name, err)
		}
		for i := range list.Items {
			found[list.Items[i].Name] = &list.Items[i]
		}
	}
	return found, nil
}

func pointers[T any](items []T) []*T {
	all := make([]*T, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}
