package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

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

// SuccessEvents returns the events about actions that were carried out together:
// one for those that differ in nothing but the object, so that a hundred pods
// created at a time are one piece of news and one write.
func SuccessEvents(actions []Action) []Event {
	var groups [][]Action
	for _, action := range actions {
		if i := slices.IndexFunc(groups, func(group []Action) bool { return isAlike(group[0], action) }); i >= 0 {
			groups[i] = append(groups[i], action)
		} else {
			groups = append(groups, []Action{action})
		}
	}
	var events []Event
	for _, group := range groups {
		if event, ok := groupEvent(group); ok {
			events = append(events, event)
		}
	}
	return events
}

// isAlike tells whether two actions are the same thing done to two objects for the same reason.
func isAlike(a, b Action) bool {
	one, isOneCreate := a.(CreatePod)
	other, isOtherCreate := b.(CreatePod)
	if isOneCreate && isOtherCreate && one.Revision != other.Revision {
		return false
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && a.Why().Code == b.Why().Code
}

// groupEvent tells of the first action in full and names the objects of the others.
func groupEvent(group []Action) (Event, bool) {
	slices.SortFunc(group, func(a, b Action) int {
		one, other := a.Object().GetName(), b.Object().GetName()
		return cmp.Or(cmp.Compare(len(one), len(other)), strings.Compare(one, other))
	})
	event, ok := ActionEvent(group[0], nil)
	if len(group) == 1 || !ok {
		return event, ok
	}
	names := make([]string, 0, len(group)-1)
	for _, action := range group[1:] {
		names = append(names, action.Object().GetName())
	}
	event.Message += fmt.Sprintf(", and likewise %d more: %s", len(names), strings.Join(names, ", "))
	return event, true
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
