package integration

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

const loadPods = 5000

// The simulated nodes keep up with 5,000 pods: they take at most twice as long as the clients that create and delete the
// pods as fast as the API server lets them, on a machine that all of them share. Pods are bound by the test, so that neither the
// scheduler's speed nor the nodes' capacity counts. The rates are logged; docs/local-cluster.md has them for an
// otherwise idle machine.
func TestNodesKeepUp(t *testing.T) {
	ns := cluster.Namespace(t, cluster.Nodes)
	create(t, ns, newPod(ns, "first")) // the namespace takes pods now
	config := *ns.Config
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	clients := kubernetes.NewForConfigOrDie(&config)
	seen := watchLoad(t, clients, ns)
	pods := clients.CoreV1().Pods(ns.Name)

	race(t, "started", func() { createLoad(t, ns, pods) }, func() { seen.await(t, ns, "started", &seen.started) })
	race(t, "stopped", func() { deleteLoad(t, ns, pods) }, func() { seen.await(t, ns, "stopped", &seen.stopped) })
}

// race compares how long the clients took with how long it took until the nodes had followed.
func race(t *testing.T, what string, clients, nodes func()) {
	t.Helper()
	begin := time.Now()
	clients()
	asked := time.Since(begin)
	nodes()
	done := time.Since(begin)
	t.Logf("%d pods %s in %.1fs, %.0f a second, %.1fs after the last request", loadPods, what, done.Seconds(), loadPods/done.Seconds(), (done - asked).Seconds())
	if done > asked*2 {
		t.Errorf("the nodes were %s behind clients that took %s", done-asked, asked)
	}
}

func createLoad(t *testing.T, ns *cluster.Space, pods corev1client.PodInterface) {
	each(t, func(i int) error {
		pod := newPod(ns, loadPod(i))
		pod.Labels = map[string]string{"load": ""}
		pod.Spec.NodeName = fmt.Sprintf("node-%d", 1+i%8)
		_, err := pods.Create(ns.Context, pod, metav1.CreateOptions{})
		return err
	})
}

func deleteLoad(t *testing.T, ns *cluster.Space, pods corev1client.PodInterface) {
	each(t, func(i int) error { return pods.Delete(ns.Context, loadPod(i), metav1.DeleteOptions{}) })
}

func loadPod(i int) string { return fmt.Sprintf("load-%d", i) }

// each does something about every pod, a few at a time.
func each(t *testing.T, do func(i int) error) {
	const clients = 16
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := client; i < loadPods && !t.Failed(); i += clients {
				if err := do(i); err != nil {
					t.Errorf("pod %d: %v", i, err)
				}
			}
		})
	}
	group.Wait()
}

// load counts the transitions that were seen at the API server.
type load struct{ started, stopped atomic.Int64 }

func watchLoad(t *testing.T, clients kubernetes.Interface, ns *cluster.Space) *load {
	t.Helper()
	seen := &load{}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(ns.Name),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "load" }))
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if !isReady(before.(*corev1.Pod)) && isReady(after.(*corev1.Pod)) {
				seen.started.Add(1)
			}
		},
		DeleteFunc: func(any) { seen.stopped.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ns.Context.Done())
	factory.WaitForCacheSync(ns.Context.Done())
	return seen
}

func (l *load) await(t *testing.T, ns *cluster.Space, what string, counter *atomic.Int64) {
	t.Helper()
	ns.Eventually(t, "all pods are "+what, func(context.Context) error {
		if n := counter.Load(); n < loadPods {
			return fmt.Errorf("%d of %d", n, loadPods)
		}
		return nil
	})
}
