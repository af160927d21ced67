package handover

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// FromBuiltIn returns a set of apps/v1 as ours. The spec is carried over whole;
// a field that this version of Rollcall does not know is an error.
func FromBuiltIn(stored *unstructured.Unstructured) (*v1.StatefulSet, error) {
	spec, _, err := unstructured.NestedMap(stored.Object, "spec")
	if err != nil {
		return nil, fmt.Errorf("read the spec of %s%s: %w", builtInName, stored.GetName(), err)
	}
	set := &v1.StatefulSet{ObjectMeta: carriedMeta(stored, v1.GroupVersion.String())}
	set.APIVersion, set.Kind = v1.GroupVersion.String(), v1.Kind.Kind
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &set.Spec, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		return nil, fmt.Errorf("%s%s uses what this version of Rollcall does not know: %s", builtInName, stored.GetName(), unknownFields(strict.Errors()))
	}
	if err != nil {
		return nil, fmt.Errorf("read the spec of %s%s: %w", builtInName, stored.GetName(), err)
	}
	return set, nil
}

// unknownFields turns `unknown field "a.b"` into spec.a.b.
func unknownFields(errs []error) string {
	names := make([]string, 0, len(errs))
	for _, err := range errs {
		field := strings.Trim(strings.TrimPrefix(err.Error(), "unknown field "), `"`)
		names = append(names, "spec."+field)
	}
	return strings.Join(names, ", ")
}

// Marked returns a set as Adopt creates it: with the mark of the one it was made from.
func Marked(set *v1.StatefulSet, from *appsv1.StatefulSet) *v1.StatefulSet {
	marked := set.DeepCopy()
	metav1.SetMetaDataAnnotation(&marked.ObjectMeta, Mark, markFor(from))
	return marked
}

// ToBuiltIn returns a set of ours as one of apps/v1, and what apps/v1 can't
// express of it, each with what becomes of it.
func ToBuiltIn(set *v1.StatefulSet) (builtIn *appsv1.StatefulSet, lost []string, err error) {
	spec, lost := withoutExtensions(set.Spec.DeepCopy())
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the spec of %s%s: %w", oursName, set.Name, err)
	}
	builtIn = &appsv1.StatefulSet{ObjectMeta: carriedMeta(set, appsv1.SchemeGroupVersion.String())}
	builtIn.APIVersion, builtIn.Kind = appsv1.SchemeGroupVersion.String(), v1.Kind.Kind
	if len(lost) > 0 {
		// What was applied last is not what is stored any more.
		delete(builtIn.Annotations, lastApplied)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, &builtIn.Spec, true); err != nil {
		return nil, nil, fmt.Errorf("write the spec of %s%s as apps/v1: %w", oursName, set.Name, err)
	}
	return builtIn, lost, nil
}

// withoutExtensions takes away from a spec what only Rollcall has.
func withoutExtensions(spec *v1.StatefulSetSpec) (plain *v1.StatefulSetSpec, lost []string) {
	if spec.Paused {
		lost = append(lost, "spec.paused (updates are no longer held back)")
	}
	spec.Paused = false
	strategy := &spec.UpdateStrategy
	switch strategy.Type {
	case v1.EnforcedRollingUpdateStrategy:
		lost = append(lost, "spec.updateStrategy.type EnforcedRollingUpdate (becomes RollingUpdate)")
		strategy.RollingUpdate = strategy.EnforcedRollingUpdate
	case v1.RecreateStrategy:
		lost = append(lost, "spec.updateStrategy.type Recreate (becomes RollingUpdate)")
	case v1.RollingUpdateStrategy, v1.OnDeleteStrategy:
	}
	if strategy.Type != v1.OnDeleteStrategy {
		strategy.Type = v1.RollingUpdateStrategy
	}
	strategy.EnforcedRollingUpdate = nil
	if tuning := strategy.RollingUpdate; tuning != nil && tuning.PodProgressTimeoutSeconds != nil {
		lost = append(lost, "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds (a pod that never gets ready holds an update)")
		tuning.PodProgressTimeoutSeconds = nil
	}
	return spec, lost
}

// Dropped names what the API server left out of its answer, because the cluster
// is too old for it or has it switched off.
func Dropped(set *v1.StatefulSet, answer *appsv1.StatefulSet) []string {
	if answer == nil {
		return nil
	}
	plain, _ := withoutExtensions(set.Spec.DeepCopy())
	asked, got := plain.UpdateStrategy.RollingUpdate, answer.Spec.UpdateStrategy.RollingUpdate
	isAsked := asked != nil && asked.MaxUnavailable != nil && *asked.MaxUnavailable != intstr.FromInt32(v1.DefaultMaxUnavailable)
	if isAsked && (got == nil || got.MaxUnavailable == nil) {
		return []string{"spec.updateStrategy.rollingUpdate.maxUnavailable (this cluster replaces pods one at a time)"}
	}
	return nil
}
