package planner

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// history is the set's revisions and the two that matter.
type history struct {
	sorted []*appsv1.ControllerRevision
	// target is the revision of spec.template, current that of the last
	// complete update; the same one when no update is going on.
	target, current *appsv1.ControllerRevision
	// record is the write that makes target the newest revision; nil if it is.
	record plan.Action
	// collisionCount is the one that target's name was made with.
	collisionCount int32
	// isUnsure is set when target would be a new revision, but only the API
	// server can tell whether it means the same as one that exists.
	isUnsure bool
}

// chooseTarget finds the revision of the template or makes a new one.
func chooseTarget(d *decision) (history, error) {
	h := history{sorted: revision.Sorted(d.ownership.revisions)}
	if count := d.set.Status.CollisionCount; count != nil {
		h.collisionCount = *count
	}
	data, err := revision.Data(&d.set.Spec.Template)
	if err != nil {
		return h, fmt.Errorf("spec.template is invalid: %w", err)
	}
	switch found := d.findTarget(h.sorted, data); {
	case found != nil:
		h.reuse(found)
	case d.isDeleting():
		// No revision is recorded for a set on its way out, and those that were go
		// before it does: what its status says of them stays.
		h.target = rememberedAs(d.set.Status.UpdateRevision)
	default:
		h.create(d, data)
	}
	h.current = byName(h.sorted, d.set.Status.CurrentRevision)
	if h.current == nil && d.isDeleting() {
		h.current = rememberedAs(d.set.Status.CurrentRevision)
	}
	if h.current == nil {
		h.current = h.target
	}
	return h, nil
}

// rememberedAs returns a revision of which only the name is known, if it is.
func rememberedAs(name string) *appsv1.ControllerRevision {
	if name == "" {
		return nil
	}
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// findTarget returns the newest revision with an equal template, or nil. Equal
// is what has the same bytes; failing that, what means the same.
func (d *decision) findTarget(sorted []*appsv1.ControllerRevision, data []byte) *appsv1.ControllerRevision {
	if found := revision.FindData(sorted, data); found != nil {
		return found
	}
	wanted := revision.Wanted{Template: &d.set.Spec.Template}
	if d.observation.Live.Templates {
		wanted.Defaulted = d.observation.Defaulted.Spec
		wanted.DefaultedRevisions = d.observation.Defaulted.Revisions
	}
	return revision.FindMeaning(sorted, wanted)
}

// reuse makes an existing revision the target, as the newest if it isn't yet. A
// number that two revisions have, because one of them was created unseen, names
// neither: the target gets another.
func (h *history) reuse(found *appsv1.ControllerRevision) {
	h.target = found
	last := len(h.sorted) - 1
	switch {
	case found != h.sorted[last]:
		h.renumber(plan.Because(plan.RolledBack, "the template is that of revision %d again", found.Revision))
	case last > 0 && h.sorted[last-1].Revision == found.Revision:
		h.renumber(plan.Because(plan.NumberShared, "revision %s has the number %d, too", h.sorted[last-1].Name, found.Revision))
	}
}

// renumber gives the target the next number, if there is one.
func (h *history) renumber(why plan.Reason) {
	if next := revision.NextNumber(h.sorted); next > h.target.Revision {
		h.record = plan.BumpRevision{Revision: h.target, Number: next, Reason: why}
	}
}

// create makes a new revision the target, under a name that nobody has.
func (h *history) create(d *decision, data []byte) {
	h.isUnsure = revision.CouldMean(h.sorted, &d.set.Spec.Template)
	number := revision.NextNumber(h.sorted)
	created := revision.New(d.set, data, number, h.collisionCount)
	for d.ownership.takenNames[created.Name] || byName(h.sorted, created.Name) != nil {
		h.collisionCount++
		created = revision.New(d.set, data, number, h.collisionCount)
	}
	h.target = created
	why := plan.Because(plan.TemplateChanged, "no revision records the template yet")
	h.record = plan.CreateRevision{Revision: created, Reason: why}
}

func (h *history) lanes() []plan.Lane {
	if h.record == nil {
		return nil
	}
	return []plan.Lane{{h.record}}
}

// targetName is empty only for a set that is deleted before it had a revision.
func (h *history) targetName() string { return nameOf(h.target) }

func (h *history) currentName() string { return nameOf(h.current) }

// templateOf returns the template of target or current.
func (h *history) templateOf(name string, set *v1.StatefulSet) (*corev1.PodTemplateSpec, error) {
	if name == h.targetName() {
		return &set.Spec.Template, nil
	}
	return revision.Template(h.current)
}

// truncation deletes what the history limit has no room for. A revision is live
// while it is current, target, or that of any pod of ours.
func (d *decision) truncation() []plan.Lane {
	live := map[string]bool{d.history.targetName(): true, d.history.currentName(): true}
	for _, member := range d.ownership.pods {
		live[member.pod.Labels[v1.RevisionLabel]] = true
	}
	isLive := func(name string) bool { return live[name] }
	var lanes []plan.Lane
	for _, excess := range revision.Excess(d.history.sorted, isLive, d.settings.historyLimit) {
		why := plan.Because(plan.HistoryLimit, "nothing uses it and revisionHistoryLimit is %d", d.settings.historyLimit)
		lanes = append(lanes, plan.Lane{plan.DeleteRevision{Revision: excess, Reason: why}})
	}
	return lanes
}

func byName(revisions []*appsv1.ControllerRevision, name string) *appsv1.ControllerRevision {
	for _, revision := range revisions {
		if revision.Name == name {
			return revision
		}
	}
	return nil
}

func nameOf(revision *appsv1.ControllerRevision) string {
	if revision == nil {
		return ""
	}
	return revision.Name
}
