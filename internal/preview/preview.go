// Package preview tells what would happen to a set, without doing it.
//
//	Run: Request -> Preview
//
// is pure: the real planner decides, the model of the API server and of the
// controller's process is that of internal/simulation, and time passes as fast
// as the nodes of this package let it: every pod takes the same time to become
// ready, and the same to stop.
//
// What is assumed about the future is said in the preview. Pods of a revision
// become ready unless a pod of the same revision is broken now and none is well;
// a pod that is broken now stays so; one that should have stopped long ago never
// stops.
package preview

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// Request is what a preview depends on.
type Request struct {
	// Set is the set as it would be stored, status included: with its defaults,
	// and with a generation of its own if its spec differs from the one observed.
	Set *v1.StatefulSet
	// Pods, Claims and Revisions are what there is now.
	Pods      []*corev1.Pod
	Claims    []*corev1.PersistentVolumeClaim
	Revisions []*appsv1.ControllerRevision
	// Now is when it would happen.
	Now time.Time
	// Pace is how long pods take.
	Pace Pace
	// Gates are the feature gates of the controller.
	Gates plan.Gates
}

// Pace is how long pods take.
type Pace struct {
	// Start is from a pod's creation until it is ready, Stop from its deletion
	// until it is gone.
	Start, Stop time.Duration
	// StartBasis and StopBasis say how that is known.
	StartBasis, StopBasis string
}

// Outcome says in one word how it would end.
type Outcome string

// The outcomes there are.
const (
	// Unchanged: nothing would happen.
	Unchanged Outcome = "unchanged"
	// Complete: every pod would be available at the revision of the template.
	Complete Outcome = "complete"
	// Staged: complete down to the partition.
	Staged Outcome = "staged"
	// Paused: the update would wait for spec.paused to be taken back.
	Paused Outcome = "paused"
	// Waiting: with OnDelete, pods would wait to be deleted by somebody.
	Waiting Outcome = "waiting"
	// Stuck: it would not end well.
	Stuck Outcome = "stuck"
)

// Preview is what would happen.
type Preview struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Outcome   Outcome `json:"outcome"`
	// Controller is what the controller would say in the end.
	Controller string `json:"controller,omitempty"`
	// Rule is the rule that would hold the set, if it got stuck.
	Rule string `json:"rule,omitempty"`
	// Causes are why it would.
	Causes []string `json:"causes,omitempty"`
	// Strategy, Policy and Budget are how pods are replaced.
	Strategy v1.UpdateStrategyType      `json:"strategy"`
	Policy   v1.PodManagementPolicyType `json:"podManagementPolicy"`
	Budget   int32                      `json:"maxUnavailable"`
	Replicas int                        `json:"replicas"`
	// Revision is the target revision; IsNewRevision tells whether there is no such one yet.
	Revision      string `json:"revision"`
	IsNewRevision bool   `json:"isNewRevision"`
	// Created, Replaced and Removed count pods: new slots, slots whose pod goes
	// and comes back, and pods that go for good.
	Created  int `json:"created"`
	Replaced int `json:"replaced"`
	Removed  int `json:"removed"`
	// Steps are what the controller does, in order.
	Steps []Step `json:"steps,omitempty"`
	// Duration is from the first step to the end, in seconds. It is an estimate.
	Duration float64 `json:"durationSeconds"`
	// Down is what users of the set would notice.
	Down Down `json:"down"`
	// Assumptions are what the future is taken to be like.
	Assumptions []string `json:"assumptions,omitempty"`
}

// Step is one write of the controller.
type Step struct {
	// After is when, in seconds from the beginning.
	After float64 `json:"afterSeconds"`
	// Action says what is done to which object: "delete pod web-2".
	Action string `json:"action"`
	Verb   string `json:"verb"`
	Kind   string `json:"kind"`
	Object string `json:"object"`
	// Revision is that of a pod that is created or deleted.
	Revision string `json:"revision,omitempty"`
	Reason   string `json:"reason"`
}

// Down is what is not available that was.
type Down struct {
	// Most is how many pods that served would be down at the same time.
	Most int `json:"most"`
	// Longest is how long a pod that served would be down, in seconds, and Pod which.
	Longest float64 `json:"longestSeconds"`
	Pod     string  `json:"pod,omitempty"`
	// ForGood are pods that served and would not come back.
	ForGood []string `json:"forGood,omitempty"`
	// Broken are pods that did not serve at the beginning.
	Broken []string `json:"broken,omitempty"`
}

// maxPods is how many pods can be played: every step looks at all of them.
const maxPods = 1000

// Run plays a request to its end. The error says why it can't be played.
func Run(request Request) (Preview, error) {
	if err := request.check(); err != nil {
		return Preview{}, err
	}
	request.Set = asInForce(request.Set, request.Gates)
	r := newReplay(request)
	if err := r.play(); err != nil {
		return Preview{}, fmt.Errorf("play the plan of set %s: %w", request.Set.Name, err)
	}
	return r.conclude(), nil
}

// Settle plays the creation of a set and returns what is there when all its pods
// run, some time later: how a set is taken to be of which only the manifest is
// known.
func Settle(set *v1.StatefulSet, now time.Time, pace Pace) (Request, error) {
	request := Request{Set: set, Now: now, Pace: pace}
	if err := request.check(); err != nil {
		return Request{}, err
	}
	r := newReplay(request)
	if err := r.play(); err != nil {
		return Request{}, fmt.Errorf("play the creation of set %s: %w", set.Name, err)
	}
	stored := r.world.Truth
	return Request{
		Set: stored.Set, Pods: stored.Pods, Claims: stored.Claims, Revisions: stored.Revisions,
		Now: r.world.Now.Add(longAgo), Pace: pace, Gates: plan.AllGates(),
	}, nil
}

// longAgo is beyond every deadline that a running set could still have.
const longAgo = 24 * time.Hour

// check refuses what would take too long.
func (r Request) check() error {
	if count := max(int(*r.Set.Spec.Replicas), len(r.Pods)); count > maxPods {
		return fmt.Errorf("set %s has %d pods, and no more than %d can be played: plan a smaller one with the same settings", r.Set.Name, count, maxPods)
	}
	return nil
}

func (r Request) store() simulation.Store {
	return simulation.Store{Set: r.Set, Pods: r.Pods, Claims: r.Claims, Revisions: r.Revisions}
}
