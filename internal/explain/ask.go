package explain

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// maxPodCauses is how many pods an answer goes into.
const maxPodCauses = 5

// Ask answers a question. It modifies nothing.
func Ask(q Question) Answer {
	s := read(q)
	causes := slices.Concat(s.setCauses(), s.podCauses(), s.holdCauses())
	slices.SortStableFunc(causes, func(a, b Cause) int { return rank(a) - rank(b) })
	answer := Answer{Namespace: s.set.Namespace, Name: s.set.Name, Causes: causes, State: s.state(causes)}
	answer.Summary = s.summary(answer.State)
	if answer.State == Done {
		return answer
	}
	answer.Controller, answer.Next = s.controllerWords(), s.next()
	if len(causes) > 0 {
		answer.Rule = s.rule(causes[0].Code)
	}
	if answer.State == Stuck || answer.State == Waiting {
		answer.Remedies = s.waysOut(causes)
	}
	return answer
}

// rank puts what passes behind what does not, and what the user asked for behind
// what nobody did.
func rank(c Cause) int {
	switch {
	case isHold(c):
		return 2
	case c.Passes:
		return 1
	default:
		return 0
	}
}

func isHold(c Cause) bool {
	return c.Code == Paused || c.Code == Partition || c.Code == OnDelete
}

// podCauses go through the slots, from the lowest, and then through the pods
// outside the range.
func (s *situation) podCauses() []Cause {
	var causes []Cause
	for _, at := range slices.Concat(s.slots, s.condemned) {
		if at.state.IsAvailable() {
			continue
		}
		if at.pod == nil {
			if cause, found := s.missingSlotCause(at); found {
				causes = append(causes, cause)
			}
			continue
		}
		causes = append(causes, s.withDeadline(at, s.podCause(at)))
	}
	return s.abridge(causes)
}

// abridge keeps an answer about a thousand broken pods readable.
func (s *situation) abridge(causes []Cause) []Cause {
	slices.SortStableFunc(causes, func(a, b Cause) int { return rank(a) - rank(b) })
	if len(causes) <= maxPodCauses {
		return causes
	}
	rest := len(causes) - maxPodCauses
	causes = causes[:maxPodCauses:maxPodCauses]
	last := &causes[maxPodCauses-1]
	last.Details = append(slices.Clone(last.Details), fmt.Sprintf("and %s more are not available", countPods(rest)))
	return causes
}

// withDeadline adds until when the progress timeout bears a pod.
func (s *situation) withDeadline(at slot, cause Cause) Cause {
	if deadline := s.deadline(at); !deadline.IsZero() && !cause.Passes && cause.Until == nil {
		return cause.until(deadline)
	}
	return cause
}

// deadline is when the progress timeout replaces a pod; zero if it does not.
func (s *situation) deadline(at slot) time.Time {
	isHalted := s.condition(v1.ConditionProgressing).Reason == v1.ReasonProgressHalted
	if s.timeout == 0 || isHalted || !s.isUpdating() || s.set.Spec.Paused || at.pod == nil || !at.isReached {
		return time.Time{}
	}
	if at.state.Class == podstate.Terminating || podstate.WasReady(at.pod) {
		return time.Time{}
	}
	return at.pod.CreationTimestamp.Add(time.Second + s.timeout)
}

// state is how things stand: first match wins.
func (s *situation) state(causes []Cause) State {
	blocks := func(c Cause) bool { return rank(c) == 0 }
	isBlocked := slices.ContainsFunc(causes, blocks)
	isSilent := slices.ContainsFunc(causes, func(c Cause) bool { return c.Code == OperatorSilent })
	isTimed := slices.ContainsFunc(causes, func(c Cause) bool { return blocks(c) && c.Until != nil })
	isReady := s.condition(v1.ConditionReady).Status == metav1.ConditionTrue
	switch {
	case isSilent:
		return Stuck
	case isBlocked && len(s.podSteps()) > 0 && !slices.ContainsFunc(causes, isRefusal):
		return Progressing
	case isBlocked && isTimed:
		return Waiting
	case isBlocked:
		return Stuck
	case isReady && slices.ContainsFunc(causes, isHold):
		return Held
	case isReady:
		return Done
	default:
		return Progressing
	}
}

// isRefusal tells whether trying again is all the controller can do.
func isRefusal(c Cause) bool {
	return slices.Contains([]Code{Quota, PodSecurity, AdmissionWebhook, Refused, NameTaken}, c.Code)
}

// podSteps are what the controller is about to do to pods.
func (s *situation) podSteps() []plan.Action {
	var steps []plan.Action
	for action := range s.plan.Actions() {
		switch action.(type) {
		case plan.CreatePod, plan.DeletePod:
			steps = append(steps, action)
		}
	}
	return steps
}

// next lists these steps for people.
func (s *situation) next() []string {
	var lines []string
	steps := s.podSteps()
	for i, action := range steps {
		if i == maxNames {
			return append(lines, fmt.Sprintf("… and %d more steps", len(steps)-i))
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", action, action.Why()))
	}
	return lines
}

// summary is the state in a sentence, with the numbers.
func (s *situation) summary(state State) string {
	numbers := fmt.Sprintf("%d of %d pods are available", s.available(), len(s.slots))
	if outdated := s.outdated(); outdated > 0 {
		numbers += fmt.Sprintf(", %s to update", countPods(outdated))
	}
	if n := len(s.condemned); n > 0 {
		numbers += fmt.Sprintf(", %s to remove", countPods(n))
	}
	verb := map[State]string{
		Done: "is as asked for", Held: "is held back on request", Progressing: "is progressing",
		Waiting: "is waiting", Stuck: "is stuck",
	}[state]
	return fmt.Sprintf("%s: %s", verb, numbers)
}

// controllerWords is what the controller says of the update, or of the set when
// there is none.
func (s *situation) controllerWords() string {
	progressing := s.condition(v1.ConditionProgressing)
	switch {
	case s.set.Status.ObservedGeneration < s.set.Generation:
		return "" // it has yet to say anything
	case progressing.Message != "" && s.isUpdating():
		return progressing.Message
	default:
		return s.condition(v1.ConditionReady).Message
	}
}
