// Package testkit makes test data that reads like what it describes.
//
// Sets are built by chained calls,
//
//	testkit.MakeSet("web").Replicas(3).Parallel().Template("b").Current("a").Obj()
//
// and pods by a notation with one word per ordinal,
//
//	0:a/available 1:b/crashing 2:-
//
// read as ordinal, revision, state; "-" is a slot without a pod. Revisions go by
// letters: revision "a" is the one whose template has the image "a".
package testkit

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// Now is the time at which tests observe, unless they say otherwise.
var Now = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// Namespace is where everything lives.
const Namespace = "shop"

// SetBuilder builds a set.
type SetBuilder struct{ set v1.StatefulSet }

// MakeSet starts a set of one pod with the template "a", defaulted as the API
// server would.
func MakeSet(name string) *SetBuilder {
	labels := map[string]string{"app": name}
	b := &SetBuilder{set: v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name, UID: types.UID(name + "-uid"), Generation: 1,
			CreationTimestamp: metav1.NewTime(Now.Add(-time.Hour)),
		},
		Spec: v1.StatefulSetSpec{
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			ServiceName: name,
			Template:    corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}}
	v1.SetDefaults(&b.set)
	return b.Template("a")
}

// Obj returns a copy of the set as built so far.
func (b *SetBuilder) Obj() *v1.StatefulSet { return b.set.DeepCopy() }

// Replicas sets how many pods there should be.
func (b *SetBuilder) Replicas(n int32) *SetBuilder {
	b.set.Spec.Replicas = &n
	return b
}

// Start sets the ordinal of the first pod.
func (b *SetBuilder) Start(n int32) *SetBuilder {
	b.set.Spec.Ordinals = &v1.Ordinals{Start: n}
	return b
}

// Template sets the template to that of a revision.
func (b *SetBuilder) Template(letter string) *SetBuilder {
	b.set.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: letter}}}
	return b
}

// Current sets the revision of the last complete update. It has to come after
// all calls that change the template's metadata.
func (b *SetBuilder) Current(letter string) *SetBuilder {
	b.set.Status.CurrentRevision = RevisionName(&b.set, letter)
	return b
}

// Parallel sets the management policy.
func (b *SetBuilder) Parallel() *SetBuilder {
	b.set.Spec.PodManagementPolicy = v1.Parallel
	return b
}

// Strategy sets the update strategy, with its defaults.
func (b *SetBuilder) Strategy(strategy v1.UpdateStrategyType) *SetBuilder {
	b.set.Spec.UpdateStrategy = v1.UpdateStrategy{Type: strategy}
	v1.SetDefaults(&b.set)
	return b
}

// Partition sets the partition of the strategy in force.
func (b *SetBuilder) Partition(n int32) *SetBuilder {
	b.tuning().Partition = &n
	return b
}

// MaxUnavailable sets the budget: "2" or "50%".
func (b *SetBuilder) MaxUnavailable(value string) *SetBuilder {
	b.tuning().MaxUnavailable = new(intstr.Parse(value))
	return b
}

// ProgressTimeout sets podProgressTimeoutSeconds.
func (b *SetBuilder) ProgressTimeout(seconds int32) *SetBuilder {
	b.tuning().PodProgressTimeoutSeconds = &seconds
	return b
}

func (b *SetBuilder) tuning() *v1.RollingUpdate {
	if b.set.Spec.UpdateStrategy.Type == v1.EnforcedRollingUpdateStrategy {
		return b.set.Spec.UpdateStrategy.EnforcedRollingUpdate
	}
	return b.set.Spec.UpdateStrategy.RollingUpdate
}

// MinReady sets minReadySeconds.
func (b *SetBuilder) MinReady(seconds int32) *SetBuilder {
	b.set.Spec.MinReadySeconds = seconds
	return b
}

// Paused holds updates back.
func (b *SetBuilder) Paused() *SetBuilder {
	b.set.Spec.Paused = true
	return b
}

// HistoryLimit sets revisionHistoryLimit.
func (b *SetBuilder) HistoryLimit(n int32) *SetBuilder {
	b.set.Spec.RevisionHistoryLimit = &n
	return b
}

// Claims gives each pod a claim per name.
func (b *SetBuilder) Claims(names ...string) *SetBuilder {
	for _, name := range names {
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
		b.set.Spec.VolumeClaimTemplates = append(b.set.Spec.VolumeClaimTemplates, claim)
	}
	return b
}

// Retention sets the retention policy of the claims.
func (b *SetBuilder) Retention(whenDeleted, whenScaled v1.RetentionPolicyType) *SetBuilder {
	b.set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.PersistentVolumeClaimRetentionPolicy{
		WhenDeleted: whenDeleted, WhenScaled: whenScaled,
	}
	return b
}

// Deleting gives the set a deletionTimestamp.
func (b *SetBuilder) Deleting() *SetBuilder {
	b.set.DeletionTimestamp = &metav1.Time{Time: Now}
	return b
}

// RevisionName returns the name of the revision whose template has a letter as image.
func RevisionName(set *v1.StatefulSet, letter string) string {
	return Revision(set, letter, 0).Name
}

// Revision makes the revision of a letter, owned by the set, under a number.
func Revision(set *v1.StatefulSet, letter string, number int64) *appsv1.ControllerRevision {
	other := set.DeepCopy()
	other.Spec.Template.Spec.Containers[0].Image = letter
	data, err := revision.Data(&other.Spec.Template)
	if err != nil {
		panic(fmt.Sprintf("testkit: encode the template %q: %v", letter, err))
	}
	made := revision.New(other, data, number, 0)
	made.UID = types.UID(made.Name + "-uid")
	made.CreationTimestamp = metav1.NewTime(Now.Add(-time.Hour + time.Duration(number)*time.Second))
	return made
}
