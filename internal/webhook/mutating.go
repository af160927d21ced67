package webhook

import (
	"context"
	"strings"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Mutating drops what a disabled gate drops, fills in blanks that apps/v1 fills in, and restores the stored spelling of
// fields that can't change. It runs before the schema has judged the object, so it takes nothing for granted: what it
// does not understand it leaves for the schema to refuse.
type Mutating struct {
	Gates plan.Gates
}

// object is a set in the form it was sent in. A patch of it changes nothing that was not meant to be changed, which a
// round trip through Go types can't promise.
type object = map[string]any

// Handle implements admission.Handler.
func (m *Mutating) Handle(_ context.Context, request admission.Request) admission.Response {
	set, stored := parse(request.Object.Raw), parse(request.OldObject.Raw)
	var patch []jsonpatch.JsonPatchOperation
	patch = append(patch, fillBlanks(set)...)
	patch = append(patch, keepSpelling(set, stored)...)
	if !m.Gates.MaxUnavailable && !raisesMaxUnavailable(stored) {
		patch = append(patch, resetMaxUnavailable(set)...)
	}
	return admission.Patched("", patch...)
}

// parse returns nil for what is not a JSON object, a set that does not exist included.
func parse(raw []byte) object {
	var parsed object
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil
	}
	return parsed
}

// fillBlanks treats an empty string as absent, as apps/v1 does; the schema would call it an unknown value.
func fillBlanks(set object) []jsonpatch.JsonPatchOperation {
	blanks := []struct {
		value any
		path  []string
	}{
		{v1.OrderedReady, []string{"spec", "podManagementPolicy"}},
		{v1.Retain, []string{"spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"}},
		{v1.Retain, []string{"spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"}},
		{v1.RollingUpdateStrategy, []string{"spec", "updateStrategy", "type"}},
	}
	var patch []jsonpatch.JsonPatchOperation
	for _, blank := range blanks {
		if found, ok := lookup(set, blank.path...); ok && found == "" {
			patch = append(patch, replace(blank.value, blank.path...))
		}
	}
	return append(patch, addTuning(set)...)
}

// addTuning gives a blank strategy the parameters that apps/v1 stores with it.
func addTuning(set object) []jsonpatch.JsonPatchOperation {
	strategy, _ := lookup(set, "spec", "updateStrategy")
	fields, ok := strategy.(object)
	if !ok || fields["type"] != "" || fields["rollingUpdate"] != nil {
		return nil
	}
	tuning := object{"partition": v1.DefaultPartition, "maxUnavailable": v1.DefaultMaxUnavailable}
	return []jsonpatch.JsonPatchOperation{
		jsonpatch.NewOperation("add", pointer("spec", "updateStrategy", "rollingUpdate"), tuning),
	}
}

// tunings are the places of maxUnavailable.
var tunings = [][]string{
	{"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"},
	{"spec", "updateStrategy", "enforcedRollingUpdate", "maxUnavailable"},
}

// resetMaxUnavailable drops the field, which the schema then sets to its default: in one step, to 1.
func resetMaxUnavailable(set object) []jsonpatch.JsonPatchOperation {
	var patch []jsonpatch.JsonPatchOperation
	for _, path := range tunings {
		if value, ok := lookup(set, path...); ok && value != int64(v1.DefaultMaxUnavailable) {
			patch = append(patch, replace(v1.DefaultMaxUnavailable, path...))
		}
	}
	return patch
}

// raisesMaxUnavailable tells whether a stored set makes use of the field. A value of 1 is no use: the schema writes it
// into every set.
func raisesMaxUnavailable(stored object) bool { return len(resetMaxUnavailable(stored)) > 0 }

func lookup(set object, path ...string) (any, bool) {
	value, ok, err := unstructured.NestedFieldNoCopy(set, path...)
	return value, ok && err == nil
}

func replace(value any, path ...string) jsonpatch.JsonPatchOperation {
	return jsonpatch.NewOperation("replace", pointer(path...), value)
}

func pointer(path ...string) string { return "/" + strings.Join(path, "/") }
