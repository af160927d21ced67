package simulation

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// A setting is one word about a spec, "replicas=3". A set is described by
// several, and an edit of it by one. Templates go by their image: one that
// begins with x is broken, its pods never get ready.

// setting changes a spec.
type setting func(*v1.StatefulSetSpec)

// parseSettings reads settings separated by blanks.
func parseSettings(text string) ([]setting, error) {
	var settings []setting
	for _, word := range strings.Fields(text) {
		parsed, err := parseSetting(word)
		if err != nil {
			return nil, fmt.Errorf("read the setting %q: %w", word, err)
		}
		settings = append(settings, parsed)
	}
	return settings, nil
}

func parseSetting(word string) (setting, error) {
	key, value, _ := strings.Cut(word, "=")
	if apply, ok := textSettings[key]; ok {
		return func(spec *v1.StatefulSetSpec) { apply(spec, value) }, nil
	}
	apply, ok := numberSettings[key]
	if !ok {
		return nil, fmt.Errorf("there is no setting %q", key)
	}
	number, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%q is no number: %w", value, err)
	}
	return func(spec *v1.StatefulSetSpec) { apply(spec, int32(number)) }, nil
}

var textSettings = map[string]func(spec *v1.StatefulSetSpec, value string){
	"template": func(spec *v1.StatefulSetSpec, value string) {
		spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: value}}
	},
	"policy": func(spec *v1.StatefulSetSpec, value string) {
		spec.PodManagementPolicy = v1.PodManagementPolicyType(value)
	},
	"strategy": func(spec *v1.StatefulSetSpec, value string) {
		tuning := tuningOf(spec)
		spec.UpdateStrategy = v1.UpdateStrategy{Type: v1.UpdateStrategyType(value)}
		switch spec.UpdateStrategy.Type {
		case v1.RollingUpdateStrategy:
			spec.UpdateStrategy.RollingUpdate = tuning
		case v1.EnforcedRollingUpdateStrategy:
			tuning.PodProgressTimeoutSeconds = nil
			spec.UpdateStrategy.EnforcedRollingUpdate = tuning
		}
	},
	"paused":         func(spec *v1.StatefulSetSpec, value string) { spec.Paused = value == "true" },
	"maxUnavailable": func(spec *v1.StatefulSetSpec, value string) { tune(spec).MaxUnavailable = new(intstr.Parse(value)) },
	"whenScaled": func(spec *v1.StatefulSetSpec, value string) {
		spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.RetentionPolicyType(value)
	},
	"whenDeleted": func(spec *v1.StatefulSetSpec, value string) {
		spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted = v1.RetentionPolicyType(value)
	},
}

var numberSettings = map[string]func(spec *v1.StatefulSetSpec, value int32){
	"replicas":  func(spec *v1.StatefulSetSpec, value int32) { spec.Replicas = &value },
	"start":     func(spec *v1.StatefulSetSpec, value int32) { spec.Ordinals = &v1.Ordinals{Start: value} },
	"partition": func(spec *v1.StatefulSetSpec, value int32) { tune(spec).Partition = &value },
	"timeout":   func(spec *v1.StatefulSetSpec, value int32) { tune(spec).PodProgressTimeoutSeconds = &value },
	"minReady":  func(spec *v1.StatefulSetSpec, value int32) { spec.MinReadySeconds = value },
	"history":   func(spec *v1.StatefulSetSpec, value int32) { spec.RevisionHistoryLimit = &value },
	"claims": func(spec *v1.StatefulSetSpec, value int32) {
		for i := range value {
			spec.VolumeClaimTemplates = append(spec.VolumeClaimTemplates, claimTemplate("data"+strconv.Itoa(int(i))))
		}
	},
}

// claimTemplate returns a claim template that the API server takes.
func claimTemplate(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(1<<30, resource.BinarySI)},
			},
		},
	}
}

// tuningOf returns a copy of the parameters of the strategy in force, or none.
func tuningOf(spec *v1.StatefulSetSpec) *v1.RollingUpdate {
	for _, tuning := range []*v1.RollingUpdate{spec.UpdateStrategy.RollingUpdate, spec.UpdateStrategy.EnforcedRollingUpdate} {
		if tuning != nil {
			return tuning.DeepCopy()
		}
	}
	return &v1.RollingUpdate{}
}

// tune returns the parameters of the strategy in force, to be modified. With a
// strategy that has none the change goes nowhere.
func tune(spec *v1.StatefulSetSpec) *v1.RollingUpdate {
	switch {
	case spec.UpdateStrategy.RollingUpdate != nil:
		return spec.UpdateStrategy.RollingUpdate
	case spec.UpdateStrategy.EnforcedRollingUpdate != nil:
		return spec.UpdateStrategy.EnforcedRollingUpdate
	default:
		return &v1.RollingUpdate{}
	}
}

// newSet makes the set of a scenario as the API server would store it.
func newSet(setup string) (*v1.StatefulSet, error) {
	settings, err := parseSettings(setup)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"app": setName}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: setName, Generation: 1},
		Spec: v1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: setName,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
	textSettings["template"](&set.Spec, "a")
	v1.SetDefaults(set)
	for _, apply := range settings {
		apply(&set.Spec)
	}
	v1.SetDefaults(set)
	return set, nil
}

// isBroken tells whether pods of an image never get ready.
func isBroken(image string) bool { return strings.HasPrefix(image, "x") }
