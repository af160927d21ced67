package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/ordinal"
)

// Describe writes the pods of a world in the notation of the tests, a word per
// ordinal: "0:a/available 1:-". A ! marks a pod that is not ours, a ? one that
// has lost its label.
func (w *World) Describe() string {
	numbers := map[int]bool{}
	slots := w.slots()
	for number := slots.Start; number < slots.End(); number++ {
		numbers[number] = true
	}
	for _, pod := range w.Truth.Pods {
		numbers[ordinalOf(pod)] = true
	}
	var words []string
	for number := range numbers {
		words = append(words, w.describeSlot(number))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (w *World) describeSlot(number int) string {
	pod := find(w.Truth.Pods, ordinal.PodName(setName, number))
	if pod == nil {
		return fmt.Sprintf("%d:-", number)
	}
	return fmt.Sprintf("%d:%s/%s%s", number, pod.Spec.Containers[0].Image, w.stateOf(pod).Class, w.mark(pod))
}

func (w *World) mark(pod *corev1.Pod) string {
	switch {
	case !w.isOurs(pod):
		return "!"
	case lookUp(&w.Truth, Pods, pod.Name) == nil:
		return "?"
	default:
		return ""
	}
}

// Tell describes a transition: the step, the plan as far as it was carried out,
// and the pods afterwards.
func (t *Transition) Tell() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.Step)
	if t.Err != nil {
		fmt.Fprintf(&b, "    no decision: %v\n", t.Err)
	}
	for _, write := range t.Writes {
		what := "write the status"
		if write.Action != nil {
			what = fmt.Sprintf("%s (%s)", write.Action, write.Action.Why())
		}
		if write.Err != nil {
			what += ": " + write.Err.Error()
		}
		fmt.Fprintf(&b, "    %s\n", what)
	}
	fmt.Fprintf(&b, "        +%s %s\n", t.After.Now.Sub(epoch), t.After.Describe())
	return b.String()
}
