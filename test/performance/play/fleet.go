package play

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// pod is what is watched of one.
type pod struct {
	uid         types.UID
	ordinal     int
	image       string
	isReady     bool
	isStopping  bool
	isAvailable bool
}

func podOf(object *corev1.Pod) (set string, seen pod) {
	dash := strings.LastIndexByte(object.Name, '-')
	number, err := strconv.Atoi(object.Name[dash+1:])
	if dash < 0 || err != nil {
		return "", pod{}
	}
	seen = pod{uid: object.UID, ordinal: number, image: object.Spec.Containers[0].Image, isStopping: object.DeletionTimestamp != nil}
	for _, condition := range object.Status.Conditions {
		if condition.Type == corev1.PodReady {
			seen.isReady = condition.Status == corev1.ConditionTrue
		}
	}
	seen.isAvailable = seen.isReady && !seen.isStopping
	return object.Name[:dash], seen
}

// fleet is the pods of one set, by ordinal.
type fleet map[int]pod

// step is a change of one pod.
type step struct {
	kind   watch.EventType
	before pod
	after  pod
}

// isCreate tells whether a pod has come.
func (s step) isCreate() bool { return s.kind != watch.Deleted && s.before.uid != s.after.uid }

// isTaken tells whether a pod has been told to go.
func (s step) isTaken() bool {
	return s.after.isStopping && (s.before.uid != s.after.uid || !s.before.isStopping)
}

// apply makes the change.
func (f fleet) apply(kind watch.EventType, seen pod) step {
	change := step{kind: kind, before: f[seen.ordinal], after: seen}
	if kind == watch.Deleted {
		delete(f, seen.ordinal)
	} else {
		f[seen.ordinal] = seen
	}
	return change
}

// unavailable is how many of the first slots no available pod holds.
func (f fleet) unavailable(slots int) int {
	count := slots
	for number, held := range f {
		if number < slots && held.isAvailable {
			count--
		}
	}
	return count
}

// goal is what an act is to bring every set to.
type goal struct {
	image    string
	replicas int
	// isStuck: a set has got there when one pod has the image and is not ready, and nothing is on its way.
	isStuck bool
}

// reached tells whether a set is there.
func (g goal) reached(f fleet) bool {
	if len(f) != g.replicas {
		return false
	}
	if g.isStuck {
		return g.isStuckWith(f)
	}
	for _, held := range f {
		if !held.isAvailable || held.image != g.image {
			return false
		}
	}
	return true
}

func (g goal) isStuckWith(f fleet) bool {
	broken := 0
	for _, held := range f {
		if held.isStopping {
			return false
		}
		if held.image == g.image && !held.isReady {
			broken++
		}
	}
	return broken > 0
}
