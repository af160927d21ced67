package execute

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// noteSuccess keeps an action that was carried out for the events of its step,
// unless an earlier event has announced it.
func (r *run) noteSuccess(done effect) {
	if done.action != nil && !r.replacements.isExpected(client.ObjectKeyFromObject(r.set), done.action) {
		r.news = append(r.news, done.action)
	}
}

// recordSuccesses records the events about what was done in a step.
func (r *run) recordSuccesses() {
	for _, event := range plan.SuccessEvents(r.news) {
		r.record(event, event.Message)
	}
	r.news = nil
}

// recordFailures records one event per reason, whatever the number of failures:
// a thousand pods over quota are one piece of news, and still the same one when
// the back-off has them tried again. In a namespace that is being deleted nobody
// wants to know, and no event can be recorded.
func (r *run) recordFailures(failures []plan.Failure) {
	told := map[string]bool{}
	for _, failure := range failures {
		event, ok := plan.ActionEvent(failure.Action, failure.Err)
		if ok && !told[event.Reason] && !isNamespaceEnding(failure.Err) {
			told[event.Reason] = true
			r.record(event, event.Reason)
		}
	}
}

// The longest texts that the API server takes in an event.
const (
	maxNote   = 1024
	maxAction = 128
)

// record records an event about the set. The recorder merges events that agree
// in reason and action into one that counts them, and keeps the first text: so
// the action is what tells news apart.
func (r *run) record(event plan.Event, action string) {
	r.events.Eventf(reference(r.set), nil, event.Type, event.Reason, shorten(action, maxAction), "%s", shorten(event.Message, maxNote))
}

// reference names the set without its version, or every status write would make
// the same news new.
func reference(set *v1.StatefulSet) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: v1.GroupVersion.String(), Kind: v1.Kind.Kind,
		Namespace: set.Namespace, Name: set.Name, UID: set.UID,
	}
}

// shorten cuts a text to at most so many bytes and marks the cut.
func shorten(text string, most int) string {
	const mark = "..."
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}
