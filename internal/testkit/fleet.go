package testkit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
)

// states are the words for a pod's state in the notation. The durations say for
// how long the pod has been ready. A crashing or pulling pod has never been
// ready, an unready one was until now. The trouble is what its container waits for.
var states = map[string]struct {
	phase       corev1.PodPhase
	isReady     bool
	since       time.Duration
	terminating bool
	trouble     string
}{
	"pending":     {phase: corev1.PodPending},
	"pulling":     {phase: corev1.PodPending, trouble: "ImagePullBackOff"},
	"crashing":    {phase: corev1.PodRunning, trouble: "CrashLoopBackOff"},
	"unready":     {phase: corev1.PodRunning},
	"ready":       {phase: corev1.PodRunning, isReady: true},
	"available":   {phase: corev1.PodRunning, isReady: true, since: 30 * time.Minute},
	"failed":      {phase: corev1.PodFailed},
	"succeeded":   {phase: corev1.PodSucceeded},
	"terminating": {phase: corev1.PodRunning, terminating: true},
	"leaving":     {phase: corev1.PodRunning, isReady: true, since: 30 * time.Minute, terminating: true},
}

// Fleet makes the pods of a set from the notation. It panics on a typo: a test
// that does not say what it means must not pass.
func Fleet(set *v1.StatefulSet, notation string) []*corev1.Pod {
	var pods []*corev1.Pod
	names := map[string]string{}
	for _, word := range strings.Fields(notation) {
		number, rest, _ := strings.Cut(word, ":")
		ordinal, err := strconv.Atoi(number)
		if err != nil {
			panic(fmt.Sprintf("testkit: %q in %q does not start with an ordinal", word, notation))
		}
		if rest == "-" {
			continue
		}
		letter, state, _ := strings.Cut(rest, "/")
		if names[letter] == "" {
			names[letter] = RevisionName(set, letter)
		}
		pods = append(pods, makePod(set, ordinal, letter, names[letter], state))
	}
	return pods
}

// makePod makes the pod of an ordinal at a revision in a state of the notation.
func makePod(set *v1.StatefulSet, ordinal int, letter, revision, state string) *corev1.Pod {
	template := set.Spec.Template.DeepCopy()
	template.Spec.Containers[0].Image = letter
	pod := podbuild.Pod(set, template, revision, ordinal)
	pod.UID = types.UID(pod.Name + "-uid")
	pod.ResourceVersion = "1"
	pod.CreationTimestamp = metav1.NewTime(Now.Add(-30 * time.Minute))
	SetState(pod, state, Now)
	return pod
}

// SetState puts a pod into a state of the notation as of a time.
func SetState(pod *corev1.Pod, state string, now time.Time) {
	s, ok := states[state]
	if !ok {
		panic(fmt.Sprintf("testkit: %q is no state of a pod", state))
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: pod.CreationTimestamp}
	if s.isReady {
		ready.Status = corev1.ConditionTrue
	}
	if s.isReady || state == "unready" {
		ready.LastTransitionTime = metav1.NewTime(now.Add(-s.since))
	}
	pod.Status.StartTime = pod.CreationTimestamp.DeepCopy()
	pod.Status.Phase = s.phase
	pod.Status.Conditions = []corev1.PodCondition{ready}
	pod.Status.ContainerStatuses = troubled(pod, s.trouble)
	pod.DeletionTimestamp = nil
	if s.terminating {
		pod.DeletionTimestamp = &metav1.Time{Time: now}
	}
}

// troubled is the status of a pod's first container while it waits for something.
func troubled(pod *corev1.Pod, reason string) []corev1.ContainerStatus {
	if reason == "" {
		return nil
	}
	container := pod.Spec.Containers[0]
	status := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
	status.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
	if reason == "CrashLoopBackOff" {
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
	}
	return []corev1.ContainerStatus{status}
}

// Observe makes the observation of a set whose history is the letters in order
// ("ab": a is number 1, b is number 2) and whose pods are as noted. Claims exist
// for every pod, with the owners that the retention policy asks for.
func Observe(set *v1.StatefulSet, history, fleet string) plan.Observation {
	o := plan.Observation{
		Set: set, Pods: Fleet(set, fleet), Now: Now, Gates: plan.AllGates(),
		Claims: map[string]*corev1.PersistentVolumeClaim{},
	}
	for i, letter := range history {
		o.Revisions = append(o.Revisions, Revision(set, string(letter), int64(i+1)))
	}
	for _, pod := range o.Pods {
		AddClaims(&o, pod)
	}
	return o
}

// AddClaims puts the claims of a pod into an observation.
func AddClaims(o *plan.Observation, pod *corev1.Pod) {
	ordinal, err := strconv.Atoi(pod.Labels[v1.PodIndexLabel])
	if err != nil {
		panic(fmt.Sprintf("testkit: pod %s has no ordinal: %v", pod.Name, err))
	}
	for i := range o.Set.Spec.VolumeClaimTemplates {
		claim := podbuild.Claim(o.Set, &o.Set.Spec.VolumeClaimTemplates[i], ordinal)
		claim.UID = types.UID(claim.Name + "-uid")
		if owners, differ := podbuild.ClaimOwners(o.Set, claim, pod, ordinal); differ {
			claim.OwnerReferences = owners
		}
		o.Claims[claim.Name] = claim
	}
}

// Letters replaces names of revisions in a text by their letters.
func Letters(set *v1.StatefulSet, text, letters string) string {
	for _, letter := range letters {
		text = strings.ReplaceAll(text, RevisionName(set, string(letter)), string(letter))
	}
	return text
}

// Actions lists what a plan does, without reasons, with letters for revisions.
func Actions(set *v1.StatefulSet, p plan.Plan) []string {
	var actions []string
	for action := range p.Actions() {
		actions = append(actions, Letters(set, action.String(), "abcdef"))
	}
	return actions
}

// ByOrdinal sorts pods as their slots are.
func ByOrdinal(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

// Numbers returns the names of revisions, with letters, and their numbers.
func Numbers(set *v1.StatefulSet, revisions []*appsv1.ControllerRevision) map[string]int64 {
	numbers := map[string]int64{}
	for _, revision := range revisions {
		numbers[Letters(set, revision.Name, "abcdef")] = revision.Revision
	}
	return numbers
}
