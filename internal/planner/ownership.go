package planner

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// ownership says what is ours. Objects to be adopted are listed as ours, too:
// the step that adopts them is essential, so nothing happens to them unless it
// succeeds.
type ownership struct {
	pods      []member
	revisions []*appsv1.ControllerRevision

	adoptedPods      []*corev1.Pod
	releasedPods     []*corev1.Pod
	adoptedRevisions []*appsv1.ControllerRevision

	// strangers are pods that are not ours but bear the name of one that could
	// be, by ordinal.
	strangers map[int]*corev1.Pod
	// takenNames are the names of revisions that are not ours.
	takenNames map[string]bool
}

// member is a pod of ours with its ordinal.
type member struct {
	ordinal int
	pod     *corev1.Pod
}

func sortByOwner(d *decision) ownership {
	o := ownership{pods: make([]member, 0, len(d.observation.Pods)), strangers: map[int]*corev1.Pod{}, takenNames: map[string]bool{}}
	for _, pod := range d.observation.Pods {
		o.sortPod(d, pod)
	}
	for _, revision := range d.observation.Revisions {
		o.sortRevision(d, revision)
	}
	return o
}

// sortPod decides whose a pod is: first match wins.
func (o *ownership) sortPod(d *decision, pod *corev1.Pod) {
	number, hasName := ordinal.Parse(d.set.Name, pod.Name)
	matches := hasName && d.settings.selector.Matches(labels.Set(pod.Labels))
	controller := metav1.GetControllerOfNoCopy(pod)
	isOurs := controller != nil && controller.UID == d.set.UID
	switch {
	case isOurs && matches:
		o.pods = append(o.pods, member{number, pod})
		return
	case isOurs && !d.isDeleting():
		o.releasedPods = append(o.releasedPods, pod)
	case controller == nil && matches && pod.DeletionTimestamp == nil && !d.isDeleting():
		o.adoptedPods = append(o.adoptedPods, pod)
		o.pods = append(o.pods, member{number, pod})
		return
	}
	if hasName {
		o.strangers[number] = pod
	}
}

// sortRevision decides whose a revision is. Ours stay ours whatever became of
// their labels; an orphan must also bear a name that we would have given it, or
// sets with overlapping selectors would adopt each other's history.
func (o *ownership) sortRevision(d *decision, candidate *appsv1.ControllerRevision) {
	controller := metav1.GetControllerOfNoCopy(candidate)
	switch {
	case controller != nil && controller.UID == d.set.UID:
		o.revisions = append(o.revisions, candidate)
	case controller == nil && candidate.DeletionTimestamp == nil && !d.isDeleting() &&
		revision.IsNamedAfter(d.set.Name, candidate.Name) && d.settings.selector.Matches(labels.Set(candidate.Labels)):
		o.adoptedRevisions = append(o.adoptedRevisions, candidate)
		o.revisions = append(o.revisions, candidate)
	default:
		o.takenNames[candidate.Name] = true
	}
}

// adopts tells whether anything is to be adopted.
func (o *ownership) adopts() bool { return len(o.adoptedPods)+len(o.adoptedRevisions) > 0 }

// lanes writes the adoptions and releases; revisions first, because pods name them.
func (o *ownership) lanes(set *v1.StatefulSet) []plan.Lane {
	owner := podbuild.OwnerReference(set)
	var lanes []plan.Lane
	for _, revision := range o.adoptedRevisions {
		why := plan.Because(plan.Orphaned, "it records a template of this set and has no controller")
		lanes = append(lanes, plan.Lane{plan.AdoptRevision{Revision: revision, Owner: owner, Reason: why}})
	}
	for _, pod := range o.adoptedPods {
		why := plan.Because(plan.Orphaned, "it matches the selector and has no controller")
		lanes = append(lanes, plan.Lane{plan.AdoptPod{Pod: pod, Owner: owner, Reason: why}})
	}
	for _, pod := range o.releasedPods {
		why := plan.Because(plan.NotSelected, "it has no name of this set's pods or no longer matches the selector")
		lanes = append(lanes, plan.Lane{plan.ReleasePod{Pod: pod, Reason: why}})
	}
	return lanes
}
