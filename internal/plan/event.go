package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Event is what a user reads with `kubectl describe`.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
}

// Failure is an action that was tried and the error it ended with.
type Failure struct {
	Action Action
	Err    error
}

// ActionEvent returns the event about an action that was carried out (err is
// nil) or failed. Reasons are those of apps/v1. Only actions on pods and the
// creation of claims make events; the rest would be noise.
func ActionEvent(action Action, err error) (Event, bool) {
	verb, ok := eventVerb(action)
	if !ok {
		return Event{}, false
	}
	if err != nil {
		message := fmt.Sprintf("could not %s (%s): %v", action, action.Why(), err)
		return Event{Type: corev1.EventTypeWarning, Reason: "Failed" + verb, Message: message}, true
	}
	message := fmt.Sprintf("%s (%s)", action, action.Why())
	return Event{Type: corev1.EventTypeNormal, Reason: "Successful" + verb, Message: message}, true
}

// eventVerb returns the verb that apps/v1 puts into the reasons of events.
func eventVerb(action Action) (string, bool) {
	switch action.(type) {
	case CreatePod, CreateClaim:
		return "Create", true
	case DeletePod:
		return "Delete", true
	case UpdatePod:
		return "Update", true
	default:
		return "", false
	}
}
