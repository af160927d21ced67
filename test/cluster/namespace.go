package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// patience is how long a test waits for a condition; far more than any healthy run needs.
	patience = 90 * time.Second
	// interval is how often a condition is looked at.
	interval = 25 * time.Millisecond
)

// Space is a namespace of the shared control plane that belongs to one test.
type Space struct {
	// Name is the namespace.
	Name string
	// Client reads and writes at the API server, past any cache.
	Client client.Client
	// Config is for clients of other kinds, as cluster administrator.
	Config *rest.Config
	// Context ends with the test.
	Context context.Context
}

// Namespace returns a new namespace for the test, on a control plane with the given parts. It is deleted with the test.
func Namespace(t testing.TB, parts ...Part) *Space {
	t.Helper()
	if err := shared.api.do(shared.startAPI); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(parts, Nodes) {
		if err := shared.workers.do(shared.startWorkers); err != nil {
			t.Fatal(err)
		}
	}
	return newSpace(t)
}

func newSpace(t testing.TB) *Space {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := shared.client.Create(t.Context(), namespace); err != nil {
		t.Fatalf("creating the test's namespace: %v", err)
	}
	space := &Space{
		Name:    namespace.Name,
		Client:  shared.client,
		Config:  rest.CopyConfig(shared.env.Config),
		Context: t.Context(),
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(space.dump())
		}
		if err := shared.client.Delete(context.Background(), namespace); err != nil {
			t.Errorf("deleting namespace %s: %v", namespace.Name, err)
		}
	})
	return space
}

// Eventually waits until the condition returns nil and fails the test with its last error if that takes too long.
func (s *Space) Eventually(t testing.TB, what string, condition func(ctx context.Context) error) {
	t.Helper()
	if err := poll(s.Context, patience, condition); err != nil {
		t.Fatalf("waiting until %s: %v", what, err)
	}
}

// permanent marks an error that no waiting mends.
type permanent struct{ error }

// poll asks until the answer is nil, the error is permanent or the time is up.
func poll(ctx context.Context, timeout time.Duration, condition func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last error
	for {
		err := condition(ctx)
		if err == nil || errors.As(err, &permanent{}) {
			return err
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", timeout, last)
		case <-ticker.C:
		}
	}
}
