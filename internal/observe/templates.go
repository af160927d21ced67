package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// templates asks the API server what templates mean once its defaults are filled
// in, by dry runs of creating PodTemplates.
//
// Answers are kept per set and generation, all of a set together: templates that
// are compared must have been filled in by the same version of Kubernetes.
type templates struct {
	dryRun client.Writer
	mu     sync.Mutex
	known  map[types.NamespacedName]answer
}

type answer struct {
	set        types.UID
	generation int64
	revisions  []types.UID
	defaulted  plan.DefaultedTemplates
}

func newTemplates(dryRun client.Writer) *templates {
	return &templates{dryRun: dryRun, known: map[types.NamespacedName]answer{}}
}

// of returns the templates of a set and of its revisions with all defaults.
func (t *templates) of(ctx context.Context, set *v1.StatefulSet, revisions []*appsv1.ControllerRevision) (plan.DefaultedTemplates, error) {
	key, revisionUIDs := client.ObjectKeyFromObject(set), sortedUIDs(revisions)
	if known := t.recall(key); known.set == set.UID && known.generation == set.Generation && slices.Equal(known.revisions, revisionUIDs) {
		return known.defaulted, nil
	}
	defaulted, err := t.ask(ctx, set, revisions)
	if err != nil {
		return plan.DefaultedTemplates{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[key] = answer{set: set.UID, generation: set.Generation, revisions: revisionUIDs, defaulted: defaulted}
	return defaulted, nil
}

func (t *templates) recall(set types.NamespacedName) answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[set]
}

func (t *templates) forget(set types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, set)
}

func (t *templates) ask(ctx context.Context, set *v1.StatefulSet, revisions []*appsv1.ControllerRevision) (plan.DefaultedTemplates, error) {
	defaulted := plan.DefaultedTemplates{Revisions: map[string]*corev1.PodTemplateSpec{}}
	var err error
	if defaulted.Spec, err = t.fillIn(ctx, set, &set.Spec.Template); err != nil {
		return defaulted, fmt.Errorf("ask for the defaults of the template of set %s/%s: %w", set.Namespace, set.Name, err)
	}
	for _, recorded := range revisions {
		template, err := revision.Template(recorded)
		if err != nil {
			// Not a template of ours: nothing can equal it.
			continue
		}
		filled, err := t.fillIn(ctx, set, template)
		if err != nil {
			return defaulted, fmt.Errorf("ask for the defaults of revision %s/%s: %w", set.Namespace, recorded.Name, err)
		}
		if filled != nil {
			defaulted.Revisions[recorded.Name] = filled
		}
	}
	return defaulted, nil
}

// fillIn returns a template with all defaults, or nil if the API server refuses
// the template or refuses to be asked. The template gets the volumes that its pods
// get for claims: it mounts them, and would be refused without.
func (t *templates) fillIn(ctx context.Context, set *v1.StatefulSet, template *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	probe := &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, GenerateName: "rollcall-dry-run-"},
		Template:   *template.DeepCopy(),
	}
	probe.Template.Spec.Volumes = podbuild.Pod(set, template, "", 0).Spec.Volumes
	err := t.dryRun.Create(ctx, probe, client.DryRunAll)
	switch {
	case err == nil:
		return &probe.Template, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err):
		return nil, nil
	default:
		return nil, err
	}
}

func sortedUIDs(revisions []*appsv1.ControllerRevision) []types.UID {
	uids := make([]types.UID, 0, len(revisions))
	for _, revision := range revisions {
		uids = append(uids, revision.UID)
	}
	slices.Sort(uids)
	return uids
}
