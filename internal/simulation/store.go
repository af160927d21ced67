package simulation

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Store is what an API server stores, or what a view shows of it: one set and
// its objects, by name. Neither the objects nor the slices are ever modified, so
// a copy of a Store is a snapshot.
type Store struct {
	Set       *v1.StatefulSet
	Pods      []*corev1.Pod
	Claims    []*corev1.PersistentVolumeClaim
	Revisions []*appsv1.ControllerRevision
}

// Kind is a kind of objects, each with a view of its own that may lag.
type Kind string

// The kinds there are.
const (
	Sets      Kind = "set"
	Pods      Kind = "pods"
	Claims    Kind = "claims"
	Revisions Kind = "revisions"
)

// kinds are all of them, in the order in which steps list them.
var kinds = []Kind{Sets, Pods, Claims, Revisions}

// take copies the objects of one kind from another store.
func (s *Store) take(kind Kind, from Store) {
	switch kind {
	case Sets:
		s.Set = from.Set
	case Pods:
		s.Pods = from.Pods
	case Claims:
		s.Claims = from.Claims
	case Revisions:
		s.Revisions = from.Revisions
	}
}

// shows tells whether two stores have the same objects of a kind.
func (s *Store) shows(kind Kind, other Store) bool {
	switch kind {
	case Sets:
		return s.Set == other.Set
	case Pods:
		return slices.Equal(s.Pods, other.Pods)
	case Claims:
		return slices.Equal(s.Claims, other.Claims)
	default:
		return slices.Equal(s.Revisions, other.Revisions)
	}
}

// find returns the object with a name, or the zero value.
func find[T metav1.Object](objects []T, name string) T {
	var none T
	if i, ok := position(objects, name); ok {
		return objects[i]
	}
	return none
}

// with returns the objects with one added, or put in the place of its namesake.
func with[T metav1.Object](objects []T, object T) []T {
	i, exists := position(objects, object.GetName())
	if exists {
		objects = slices.Clone(objects)
		objects[i] = object
		return objects
	}
	return slices.Concat(objects[:i], []T{object}, objects[i:])
}

// without returns the objects but the one with a name.
func without[T metav1.Object](objects []T, name string) []T {
	i, exists := position(objects, name)
	if !exists {
		return objects
	}
	return slices.Concat(objects[:i], objects[i+1:])
}

func position[T metav1.Object](objects []T, name string) (int, bool) {
	return slices.BinarySearchFunc(objects, name, func(object T, name string) int {
		return cmp.Compare(object.GetName(), name)
	})
}
