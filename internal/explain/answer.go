// Package explain answers why a set is not what its spec asks for.
//
//	Ask: Question -> Answer
//
// is pure, and stands on the planner: what the controller would do about the
// same observation is computed by the controller's own function, so the words
// are the controller's own. What the package adds is the cause below them (the
// container's state, the scheduler's message, the claim, the node, the refusal
// of the API server), the rule that turns the cause into a standstill, and the
// commands that lead out of it.
//
// Causes are ordered: what has to be mended stands first, then what passes by
// itself, then what the user asked for.
package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Question is all that an answer depends on.
type Question struct {
	// Observation is as the controller has it, read from the API server.
	Observation plan.Observation
	// Events are those of the set, its pods and its claims, in any order.
	Events []*corev1.Event
	// Nodes are the nodes that pods of the set are on, by name, as far as the
	// asker may read them.
	Nodes map[string]*corev1.Node
}

// State says in one word how things stand.
type State string

// The states there are.
const (
	// Done: all is as the spec asks for.
	Done State = "done"
	// Held: all is well, and the rest of the update waits for its user's word.
	Held State = "held"
	// Progressing: the controller is at work, or something that passes by itself is awaited.
	Progressing State = "progressing"
	// Waiting: something is broken, and at a known time the controller will act on it.
	Waiting State = "waiting"
	// Stuck: nothing will change until somebody does something.
	Stuck State = "stuck"
)

// Answer is what there is to say about a set.
type Answer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     State  `json:"state"`
	// Summary is how things stand, in a sentence.
	Summary string `json:"summary"`
	// Causes are why, the first cause first.
	Causes []Cause `json:"causes,omitempty"`
	// Rule is the rule that holds the set.
	Rule string `json:"rule,omitempty"`
	// Controller is what the controller says of it.
	Controller string `json:"controller,omitempty"`
	// Next is what the controller does next.
	Next []string `json:"next,omitempty"`
	// Remedies are the ways out.
	Remedies []Remedy `json:"remedies,omitempty"`
}

// Cause is one thing that keeps a set from being what it should be.
type Cause struct {
	Code Code `json:"code"`
	// Object is what it is about: "pod/web-2".
	Object string `json:"object,omitempty"`
	// Text is the cause in a sentence.
	Text string `json:"text"`
	// Details are what else is known: messages of others.
	Details []string `json:"details,omitempty"`
	// Since is when it began.
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when it will be over, or acted upon.
	Until *metav1.Time `json:"until,omitempty"`
	// Passes: it is over without anybody's help, as far as one can tell.
	Passes bool `json:"passes,omitempty"`
	// Remedies are how to look closer, or to mend it.
	Remedies []Remedy `json:"remedies,omitempty"`
}

// Remedy is something to do, with the command that does it.
type Remedy struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// Code names a cause for programs.
type Code string

// The causes there are.
const (
	OperatorSilent   Code = "OperatorSilent"
	GateDisabled     Code = "FeatureGateDisabled"
	Deleting         Code = "Deleting"
	InvalidSpec      Code = "InvalidSpec"
	NamesakeInCharge Code = "NamesakeInCharge"
	Quota            Code = "Quota"
	PodSecurity      Code = "PodSecurity"
	AdmissionWebhook Code = "AdmissionWebhook"
	Refused          Code = "Refused"
	NameTaken        Code = "NameTaken"
	ImagePull        Code = "ImagePull"
	CrashLoop        Code = "CrashLoop"
	ConfigError      Code = "ConfigError"
	ContainerWaiting Code = "ContainerWaiting"
	Unschedulable    Code = "Unschedulable"
	ClaimMissing     Code = "ClaimMissing"
	ClaimUnbound     Code = "ClaimUnbound"
	ClaimLost        Code = "ClaimLost"
	ClaimTerminating Code = "ClaimTerminating"
	VolumeProblem    Code = "VolumeProblem"
	NodeLost         Code = "NodeLost"
	NotReady         Code = "NotReady"
	Ended            Code = "Ended"
	StuckTerminating Code = "StuckTerminating"
	Terminating      Code = "Terminating"
	Starting         Code = "Starting"
	MinReadySeconds  Code = "MinReadySeconds"
	Paused           Code = "Paused"
	Partition        Code = "Partition"
	OnDelete         Code = "OnDelete"
)

// since dates a cause.
func (c Cause) since(t time.Time) Cause {
	if !t.IsZero() {
		c.Since = &metav1.Time{Time: t}
	}
	return c
}

// until gives a cause its end.
func (c Cause) until(t time.Time) Cause {
	if !t.IsZero() {
		c.Until = &metav1.Time{Time: t}
	}
	return c
}

// with adds a detail, unless it is empty.
func (c Cause) with(detail string) Cause {
	if detail != "" {
		c.Details = append(c.Details, detail)
	}
	return c
}

// mendedBy adds a remedy.
func (c Cause) mendedBy(remedies ...Remedy) Cause {
	c.Remedies = append(c.Remedies, remedies...)
	return c
}
