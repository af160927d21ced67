package view

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// changeCause is the annotation by which people say why they changed something. A revision has it from the set, as it was
// when the revision was made.
const changeCause = "kubernetes.io/change-cause"

// Revision is an entry of the history.
type Revision struct {
	RevisionRef
	IsTarget  bool `json:"isTarget"`
	IsCurrent bool `json:"isCurrent"`
	// Cause is what somebody wrote as the reason for the change.
	Cause string `json:"changeCause,omitempty"`
	// Images are those of the template's containers.
	Images  []string  `json:"images"`
	Created time.Time `json:"created"`
	// Pods are the names of those that run it.
	Pods []string `json:"pods"`
}

// list returns the history with who runs what, from the oldest to the newest.
func list(o plan.Observation, r *Rollout) []Revision {
	revisions := make([]Revision, 0, len(o.Revisions))
	for _, stored := range revision.Sorted(o.Revisions) {
		entry := Revision{
			RevisionRef: RevisionRef{Name: stored.Name, Number: stored.Revision},
			IsTarget:    stored.Name == r.Target.Name,
			IsCurrent:   stored.Name == r.Current.Name,
			Cause:       stored.Annotations[changeCause],
			Created:     stored.CreationTimestamp.UTC(),
			Images:      []string{},
			Pods:        []string{},
		}
		if template, err := revision.Template(stored); err == nil {
			entry.Images = images(template)
		}
		for i := range r.Pods {
			if r.Pods[i].Revision.Name == stored.Name {
				entry.Pods = append(entry.Pods, r.Pods[i].Name)
			}
		}
		revisions = append(revisions, entry)
	}
	return revisions
}

func images(template *corev1.PodTemplateSpec) []string {
	names := make([]string, 0, len(template.Spec.Containers))
	for i := range template.Spec.Containers {
		names = append(names, template.Spec.Containers[i].Image)
	}
	return names
}

// refer finds the number of a revision.
func refer(o plan.Observation, name string) RevisionRef {
	for _, stored := range o.Revisions {
		if stored.Name == name {
			return RevisionRef{Name: name, Number: stored.Revision}
		}
	}
	return RevisionRef{Name: name}
}
