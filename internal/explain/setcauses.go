package explain

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// silence is how long the controller may take to notice a change before it is
// taken for absent.
const silence = 10 * time.Second

// longDeletion is how long a deletion may take before it is called stuck.
const longDeletion = time.Minute

// setCauses are the causes that lie with the set or with the controller, not
// with a pod.
func (s *situation) setCauses() []Cause {
	var causes []Cause
	for _, look := range []func() (Cause, bool){
		s.operatorSilent, s.deleting, s.invalidSpec, s.namesakeInCharge, s.refusal, s.gateDisabled,
	} {
		if cause, found := look(); found {
			causes = append(causes, cause)
		}
	}
	return causes
}

// operatorSilent: the spec was changed a while ago, and the status has yet to
// take notice.
func (s *situation) operatorSilent() (Cause, bool) {
	since := s.changedAt()
	if s.set.Status.ObservedGeneration >= s.set.Generation || s.now.Sub(since) < silence {
		return Cause{}, false
	}
	text := fmt.Sprintf("the operator does not act: it has seen generation %d of the set and %d is stored", s.set.Status.ObservedGeneration, s.set.Generation)
	if s.set.Status.ObservedGeneration == 0 {
		text = "the operator has not seen this set yet"
	}
	return Cause{Code: OperatorSilent, Text: text}.since(since).mendedBy(
		Remedy{"see whether it runs, and watches this namespace", "kubectl get pods -A -l app.kubernetes.io/name=rollcall"},
		Remedy{"read what it says", "kubectl logs -n rollcall-system -l app.kubernetes.io/name=rollcall --tail=50"},
	), true
}

// changedAt is when the spec was last written.
func (s *situation) changedAt() time.Time {
	at := s.set.CreationTimestamp.Time
	for _, entry := range s.set.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

func (s *situation) deleting() (Cause, bool) {
	if s.set.DeletionTimestamp == nil {
		return Cause{}, false
	}
	text := "the set is being deleted, so nothing is done for its pods any more" + finalizersOf(s.set)
	isNews := s.now.Sub(s.set.DeletionTimestamp.Time) < longDeletion
	return Cause{Code: Deleting, Text: text, Passes: isNews}.since(s.set.DeletionTimestamp.Time), true
}

func (s *situation) invalidSpec() (Cause, bool) {
	stalled := s.condition(v1.ConditionStalled)
	if stalled.Reason != v1.ReasonInvalidSpec {
		return Cause{}, false
	}
	text := "the spec can't be acted on: " + stalled.Message
	return Cause{Code: InvalidSpec, Text: text}.since(stalled.LastTransitionTime.Time).mendedBy(
		Remedy{"correct it", s.kubectl("edit %s", s.resource())}), true
}

// namesakeInCharge: the set is there to take over from one of apps/v1, which has
// not let go yet.
func (s *situation) namesakeInCharge() (Cause, bool) {
	stalled := s.condition(v1.ConditionStalled)
	if stalled.Reason != v1.ReasonNamesakeInCharge {
		return Cause{}, false
	}
	text := fmt.Sprintf("the StatefulSet %s of apps/v1 controls the pods and their history", s.set.Name)
	return Cause{Code: NamesakeInCharge, Text: text}.since(stalled.LastTransitionTime.Time).mendedBy(
		Remedy{"take them over, without a restart", s.plugin("adopt")},
		Remedy{"or leave them where they are", s.kubectl("delete %s", s.resource())}), true
}

func (s *situation) gateDisabled() (Cause, bool) {
	c := s.stored(v1.ConditionUpdateStrategy)
	if c == nil || planner.GatesTold(s.set) == plan.AllGates() {
		return Cause{}, false
	}
	cause := Cause{Code: GateDisabled, Text: c.Message, Passes: true}
	return cause.since(c.LastTransitionTime.Time), true
}

// refusal: the API server declined to create or delete something, or somebody
// else's pod has the name of one of ours. What is stored counts, because only the
// controller can try.
func (s *situation) refusal() (Cause, bool) {
	if taken := meta.FindStatusCondition(s.plan.Status.Conditions, v1.ConditionReplicaFailure); taken != nil {
		return s.nameTaken(*taken), true
	}
	c := s.stored(v1.ConditionReplicaFailure)
	if c == nil || c.Status != metav1.ConditionTrue || !s.isStillWanted(c) {
		return Cause{}, false
	}
	return s.refused(oneLine(c.Message)).with(s.theirWords(c.Message)).since(c.LastTransitionTime.Time), true
}

// refused tells apart who refuses: first match wins.
func (s *situation) refused(message string) Cause {
	switch {
	case strings.Contains(message, "exceeded quota"), strings.Contains(message, "failed quota"):
		return Cause{Code: Quota, Text: "a quota of the namespace stands against it"}.mendedBy(
			Remedy{"see what is used, and by whom", s.kubectl("describe resourcequota")})
	case strings.Contains(message, "violates PodSecurity"):
		return Cause{Code: PodSecurity, Text: "the PodSecurity level of the namespace does not allow such pods"}.mendedBy(
			Remedy{"see the level", fmt.Sprintf("kubectl get namespace %s --show-labels", s.set.Namespace)},
			Remedy{"make the template comply", s.kubectl("edit %s", s.resource())})
	case strings.Contains(message, "admission webhook"):
		return Cause{Code: AdmissionWebhook, Text: "an admission webhook refuses what the operator writes"}.mendedBy(
			Remedy{"find the webhook", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"})
	default:
		return Cause{Code: Refused, Text: "the API server refuses what the operator writes"}.mendedBy(
			Remedy{"read the set's events", s.kubectl("describe %s", s.resource())})
	}
}

// theirWords is a message of the operator without what it says twice.
func (s *situation) theirWords(message string) string {
	before, after, found := strings.Cut(oneLine(message), " in namespace "+s.set.Namespace+": ")
	if !found {
		return oneLine(message)
	}
	what, _, _ := strings.Cut(before, ": ")
	return what + ": " + after
}

// isStillWanted tells whether what was refused is still to be done: a condition
// may be older than the last change of the spec.
func (s *situation) isStillWanted(c *metav1.Condition) bool {
	return c.ObservedGeneration == s.set.Generation
}

func (s *situation) nameTaken(c metav1.Condition) Cause {
	cause := Cause{Code: NameTaken, Text: c.Message}
	for _, at := range s.slots {
		for _, pod := range s.Observation.Pods {
			if at.pod != nil || pod.Name != at.name || pod.DeletionTimestamp != nil {
				continue
			}
			cause.Object = "pod/" + pod.Name
			owner := metav1.GetControllerOfNoCopy(pod)
			if owner != nil {
				cause = cause.with(fmt.Sprintf("it belongs to %s %s", owner.Kind, owner.Name))
			} else {
				cause = cause.with("it has no controller, and its labels do not match the set's selector")
			}
			return cause.since(pod.CreationTimestamp.Time).mendedBy(s.describePod(at), Remedy{"if nobody needs it", s.kubectl("delete pod %s", pod.Name)})
		}
	}
	return cause
}
