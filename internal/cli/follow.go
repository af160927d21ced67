package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

const (
	// heartbeat is how often somebody who watches looks again although nothing was reported: time passes, too.
	heartbeat = time.Second
	// settling is how long reports are gathered, so that one cause makes one picture.
	settling = 50 * time.Millisecond
	// quiet is how long nothing need be heard before somebody asks: a watch that can't be renewed does not say so.
	quiet = 3 * time.Second
	// knockPatience is how long the API server may take to answer that.
	knockPatience = 5 * time.Second
	// outagePatience is how long the API server may be away before a watch gives up. One that is upgraded is away for less.
	outagePatience = 20 * time.Second
)

// scope is what somebody watches: one set, the sets of a namespace, or all.
type scope struct {
	// namespace is empty for all.
	namespace string
	// name is empty for all sets.
	name string
}

// follower keeps a copy of sets, pods and revisions up to date and says when it has changed.
type follower struct {
	// Reader reads the copy.
	client.Reader
	live    client.Reader
	scope   scope
	changes chan struct{}
	errs    chan error
	// heard is when the API server was last heard of.
	heard time.Time
	// lostSince is when the API server was lost; zero while it is there.
	lostSince time.Time
	lost      error
	now       func() time.Time
}

// follow starts to follow. It ends with the context.
func (p *Program) follow(ctx context.Context, live client.Reader, s scope) (*follower, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	f := &follower{live: live, scope: s, changes: make(chan struct{}, 1), errs: make(chan error, 1), now: p.Now, heard: p.Now()}
	copied, err := cache.New(config, s.cacheOptions(f.report))
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	f.Reader = copied
	if err := f.subscribe(ctx, copied); err != nil {
		return nil, err
	}
	go func() { f.fail(copied.Start(ctx)) }()
	return f, f.awaitSync(ctx, copied)
}

// cacheOptions restricts the copy to what is watched.
func (s scope) cacheOptions(onError toolscache.WatchErrorHandlerWithContext) cache.Options {
	isPodOfSet, err := labels.NewRequirement(v1.PodNameLabel, selection.Exists, nil)
	if err != nil {
		panic(fmt.Sprintf("a label that is none: %v", err)) // a mistake in the program
	}
	options := cache.Options{
		Scheme:                   scheme(),
		DefaultWatchErrorHandler: onError,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: labels.NewSelector().Add(*isPodOfSet)},
		},
	}
	if s.namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	}
	if s.name != "" {
		options.ByObject[&v1.StatefulSet{}] = cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, s.name)}
	}
	return options
}

// subscribe has every change reported.
func (f *follower) subscribe(ctx context.Context, copied cache.Cache) error {
	changed := func(any) { f.changed() }
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, _ any) { f.changed() }, DeleteFunc: changed,
	}
	for _, kind := range []client.Object{&v1.StatefulSet{}, &corev1.Pod{}, &appsv1.ControllerRevision{}} {
		informer, err := copied.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	return nil
}

// changed says that the copy has changed; once is enough.
func (f *follower) changed() {
	select {
	case f.changes <- struct{}{}:
	default:
	}
}

// fail passes an error on; the first is enough.
func (f *follower) fail(err error) {
	if err == nil {
		return
	}
	select {
	case f.errs <- err:
	default:
	}
}

// report is told when a watch breaks. Most do for good reasons and are renewed; what counts is why it can't be.
func (f *follower) report(_ context.Context, _ *toolscache.Reflector, err error) {
	if isDenied(err) || isUnreachable(err) {
		f.fail(err)
	}
}

// isDenied tells whether trying again won't help.
func isDenied(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

// awaitSync waits for the first complete copy.
func (f *follower) awaitSync(ctx context.Context, copied cache.Cache) error {
	synced := make(chan bool, 1)
	go func() { synced <- copied.WaitForCacheSync(ctx) }()
	select {
	case ok := <-synced:
		if !ok {
			return context.Cause(ctx)
		}
		return nil
	case err := <-f.errs:
		return fmt.Errorf("watching: %w", err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next waits until there may be something new to see. It fails when the API server is denied to us, or away for too long.
func (f *follower) next(ctx context.Context) error {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	select {
	case <-f.changes:
		f.settle(ctx)
		f.heard = f.now()
	case err := <-f.errs:
		return f.suffer(err)
	case <-beat.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.isLost() || f.now().Sub(f.heard) > quiet {
		return f.suffer(f.knock(ctx))
	}
	return nil
}

// settle waits for the echoes of a change.
func (f *follower) settle(ctx context.Context) {
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	select {
	case <-f.changes:
	default:
	}
}

// suffer bears an outage for a while. After one, the API server itself is read: it takes watches up to a minute to recover.
func (f *follower) suffer(err error) error {
	switch {
	case err == nil && f.isLost():
		f.Reader = f.live
		fallthrough
	case err == nil:
		f.lostSince, f.lost, f.heard = time.Time{}, nil, f.now()
		return nil
	case isDenied(err):
		return err
	case !f.isLost():
		f.lostSince = f.now()
	case f.now().Sub(f.lostSince) > outagePatience:
		return err
	}
	f.lost = err
	return nil
}

func (f *follower) isLost() bool { return !f.lostSince.IsZero() }

// knock tells whether the API server is there.
func (f *follower) knock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	err := f.live.List(ctx, &v1.StatefulSetList{}, client.Limit(1), client.InNamespace(f.scope.namespace))
	if apierrors.IsForbidden(err) || errors.Is(ctx.Err(), context.Canceled) {
		return nil // it answers, or nobody wants to know any more
	}
	return err
}
