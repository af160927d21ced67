package revision

import (
	"bytes"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// FindData returns the newest of sorted revisions with exactly this data, or nil.
func FindData(sorted []*appsv1.ControllerRevision, data []byte) *appsv1.ControllerRevision {
	for i := len(sorted) - 1; i >= 0; i-- {
		if bytes.Equal(sorted[i].Data.Raw, data) {
			return sorted[i]
		}
	}
	return nil
}

// Wanted is a template in the forms by which it can be recognized.
type Wanted struct {
	// Template is as the user wrote it.
	Template *corev1.PodTemplateSpec
	// Defaulted is Template after the API server's defaulting; nil if unknown.
	Defaulted *corev1.PodTemplateSpec
	// DefaultedRevisions are the templates of revisions after defaulting, by name.
	DefaultedRevisions map[string]*corev1.PodTemplateSpec
}

// FindMeaning returns the newest of sorted revisions whose template means the
// same as the wanted one, or nil. Bytes differ without a difference in meaning
// when another version of Kubernetes wrote them, or when only one of the two
// spells out the defaults; neither is worth a restart.
func FindMeaning(sorted []*appsv1.ControllerRevision, wanted Wanted) *appsv1.ControllerRevision {
	for i := len(sorted) - 1; i >= 0; i-- {
		if wanted.means(sorted[i]) {
			return sorted[i]
		}
	}
	return nil
}

func (w Wanted) means(revision *appsv1.ControllerRevision) bool {
	defaulted := w.DefaultedRevisions[revision.Name]
	if w.Defaulted != nil && defaulted != nil {
		return equality.Semantic.DeepEqual(w.Defaulted, defaulted)
	}
	template, err := Template(revision)
	return err == nil && equality.Semantic.DeepEqual(w.Template, template)
}

// CouldMean tells whether the API server's defaults could make the template of
// one of the revisions mean the same as this one. Defaults fill in what is
// absent; they never touch labels, annotations, or the names and images of
// containers. Where those differ nobody needs to be asked, and they do in most
// updates.
func CouldMean(revisions []*appsv1.ControllerRevision, wanted *corev1.PodTemplateSpec) bool {
	return slices.ContainsFunc(revisions, func(revision *appsv1.ControllerRevision) bool {
		template, err := Template(revision)
		return err == nil && haveSameWrittenPart(template, wanted)
	})
}

// haveSameWrittenPart tells whether two templates agree in what no default touches.
func haveSameWrittenPart(a, b *corev1.PodTemplateSpec) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		slices.EqualFunc(a.Spec.Containers, b.Spec.Containers, runSame) &&
		slices.EqualFunc(a.Spec.InitContainers, b.Spec.InitContainers, runSame)
}

func runSame(a, b corev1.Container) bool { return a.Name == b.Name && a.Image == b.Image }
