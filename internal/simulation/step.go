package simulation

import (
	"fmt"
	"strconv"
	"strings"
)

// Verb says what a step does.
type Verb string

// What the controller does.
const (
	// Reconcile: the controller decides and carries its plan out to the end.
	Reconcile Verb = "reconcile"
	// Decide: the controller decides; its plan is carried out by Proceed.
	Decide Verb = "decide"
	// Proceed: the plan under way is carried out by one write, that of an open lane.
	Proceed Verb = "proceed"
	// See: the view of a kind catches up.
	See Verb = "see"
)

// What goes wrong with the controller: faults.
const (
	// Crash: the controller dies after so many writes of its plan.
	Crash Verb = "crash"
	// Refuse: a write of the plan is refused for good (quota, PodSecurity, a webhook).
	Refuse Verb = "refuse"
	// Lose: a write of the plan gets lost, and the controller no answer.
	Lose Verb = "lose"
	// Blur: a write of the plan is carried out, but the controller gets no answer.
	Blur Verb = "blur"
	// Relist: the view of a kind goes back to what it showed earlier.
	Relist Verb = "relist"
)

// What nodes, the garbage collector and the clock do.
const (
	// Start: a pending pod starts, and gets ready unless its template is broken.
	Start Verb = "start"
	// Recover: a pod that was ready gets ready again.
	Recover Verb = "recover"
	// Finish: a terminating pod is gone.
	Finish Verb = "finish"
	// Collect: the garbage collector deletes an object without owners.
	Collect Verb = "collect"
	// Tick: time passes.
	Tick Verb = "tick"
)

// What users do according to the scenario.
const (
	// Edit: the user makes the next edit of the scenario.
	Edit Verb = "edit"
)

// What happens to pods and claims without anybody wanting it: mishaps.
const (
	// Unready: a ready pod is not ready any more.
	Unready Verb = "unready"
	// Fail: all containers of a pod have ended, badly.
	Fail Verb = "fail"
	// Succeed: all containers of a pod have ended, well.
	Succeed Verb = "succeed"
	// Evict: somebody else deletes a pod.
	Evict Verb = "evict"
	// Vanish: a pod is gone at once, by a forced delete.
	Vanish Verb = "vanish"
	// Hold: a finalizer is put on a pod; Free takes it away.
	Hold Verb = "hold"
	Free Verb = "free"
	// Unlabel: a pod loses the label by which it is watched.
	Unlabel Verb = "unlabel"
	// Orphan: a pod loses its owner.
	Orphan Verb = "orphan"
	// Squat: somebody else's pod takes the name of a missing one; Leave ends that.
	Squat Verb = "squat"
	Leave Verb = "leave"
	// DropClaim: a user deletes a claim.
	DropClaim Verb = "drop-claim"
)

// Step is one thing that happens.
type Step struct {
	Verb Verb
	// On is the object, the kind or the edit that the step is about, if any.
	On string
	// At is the number of the write that a fault is about, or a lane.
	At int
}

// String writes the step as ParseStep reads it.
func (s Step) String() string {
	text := string(s.Verb)
	if s.On != "" {
		text += " " + s.On
	}
	if s.At != 0 {
		text += " @" + strconv.Itoa(s.At)
	}
	return text
}

// ParseStep reads a step from a line of a trace.
func ParseStep(line string) (Step, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Step{}, fmt.Errorf("read a step: the line is empty")
	}
	step := Step{Verb: Verb(words[0])}
	for _, word := range words[1:] {
		number, isNumber := strings.CutPrefix(word, "@")
		if !isNumber {
			step.On = word
			continue
		}
		at, err := strconv.Atoi(number)
		if err != nil {
			return Step{}, fmt.Errorf("read the step %q: %w", line, err)
		}
		step.At = at
	}
	return step, nil
}
