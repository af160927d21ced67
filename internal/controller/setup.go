package controller

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/metrics"
	"github.com/rollcall-dev/rollcall/internal/observe"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Name is how the controller appears in logs, metrics, events and field managers.
const Name = "rollcall"

const (
	// firstRetry and lastRetry bound the delay after an error. The upper bound is
	// also how long after an administrator raised a quota the last pod is created.
	firstRetry = 20 * time.Millisecond
	lastRetry  = 30 * time.Second

	// syncTimeout is how long a readiness probe waits for informers.
	syncTimeout = 100 * time.Millisecond
)

// Options are what an administrator chooses.
type Options struct {
	// Gates are the feature gates.
	Gates plan.Gates
	// ConcurrentSyncs is how many sets are worked on at a time.
	ConcurrentSyncs int
	// Registerer is where the controller's metrics go; nowhere if it is nil.
	Registerer prometheus.Registerer
	// SkipNameValidation allows a second controller in one process, for tests.
	SkipNameValidation bool
}

// DefaultConcurrentSyncs uses the machine: a sync waits for the API server most
// of its time, so there are several for each processor.
func DefaultConcurrentSyncs() int { return max(8, 4*runtime.GOMAXPROCS(0)) }

// ManagerOptions are the options that the controller needs its manager to have.
// No namespaces means all.
func ManagerOptions(namespaces []string) (manager.Options, error) {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return manager.Options{}, fmt.Errorf("register kinds: %w", err)
		}
	}
	return manager.Options{Scheme: scheme, Cache: observe.CacheOptions(namespaces)}, nil
}

// Setup adds the controller to a manager that was made with ManagerOptions.
func Setup(ctx context.Context, mgr manager.Manager, options Options) error {
	shelf, err := observe.NewShelf(ctx, mgr.GetCache())
	if err != nil {
		return err
	}
	if err := observe.AddIndexes(ctx, mgr.GetFieldIndexer(), shelf); err != nil {
		return err
	}
	writer, err := newWriter(mgr)
	if err != nil {
		return err
	}
	observer := observe.New(observe.Sources{
		Cached: mgr.GetCache(), Shelf: shelf, Live: mgr.GetAPIReader(), DryRun: writer, Now: time.Now,
	}, options.Gates)
	executor := execute.New(execute.Targets{
		Writer: writer, Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder(Name), Now: time.Now,
	})
	numbers := metrics.New(observer.Census, isElected(mgr))
	if options.Registerer != nil {
		if err := options.Registerer.Register(numbers); err != nil {
			return fmt.Errorf("register the controller's metrics: %w", err)
		}
	}
	if err := mgr.AddReadyzCheck("informers", hasSynced(mgr)); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	return watch(mgr, observer, &reconciler{observer: observer, executor: executor, metrics: numbers, now: time.Now}, options)
}

// isElected tells whether this process is the one that acts.
func isElected(mgr manager.Manager) func() bool {
	return func() bool {
		select {
		case <-mgr.Elected():
			return true
		default:
			return false
		}
	}
}

// watch says which events bring a set to its turn; see events.go.
func watch(mgr manager.Manager, observer *observe.Observer, reconciler reconcile.Reconciler, options Options) error {
	router := &router{sets: mgr.GetCache(), claims: observer}
	err := builder.ControllerManagedBy(mgr).
		Named(Name).
		For(&v1.StatefulSet{}, builder.WithPredicates(specChanged())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(router.owner), builder.WithPredicates(podChanged())).
		Watches(&appsv1.ControllerRevision{}, handler.EnqueueRequestsFromMapFunc(router.owner), builder.WithPredicates(metaChanged())).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(router.users), builder.WithPredicates(metaChanged())).
		WithOptions(ctrlcontroller.Options{
			MaxConcurrentReconciles: options.ConcurrentSyncs,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
			SkipNameValidation:      &options.SkipNameValidation,
			// A standby keeps its view warm, so that a new leader acts at once.
			EnableWarmup: ptr.To(true),
		}).
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("set up the controller: %w", err)
	}
	return nil
}

// hasSynced says that the process is ready when its informers are.
func hasSynced(mgr manager.Manager) func(*http.Request) error {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), syncTimeout)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return fmt.Errorf("the informers have yet to read the cluster")
		}
		return nil
	}
}
