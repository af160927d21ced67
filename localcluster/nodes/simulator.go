package nodes

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// workers is how many pods are written at a time; each write waits on the API server most of the while.
const workers = 32

// Simulator plays a number of nodes.
type Simulator struct {
	Client kubernetes.Interface
	// Nodes is how many nodes there are.
	Nodes int
	// Delays are for pods that ask for none.
	Delays Delays

	pods      cache.SharedIndexInformer
	nodes     cache.SharedIndexInformer
	queue     workqueue.TypedDelayingInterface[podKey]
	memory    memory
	addresses addresses
	leases    leases
}

// Run plays the nodes until the context ends.
func (s *Simulator) Run(ctx context.Context) error {
	if err := s.registerNodes(ctx); err != nil {
		return err
	}
	s.queue = workqueue.NewTypedDelayingQueue[podKey]()
	if err := s.watch(ctx); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Playing nodes", "nodes", s.Nodes)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { s.work(ctx) })
	}
	<-ctx.Done()
	s.queue.ShutDown()
	group.Wait()
	return nil
}

// watch starts the informers and returns when they know the whole cluster.
func (s *Simulator) watch(ctx context.Context) error {
	assigned := informers.NewSharedInformerFactoryWithOptions(s.Client, 0,
		informers.WithTransform(strip),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName!=" }))
	ours := informers.NewSharedInformerFactoryWithOptions(s.Client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = NodeLabel }))
	s.pods, s.nodes = assigned.Core().V1().Pods().Informer(), ours.Core().V1().Nodes().Informer()
	if err := s.pods.AddIndexers(cache.Indexers{byNode: indexByNode}); err != nil {
		return fmt.Errorf("indexing pods by node: %w", err)
	}
	ours.StartWithContext(ctx)
	assigned.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), s.pods.HasSynced, s.nodes.HasSynced) {
		return ctx.Err()
	}
	for _, pod := range s.pods.GetStore().List() {
		s.addresses.reserve(pod.(*corev1.Pod).Status.PodIP)
	}
	return s.listen(ctx)
}

// listen hears of nodes before pods, since a pod waits for its node to be known.
func (s *Simulator) listen(ctx context.Context) error {
	if _, err := s.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(node any) { s.onNode(ctx, node) },
		UpdateFunc: func(_, node any) { s.onNode(ctx, node) },
		DeleteFunc: s.onNodeGone,
	}); err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	_, err := s.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    s.onPod,
		UpdateFunc: func(_, pod any) { s.onPod(pod) },
		DeleteFunc: s.onPodGone,
	})
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	return nil
}

const byNode = "node"

func indexByNode(object any) ([]string, error) {
	return []string{object.(*corev1.Pod).Spec.NodeName}, nil
}

// strip drops what the simulator never reads, so that thousands of pods stay small.
func strip(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil
	}
	pod.ManagedFields = nil
	pod.Spec.Volumes = nil
	pod.Spec.Affinity, pod.Spec.Tolerations = nil, nil
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		*c = corev1.Container{Name: c.Name, Image: c.Image}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		*c = corev1.Container{Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy}
	}
	return pod, nil
}
