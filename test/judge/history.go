package judge

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Entry is one change of an object: a *v1.StatefulSet, *corev1.Pod,
// *corev1.PersistentVolumeClaim or *appsv1.ControllerRevision.
type Entry struct {
	// Version is the object's resourceVersion. One counter serves all kinds, so
	// versions put the changes of all of them in the order in which they happened.
	Version uint64
	// At is when a watch showed the change, a moment after it happened.
	At time.Time
	// Object is the object after the change, or the last of it if it is Gone.
	Object metav1.Object
	Gone   bool
}

// History is what happened.
type History struct {
	Entries []Entry
	// ByUser are the pods that somebody else than the operator deleted.
	ByUser map[types.UID]bool
	// Ahead is how far the operator's clock was ahead of everybody else's.
	Ahead time.Duration
}

// sorted returns the entries in the order of their versions.
func (h History) sorted() []Entry {
	entries := slices.Clone(h.Entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		switch {
		case a.Version < b.Version:
			return -1
		case a.Version > b.Version:
			return 1
		default:
			return 0
		}
	})
	return entries
}
