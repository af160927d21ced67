package localcluster

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-dev/rollcall/localcluster/nodes"
)

func (c *Cluster) simulatedNodes() component {
	return component{
		name: "nodes",
		command: func() (*exec.Cmd, error) {
			return program(nodes.Program, "--kubeconfig="+c.layout.UserKubeconfig("nodes"), "--nodes="+strconv.Itoa(c.options.Nodes))
		},
		ready: c.nodesTakePods,
	}
}

// nodesTakePods asks for nodes that are registered and that the controller-manager has freed of their taints.
func (c *Cluster) nodesTakePods(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.layout.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: nodes.NodeLabel})
	if err != nil {
		return err
	}
	open := 0
	for _, node := range list.Items {
		if takesPods(&node) && reportedSince(&node, c.began) {
			open++
		}
	}
	if open != c.options.Nodes || len(list.Items) != open {
		return fmt.Errorf("%d of %d nodes take pods", open, c.options.Nodes)
	}
	return nil
}

// reportedSince tells whether a node has spoken since a time: what an earlier run left in the folder does not count.
func reportedSince(node *corev1.Node, since time.Time) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return !c.LastHeartbeatTime.Time.Before(since.Truncate(time.Second))
		}
	}
	return false
}

// takesPods tells whether the control plane sends pods to a node. Taints that a person set are no concern of ours,
// nor are nodes played as lost.
func takesPods(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return nodes.IsLost(node)
		}
	}
	return true
}
