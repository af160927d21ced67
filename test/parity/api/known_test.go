package api

import (
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
		name: "an empty updateStrategy is stored without rollingUpdate, which means the same",
		applies: func(m manifest) bool {
			strategy, found, err := unstructured.NestedMap(m, "spec", "updateStrategy")
			return found && err == nil && len(strategy) == 0
		},
	},
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
