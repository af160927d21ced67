package nodes

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// leases holds a heartbeat for every node that is not lost.
type leases struct {
	sync.Mutex
	stop map[string]context.CancelFunc
}

// hold starts a heartbeat unless there is one, and tells whether it did.
func (l *leases) hold(ctx context.Context, name string, keep func(context.Context)) bool {
	l.Lock()
	defer l.Unlock()
	if _, held := l.stop[name]; held {
		return false
	}
	if l.stop == nil {
		l.stop = map[string]context.CancelFunc{}
	}
	ctx, l.stop[name] = context.WithCancel(ctx)
	go keep(ctx)
	return true
}

func (l *leases) release(name string) {
	l.Lock()
	defer l.Unlock()
	if stop, held := l.stop[name]; held {
		stop()
		delete(l.stop, name)
	}
}

// onNode keeps a node alive, or lets it fall silent if its annotation says so.
func (s *Simulator) onNode(ctx context.Context, object any) {
	node := object.(*corev1.Node)
	if IsLost(node) {
		s.leases.release(node.Name)
		return
	}
	if s.leases.hold(ctx, node.Name, func(ctx context.Context) { keepLease(ctx, s.Client, node.Name) }) {
		s.wakePods(node.Name)
	}
	if !isReported(node) {
		if err := s.refreshNode(ctx, node.Name); err != nil {
			klog.FromContext(ctx).Error(err, "Reporting a node as ready", "node", node.Name)
		}
	}
}

func (s *Simulator) onNodeGone(object any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
		s.leases.release(key)
	}
}

// wakePods looks again at every pod of a node that has come back.
func (s *Simulator) wakePods(node string) {
	pods, err := s.pods.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return
	}
	for _, pod := range pods {
		s.onPod(pod)
	}
}
