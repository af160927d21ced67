package explain

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// overtime is how long after its grace period a pod may still be there before it
// is called stuck.
const overtime = 15 * time.Second

// terminating says who keeps a pod from going: first match wins. A pod's
// deletionTimestamp is when its grace period ends.
func (s *situation) terminating(at slot) Cause {
	deadline := at.pod.DeletionTimestamp.Time
	if s.now.Before(deadline.Add(overtime)) {
		cause := about(Terminating, at, "is terminating%s", onNode(at.pod))
		cause.Passes = true
		return cause.until(deadline)
	}
	if finalizers := at.pod.Finalizers; len(finalizers) > 0 {
		return s.heldByFinalizers(at, finalizers)
	}
	if node := s.lostNode(at.pod); node != nil {
		cause := s.onLostNode(at, node)
		cause.Text += ", so nobody can say that the pod has stopped"
		return cause.since(deadline)
	}
	cause := about(StuckTerminating, at, "should have stopped%s and has not", onNode(at.pod))
	return cause.with("its grace period is over; the node has yet to say that all containers have stopped").
		since(deadline).mendedBy(s.describePod(at), s.forceDelete(at))
}

func (s *situation) heldByFinalizers(at slot, finalizers []string) Cause {
	cause := about(StuckTerminating, at, "is deleted but held by %s", strings.Join(finalizers, ", "))
	cause = cause.with("who set a finalizer removes it when its work is done; see to that controller first")
	return cause.since(at.pod.DeletionTimestamp.Time).mendedBy(s.describePod(at), Remedy{
		"if that controller is gone for good, remove the finalizers",
		s.kubectl("patch pod %s --type=merge -p '{\"metadata\":{\"finalizers\":null}}'", at.name),
	})
}

func onNode(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return ""
	}
	return " on node " + pod.Spec.NodeName
}

// lostNode returns the node of a pod if it does not answer; a node that does not
// exist any more has no conditions. Unknown nodes are taken for well.
func (s *situation) lostNode(pod *corev1.Pod) *corev1.Node {
	node, known := s.Nodes[pod.Spec.NodeName]
	if pod.Spec.NodeName == "" || !known {
		return nil
	}
	if node == nil {
		return &corev1.Node{}
	}
	if ready := nodeReady(node); ready != nil && ready.Status != corev1.ConditionTrue {
		return node
	}
	return nil
}

func nodeReady(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

func (s *situation) onLostNode(at slot, node *corev1.Node) Cause {
	name := at.pod.Spec.NodeName
	ready := nodeReady(node)
	if ready == nil {
		return about(NodeLost, at, "was on node %s, which does not exist any more", name).mendedBy(s.forceDelete(at))
	}
	cause := about(NodeLost, at, "is on node %s, which does not answer (%s)", name, ready.Reason)
	return cause.with(oneLine(ready.Message)).since(ready.LastTransitionTime.Time).mendedBy(
		Remedy{"see to the node", "kubectl describe node " + name},
		Remedy{
			"if the machine is off for certain, let its pods and volumes go elsewhere",
			fmt.Sprintf("kubectl taint nodes %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", name),
		})
}

// forceDelete is the last resort, and says what it costs.
func (s *situation) forceDelete(at slot) Remedy {
	return Remedy{
		"only if its containers have stopped for certain (else two pods of one identity may run)",
		s.kubectl("delete pod %s --grace-period=0 --force", at.name),
	}
}
