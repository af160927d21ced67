package nodes

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/apimachinery/lease"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

const (
	// NodeLabel marks the nodes that the simulator plays.
	NodeLabel = "sim.rollcall.dev/node"
	// LostAnnotation with the value "true" on a node makes it fall silent: its lease lapses, its pods hang.
	LostAnnotation = "sim.rollcall.dev/lost"

	leaseSeconds = 40
	renewEvery   = 10 * time.Second
	hostIP       = "127.0.0.1"
)

// capacity of every node: large enough for demos, small enough that an absurd request stays Pending.
var capacity = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("64"),
	corev1.ResourceMemory:           resource.MustParse("256Gi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	corev1.ResourcePods:             resource.MustParse("250"),
}

// nodeName is the name of the i-th node, from 1.
func nodeName(i int) string { return "node-" + strconv.Itoa(i) }

// registerNodes creates the nodes and removes those that an earlier, larger cluster left.
func (s *Simulator) registerNodes(ctx context.Context) error {
	wanted := map[string]bool{}
	for i := 1; i <= s.Nodes; i++ {
		wanted[nodeName(i)] = true
		if err := s.registerNode(ctx, nodeName(i)); err != nil {
			return fmt.Errorf("registering %s: %w", nodeName(i), err)
		}
	}
	existing, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: NodeLabel})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for _, node := range existing.Items {
		if !wanted[node.Name] {
			if err := s.Client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("removing %s: %w", node.Name, err)
			}
		}
	}
	return nil
}

func (s *Simulator) registerNode(ctx context.Context, name string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			NodeLabel:                "",
			corev1.LabelHostname:     name,
			corev1.LabelOSStable:     runtime.GOOS,
			corev1.LabelArchStable:   runtime.GOARCH,
			corev1.LabelTopologyZone: "local",
		}},
		Status: nodeStatus(time.Now()),
	}
	_, err := s.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return s.refreshNode(ctx, name)
	}
	return err
}

// refreshNode reports a node as ready again after it, or this process, has been away.
func (s *Simulator) refreshNode(ctx context.Context, name string) error {
	node, err := s.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	node.Status = nodeStatus(time.Now())
	_, err = s.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func nodeStatus(now time.Time) corev1.NodeStatus {
	moment := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: moment, LastTransitionTime: moment}
	}
	return corev1.NodeStatus{
		Capacity:    capacity,
		Allocatable: capacity,
		Addresses:   []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: hostIP}},
		NodeInfo: corev1.NodeSystemInfo{
			Architecture: runtime.GOARCH, OperatingSystem: runtime.GOOS, OSImage: "simulated",
			KernelVersion: "simulated", ContainerRuntimeVersion: "simulated://1", KubeletVersion: "v1.37.1",
		},
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeReady, corev1.ConditionTrue, "SimulatorReady"),
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "SimulatorHasSufficientMemory"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "SimulatorHasNoDiskPressure"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "SimulatorHasSufficientPID"),
		},
	}
}

// keepLease renews a node's lease until the context ends: the heartbeat that keeps it Ready.
func keepLease(ctx context.Context, client kubernetes.Interface, name string) {
	lease.NewController(clock.RealClock{}, client, name, leaseSeconds, nil, renewEvery,
		name, corev1.NamespaceNodeLease, nil).Run(ctx)
}

// IsLost tells whether a node is to be played as lost.
func IsLost(node *corev1.Node) bool { return node.Annotations[LostAnnotation] == "true" }

// isReported tells whether the node's status says Ready.
func isReported(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// graceOf is how long a pod may take to stop before its node ends it.
func graceOf(pod *corev1.Pod) time.Duration {
	return time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
}
