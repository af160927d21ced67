package api

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// difference is a way in which we differ from apps/v1, on purpose. docs/api.md lists the same.
type difference struct {
	name string
	// applies tells whether a manifest shows the difference.
	applies func(m manifest) bool
	// stricter: we refuse what apps/v1 accepts. Else both accept it and store it in other words that mean the same.
	stricter bool
}

var differences = []difference{
	{
		name:     "a negative revisionHistoryLimit is refused: in apps/v1 it keeps every revision for good",
		applies:  func(m manifest) bool { return number(m, "spec", "revisionHistoryLimit") < 0 },
		stricter: true,
	},
	{
		name:     "a name over 52 characters is refused: in apps/v1 the set is stored and can't create its pods",
		applies:  func(m manifest) bool { return len(text(m, "metadata", "name")) > 52 },
		stricter: true,
	},
	{
		name: "a selector with over 1000 labels, 100 expressions or 1000 values in one is refused, so that the cost of matching has a bound",
		applies: func(m manifest) bool {
			labels, _, _ := unstructured.NestedMap(m, "spec", "selector", "matchLabels")
			expressions, _, _ := unstructured.NestedSlice(m, "spec", "selector", "matchExpressions")
			return len(labels) > 1000 || len(expressions) > 100 || slices.ContainsFunc(expressions, func(expression any) bool {
				fields, _ := expression.(map[string]any)
				values, _ := fields["values"].([]any)
				return len(values) > 1000
			})
		},
		stricter: true,
	},
	{
		name: "an empty updateStrategy is stored without rollingUpdate, which means the same",
		applies: func(m manifest) bool {
			strategy, found, err := unstructured.NestedMap(m, "spec", "updateStrategy")
			isSet := func(_, _ string, value any) bool { return value != nil }
			return found && err == nil && !anyField(strategy, isSet)
		},
	},
	{
		name: "minReadySeconds 0 and an empty list or map in the selector are stored as they are written; apps/v1 leaves them out",
		applies: func(m manifest) bool {
			seconds, _, _ := unstructured.NestedFieldNoCopy(m, "spec", "minReadySeconds")
			selector, _, _ := unstructured.NestedMap(m, "spec", "selector")
			return seconds == int64(0) || anyField(selector, func(_, _ string, value any) bool { return isEmpty(value) })
		},
	},
	{
		name: "apiVersion and kind of a claim template are stored as they are written; apps/v1 overwrites them",
		applies: func(m manifest) bool {
			claims, _, _ := unstructured.NestedSlice(m, "spec", "volumeClaimTemplates")
			return slices.ContainsFunc(claims, func(claim any) bool {
				fields, _ := claim.(map[string]any)
				return fields["kind"] != nil && fields["kind"] != "PersistentVolumeClaim"
			})
		},
	},
	{
		name: "null as the value of a label, resource or the like is absence; apps/v1 reads it as an empty string or 0",
		applies: func(m manifest) bool {
			return anyField(m, func(parent, _ string, value any) bool { return value == nil && slices.Contains(freeMaps, parent) })
		},
	},
}

// freeMaps are the fields whose keys are chosen by the user.
var freeMaps = []string{"annotations", "labels", "limits", "matchLabels", "nodeSelector", "overhead", "requests"}

// anyField tells whether the predicate holds for a field of the object or of anything in it. It is given the name of
// the object that has the field, the name of the field and its value.
func anyField(value any, holds func(parent, name string, value any) bool) bool {
	var visit func(parent string, value any) bool
	visit = func(parent string, value any) bool {
		switch value := value.(type) {
		case map[string]any:
			for name, child := range value {
				if holds(parent, name, child) || visit(name, child) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(value, func(item any) bool { return visit(parent, item) })
		}
		return false
	}
	if m, ok := value.(manifest); ok {
		value = map[string]any(m)
	}
	return visit("", value)
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// known returns the difference that a manifest shows, if any.
func known(m manifest) (difference, bool) {
	for _, d := range differences {
		if d.applies(m) {
			return d, true
		}
	}
	return difference{}, false
}

// extended tells whether a manifest uses an extension, which apps/v1 refuses.
func extended(m manifest) bool {
	_, paused, _ := unstructured.NestedFieldNoCopy(m, "spec", "paused")
	_, timeout, _ := unstructured.NestedFieldNoCopy(m, "spec", "updateStrategy", "rollingUpdate", "podProgressTimeoutSeconds")
	_, enforced, _ := unstructured.NestedFieldNoCopy(m, "spec", "updateStrategy", "enforcedRollingUpdate")
	strategy := text(m, "spec", "updateStrategy", "type")
	return paused || timeout || enforced || strategy == "Recreate" || strings.HasPrefix(strategy, "Enforced")
}

func number(m manifest, path ...string) int64 {
	value, _, _ := unstructured.NestedInt64(m, path...)
	return value
}

func text(m manifest, path ...string) string {
	value, _, _ := unstructured.NestedString(m, path...)
	return value
}
