package scenario

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Edit changes a manifest.
type Edit func(*v1.StatefulSet)

// NewSet is a set of one pod that starts and stops without delay, as edited.
func NewSet(namespace, name string, edits ...Edit) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas:            new(int32(1)),
			ServiceName:         name,
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			PodManagementPolicy: v1.OrderedReady,
			UpdateStrategy:      v1.UpdateStrategy{Type: v1.RollingUpdateStrategy},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// Replicas sets the number of pods.
func Replicas(n int32) Edit { return func(set *v1.StatefulSet) { set.Spec.Replicas = &n } }

// Image sets the template's image, whose tag tells the simulated nodes how the
// pod fares: "web:2", "web:2-crash-loop", "web:2-start-5s".
func Image(image string) Edit {
	return func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = image }
}

// Parallel creates and removes pods all at once.
func Parallel() Edit {
	return func(set *v1.StatefulSet) { set.Spec.PodManagementPolicy = v1.Parallel }
}

// Strategy sets the update strategy.
func Strategy(strategy v1.UpdateStrategyType) Edit {
	return func(set *v1.StatefulSet) { set.Spec.UpdateStrategy = v1.UpdateStrategy{Type: strategy} }
}

// Partition sets the partition of a rolling update, an enforced one included.
func Partition(n int32) Edit {
	return func(set *v1.StatefulSet) { tuning(set).Partition = &n }
}

// MaxUnavailable sets the budget of a rolling update, an enforced one included:
// "2" or "50%".
func MaxUnavailable(value string) Edit {
	return func(set *v1.StatefulSet) { tuning(set).MaxUnavailable = new(intstr.Parse(value)) }
}

// ProgressTimeout sets podProgressTimeoutSeconds of a rolling update.
func ProgressTimeout(seconds int32) Edit {
	return func(set *v1.StatefulSet) { tuning(set).PodProgressTimeoutSeconds = &seconds }
}

// tuning returns the parameters of the strategy that the set has at this point.
func tuning(set *v1.StatefulSet) *v1.RollingUpdate {
	strategy := &set.Spec.UpdateStrategy
	parameters := &strategy.RollingUpdate
	if strategy.Type == v1.EnforcedRollingUpdateStrategy {
		parameters = &strategy.EnforcedRollingUpdate
	}
	if *parameters == nil {
		*parameters = &v1.RollingUpdate{}
	}
	return *parameters
}

// MinReady sets minReadySeconds.
func MinReady(seconds int32) Edit {
	return func(set *v1.StatefulSet) { set.Spec.MinReadySeconds = seconds }
}

// Start sets the ordinal of the first pod.
func Start(n int32) Edit {
	return func(set *v1.StatefulSet) { set.Spec.Ordinals = &v1.Ordinals{Start: n} }
}

// HistoryLimit sets revisionHistoryLimit.
func HistoryLimit(n int32) Edit {
	return func(set *v1.StatefulSet) { set.Spec.RevisionHistoryLimit = &n }
}

// Paused holds updates back or lets them go.
func Paused(isPaused bool) Edit { return func(set *v1.StatefulSet) { set.Spec.Paused = isPaused } }

// Annotate sets an annotation of the template, by which nodes are told how pods
// fare, or pods are restarted.
func Annotate(key, value string) Edit {
	return func(set *v1.StatefulSet) {
		if set.Spec.Template.Annotations == nil {
			set.Spec.Template.Annotations = map[string]string{}
		}
		set.Spec.Template.Annotations[key] = value
	}
}

// Claims gives every pod a claim per name.
func Claims(names ...string) Edit {
	return func(set *v1.StatefulSet) {
		for _, name := range names {
			set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			})
		}
	}
}

// Retention sets what becomes of claims.
func Retention(whenDeleted, whenScaled v1.RetentionPolicyType) Edit {
	return func(set *v1.StatefulSet) {
		set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.PersistentVolumeClaimRetentionPolicy{
			WhenDeleted: whenDeleted, WhenScaled: whenScaled,
		}
	}
}
