package preview

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// watch keeps an eye on what users of a set notice. A pod is down when its slot
// has served before and does not now. A slot that has yet to serve for the first
// time is not down, and neither is one that a scale-down removes.
type watch struct {
	slots map[int]*seen
	most  int
}

// seen is what is known of a slot.
type seen struct {
	// wasAvailable at any time, isAvailable at the last look.
	wasAvailable, isAvailable bool
	// wasBroken: at the first look there was a pod and it was not available.
	wasBroken bool
	downSince time.Time
	longest   time.Duration
}

func newWatch(w *simulation.World) watch {
	v := watch{slots: map[int]*seen{}}
	pods := podsByOrdinal(w)
	for _, number := range slots(w) {
		state := stateOf(w, pods[number])
		v.slots[number] = &seen{
			wasAvailable: state.IsAvailable(), isAvailable: state.IsAvailable(),
			wasBroken: pods[number] != nil && !state.IsAvailable(),
		}
	}
	return v
}

// look notes what has changed since the last look.
func (v *watch) look(w *simulation.World) {
	pods, down := podsByOrdinal(w), 0
	for number, slot := range v.slots {
		slot.look(stateOf(w, pods[number]).IsAvailable(), w.Now)
		if slot.wasAvailable && !slot.isAvailable {
			down++
		}
	}
	v.most = max(v.most, down)
}

func (s *seen) look(isAvailable bool, now time.Time) {
	switch {
	case s.isAvailable && !isAvailable:
		s.downSince = now
	case !s.isAvailable && isAvailable && s.wasAvailable:
		s.longest = max(s.longest, now.Sub(s.downSince))
	}
	s.isAvailable = isAvailable
	s.wasAvailable = s.wasAvailable || isAvailable
}

// report says what users would have noticed.
func (v *watch) report(set string) Down {
	down := Down{Most: v.most}
	for _, number := range slices.Sorted(maps.Keys(v.slots)) {
		name, slot := ordinal.PodName(set, number), v.slots[number]
		if slot.wasAvailable && !slot.isAvailable {
			down.ForGood = append(down.ForGood, name)
		}
		if slot.wasBroken {
			down.Broken = append(down.Broken, name)
		}
		if slot.longest.Seconds() > down.Longest {
			down.Longest, down.Pod = slot.longest.Seconds(), name
		}
	}
	return down
}

// slots are the ordinals that the set asks for.
func slots(w *simulation.World) []int {
	var numbers []int
	r := ordinal.RangeOf(w.Truth.Set)
	for number := r.Start; number < r.End(); number++ {
		numbers = append(numbers, number)
	}
	return numbers
}

// podsByOrdinal are the pods that the set controls.
func podsByOrdinal(w *simulation.World) map[int]*corev1.Pod {
	pods := map[int]*corev1.Pod{}
	for _, pod := range w.Truth.Pods {
		number, hasName := ordinal.Parse(w.Truth.Set.Name, pod.Name)
		if hasName && metav1.IsControlledBy(pod, w.Truth.Set) {
			pods[number] = pod
		}
	}
	return pods
}

func stateOf(w *simulation.World, pod *corev1.Pod) podstate.State {
	minReady := time.Duration(w.Truth.Set.Spec.MinReadySeconds) * time.Second
	return podstate.Classify(pod, minReady, w.Now)
}
