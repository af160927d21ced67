package execute

import (
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// news is what was done for each set and not yet told in events.
//
// An event is a write, so two things are told together that a reader would put
// together anyway: what was done to several pods alike until the status shows
// it, and that a pod was replaced. What is remembered here is lost with the
// process, which costs an event at most.
type news struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*setNews
}

type setNews struct {
	// replaced are the pods that were deleted so that others take their place. That they come is no news then.
	replaced map[string]bool
	// untold are the actions that no event has told of yet.
	untold []plan.Action
}

func newNews() *news { return &news{sets: map[types.NamespacedName]*setNews{}} }

// note remembers an action that was carried out for a set.
func (n *news) note(set types.NamespacedName, done plan.Action) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sets[set] == nil {
		n.sets[set] = &setNews{replaced: map[string]bool{}}
	}
	n.sets[set].note(done)
}

func (s *setNews) note(done plan.Action) {
	name := done.Object().GetName()
	switch a := done.(type) {
	case plan.DeletePod:
		s.replaced[name] = isReplaced(a.Reason.Code)
	case plan.CreatePod:
		defer delete(s.replaced, name)
		if s.replaced[name] {
			return
		}
	}
	s.untold = append(s.untold, done)
}

// isReplaced tells whether a pod that is deleted for this reason is to have a successor.
func isReplaced(reason plan.ReasonCode) bool {
	switch reason {
	case plan.Outdated, plan.OutdatedUnavailable, plan.ForcedReplacement, plan.Recreated, plan.ProgressTimedOut, plan.PodEnded:
		return true
	default:
		return false
	}
}

// take returns what there is to tell of a set.
func (n *news) take(set types.NamespacedName) []plan.Action {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.sets[set]
	if known == nil {
		return nil
	}
	untold := known.untold
	known.untold = nil
	return untold
}

func (n *news) forget(set types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sets, set)
}

// recordNews records the events about what was done since the status was last up
// to date, and the plan's own, once.
func (r *run) recordNews() {
	for _, event := range append(plan.SuccessEvents(r.news.take(client.ObjectKeyFromObject(r.set))), r.plan.Events...) {
		r.record(event, event.Message)
	}
	r.plan.Events = nil
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
