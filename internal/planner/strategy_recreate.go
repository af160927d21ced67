package planner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// recreate is the Recreate strategy: pods of the target revision and pods of any
// other never exist at the same time. Its phase follows from the pods alone:
//
//	NeedsDeletion       a pod of another revision is not terminating yet
//	WaitingTermination  all that are left are terminating
//	ReadyForCreation    none is left, as the API server itself confirms
//	Complete            every slot is available at the target revision
//
// Others are deleted all at once, outside the range too and whatever their
// state, with their own grace period. Creation follows the management policy.
type recreate struct{}

// The events of the strategy.
const (
	eventRecreateStarted  = "RecreateStarted"
	eventRecreateComplete = "RecreateComplete"
)

func (recreate) targets(int) bool { return true }

func (recreate) holdsUp(*slot) bool { return true }

func (r recreate) update(d *decision) verdict {
	others := r.others(d)
	switch {
	case len(others) > 0:
		return r.clear(d, others)
	case !r.isGoingOn(d):
		return verdict{progressing: r.afterwards(d)}
	case d.isComplete():
		return r.complete(d)
	default:
		return r.create(d)
	}
}

// others returns the pods of other revisions, inside the range and outside.
func (recreate) others(d *decision) []*slot {
	var others []*slot
	for _, slots := range [][]slot{d.fleet.slots, d.fleet.condemned} {
		for i := range slots {
			if s := &slots[i]; !s.isMissing() && s.revision != d.history.targetName() {
				others = append(others, s)
			}
		}
	}
	return others
}

// isGoingOn tells whether pods were cleared for the target and not all of the
// new ones have come up since.
func (recreate) isGoingOn(d *decision) bool {
	return d.history.currentName() != d.history.targetName() || d.progressingReason() == v1.ReasonRecreateInProgress
}

// clear is phases NeedsDeletion and WaitingTermination.
func (r recreate) clear(d *decision, others []*slot) verdict {
	v := verdict{holdsFill: true, pace: plan.Independent}
	var waitsFor *slot
	for _, s := range others {
		if s.isTerminating() {
			waitsFor = s
			continue
		}
		why := plan.Because(plan.Recreated, "it is at revision %s and all pods are recreated at %s", s.revision, d.history.targetName())
		v.takeDowns = append(v.takeDowns, takeDown{slot: s, reason: why})
	}
	if d.settings.isPaused && len(v.takeDowns) > 0 {
		return v
	}
	if r.isNew(d) {
		v.events = []plan.Event{normalEvent(eventRecreateStarted, "deleting %s of other revisions, then creating all at revision %s",
			pods(len(others)), d.history.targetName())}
	}
	v.progressing = r.inProgress(r.describeClearing(others, waitsFor))
	return v
}

// describeClearing names a pod that does not terminate and its node: a pod whose
// node is lost holds the update until somebody sees to the node.
func (recreate) describeClearing(others []*slot, waitsFor *slot) string {
	if waitsFor == nil {
		return fmt.Sprintf("deleting %s of other revisions", pods(len(others)))
	}
	message := fmt.Sprintf("waiting for %s of other revisions to terminate: %s", pods(len(others)), waitsFor.pod.Name)
	if node := waitsFor.pod.Spec.NodeName; node != "" {
		message += " on node " + node
	}
	return message
}

// isNew tells whether this target has not been announced yet.
func (recreate) isNew(d *decision) bool {
	return d.progressingReason() != v1.ReasonRecreateInProgress || d.set.Status.UpdateRevision != d.history.targetName()
}

// create is phase ReadyForCreation. Before the first pod is created, only the
// API server's own word that the others are gone counts.
func (r recreate) create(d *decision) verdict {
	isFirst := d.fleet.tally.missing == len(d.fleet.slots) && len(d.fleet.condemned) == 0
	if isFirst && !d.observation.Live.Pods {
		return verdict{needs: plan.LiveReads{Pods: true}}
	}
	available := len(d.fleet.slots) - d.fleet.tally.unavailable
	message := fmt.Sprintf("creating pods at revision %s, %d of %d are available%s",
		d.history.targetName(), available, len(d.fleet.slots), d.waiting())
	return verdict{progressing: r.inProgress(message)}
}

func (recreate) inProgress(message string) *finding {
	return &finding{v1.ConditionProgressing, metav1.ConditionTrue, v1.ReasonRecreateInProgress, message}
}

// complete is phase Complete, announced once.
func (r recreate) complete(d *decision) verdict {
	event := normalEvent(eventRecreateComplete, "all pods are recreated at revision %s", d.history.targetName())
	return verdict{events: []plan.Event{event}, progressing: r.completed(d)}
}

func (recreate) completed(d *decision) *finding {
	message := fmt.Sprintf("all pods are recreated at revision %s", d.history.targetName())
	return &finding{v1.ConditionProgressing, metav1.ConditionTrue, v1.ReasonRecreateComplete, message}
}

// afterwards keeps saying what the last update ended with.
func (r recreate) afterwards(d *decision) *finding {
	if d.progressingReason() != v1.ReasonRecreateComplete {
		return nil
	}
	return r.completed(d)
}

// progressingReason is what the status said of the update so far.
func (d *decision) progressingReason() string {
	if before := meta.FindStatusCondition(d.set.Status.Conditions, v1.ConditionProgressing); before != nil {
		return before.Reason
	}
	return ""
}

func normalEvent(reason, format string, args ...any) plan.Event {
	return plan.Event{Type: corev1.EventTypeNormal, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
