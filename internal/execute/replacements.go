package execute

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// replacements remembers the pods that were deleted so that others take their
// place. That they come is no news: the event about the delete has said so, and
// an event costs a write. What is remembered is lost with the process, which
// costs an event and nothing else.
type replacements struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]map[string]bool
}

func newReplacements() *replacements {
	return &replacements{sets: map[types.NamespacedName]map[string]bool{}}
}

// isExpected notes what was done for a set and tells whether it follows from
// what was done before.
func (r *replacements) isExpected(set types.NamespacedName, done plan.Action) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch a := done.(type) {
	case plan.DeletePod:
		if isReplaced(a.Reason.Code) {
			r.note(set, a.Pod.Name)
		}
	case plan.CreatePod:
		expected := r.sets[set]
		defer delete(expected, a.Pod.Name)
		return expected[a.Pod.Name]
	}
	return false
}

func (r *replacements) note(set types.NamespacedName, pod string) {
	if r.sets[set] == nil {
		r.sets[set] = map[string]bool{}
	}
	r.sets[set][pod] = true
}

func (r *replacements) forget(set types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sets, set)
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
