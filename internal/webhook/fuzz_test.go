package webhook

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// fuzzSeeds are sets as they may be sent or stored, and what is none.
var fuzzSeeds = []string{
	`spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 3, podProgressTimeoutSeconds: 60}}}`,
	`spec: {podManagementPolicy: "", persistentVolumeClaimRetentionPolicy: {whenDeleted: "", whenScaled: Delete}, updateStrategy: {type: ""}}`,
	`spec: {podManagementPolicy: 7, updateStrategy: [], selector: "no"}`,
	`spec: {updateStrategy: {type: EnforcedRollingUpdate, enforcedRollingUpdate: {maxUnavailable: 50%}}}`,
	`spec: {updateStrategy: {type: Recreate}, selector: {matchLabels: {"a b": c}, matchExpressions: [{key: a, operator: In}]}}`,
	`spec: {volumeClaimTemplates: [{kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}]}`,
	`spec: {volumeClaimTemplates: [{metadata: {name: a, creationTimestamp: null}, spec: {resources: {requests: {storage: 1024Mi}}}}]}`,
	`{apiVersion: apps.rollcall.dev/v1, kind: StatefulSet, metadata: {name: web}, spec: {template: {spec: {containers: [{name: a, image: a}]}}}}`,
	`spec: {replicas: many}`, `spec:`, `[]`, `"set"`,
}

// addSeeds adds every pair of sent and stored sets, and what is not even JSON.
func addSeeds(f *testing.F) {
	for _, sent := range fuzzSeeds {
		for _, stored := range append([]string{""}, fuzzSeeds...) {
			f.Add(seedJSON(f, sent), seedJSON(f, stored), byte(len(sent)))
		}
	}
	f.Add([]byte("{"), []byte("\xff"), byte(0))
}

func seedJSON(f *testing.F, text string) []byte {
	if text == "" {
		return nil
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// gatesFrom reads the gates from the bits of a number.
func gatesFrom(bits byte) plan.Gates {
	return plan.Gates{MaxUnavailable: bits&1 != 0, Recreate: bits&2 != 0, EnforcedRollingUpdate: bits&4 != 0, ProgressDeadline: bits&8 != 0}
}

func rawRequest(sent, stored []byte) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Name: "web", Kind: metav1.GroupVersionKind(v1.Kind),
		Object: runtime.RawExtension{Raw: sent}, OldObject: runtime.RawExtension{Raw: stored},
	}}
}

// mutable are the only places that the mutating webhook may write to.
var mutable = []string{
	"/spec/podManagementPolicy", "/spec/persistentVolumeClaimRetentionPolicy/whenDeleted", "/spec/persistentVolumeClaimRetentionPolicy/whenScaled",
	"/spec/updateStrategy/type", "/spec/updateStrategy/rollingUpdate", "/spec/updateStrategy/rollingUpdate/maxUnavailable",
	"/spec/updateStrategy/enforcedRollingUpdate/maxUnavailable", "/spec/selector", "/spec/volumeClaimTemplates",
}

// FuzzMutating: whatever is sent, the webhook accepts it, its patch fits, stays
// within its bounds, and is complete: there is nothing to do about the result.
func FuzzMutating(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, sent, stored []byte, bits byte) {
		handler := &Mutating{Gates: gatesFrom(bits)}
		response := handler.Handle(t.Context(), rawRequest(sent, stored))
		if !response.Allowed {
			t.Fatalf("refused: %v", response.Result)
		}
		for _, operation := range response.Patches {
			if !slices.Contains(mutable, operation.Path) {
				t.Errorf("writes to %s", operation.Path)
			}
		}
		if len(response.Patches) == 0 {
			return
		}
		result := patched(t, sent, response)
		if again := handler.Handle(t.Context(), rawRequest(result, stored)); len(again.Patches) > 0 {
			t.Errorf("%s becomes %s, of which %v is left to do", sent, result, again.Patches)
		}
	})
}

// FuzzValidating: whatever is sent, the webhook accepts it or says which field is
// wrong; what a disabled gate keeps out never gets in.
func FuzzValidating(f *testing.F) {
	addSeeds(f)
	scheme, err := newScheme()
	if err != nil {
		f.Fatal(err)
	}
	decoder := admission.NewDecoder(scheme)
	f.Fuzz(func(t *testing.T, sent, stored []byte, bits byte) {
		templates := checkerThat(t, func(context.Context, *corev1.PodTemplate) error { return nil })
		handler := &Validating{Gates: gatesFrom(bits), Decoder: decoder, Templates: templates}
		response := handler.Handle(t.Context(), rawRequest(sent, stored))
		if !response.Allowed && !namesFields(response) {
			t.Errorf("refused without naming a field: %v", response.Result)
		}
		set, err := decodeSet(decoder, sent)
		if err != nil && response.Allowed {
			t.Errorf("%s is accepted, although it can't be read: %v", sent, err)
		}
		if before, _ := decodeSet(decoder, stored); err == nil && response.Allowed && isKeptOut(handler.Gates, set, before) {
			t.Errorf("%s is accepted with the gates %+v", sent, handler.Gates)
		}
	})
}

func namesFields(response admission.Response) bool {
	result := response.Result
	if result.Code != http.StatusUnprocessableEntity || result.Details == nil || len(result.Details.Causes) == 0 {
		return false
	}
	return !slices.ContainsFunc(result.Details.Causes, func(cause metav1.StatusCause) bool { return !strings.HasPrefix(cause.Field, "spec") })
}

func decodeSet(decoder admission.Decoder, raw []byte) (*v1.StatefulSet, error) {
	set := &v1.StatefulSet{}
	if err := decoder.DecodeRaw(runtime.RawExtension{Raw: raw}, set); err != nil {
		return &v1.StatefulSet{}, err
	}
	return set, nil
}

// isKeptOut says by itself what the gates keep out.
func isKeptOut(gates plan.Gates, set, stored *v1.StatefulSet) bool {
	next, before := set.Spec.UpdateStrategy, stored.Spec.UpdateStrategy
	switch {
	case next.Type == v1.RecreateStrategy && !gates.Recreate && before.Type != v1.RecreateStrategy:
		return true
	case next.Type == v1.EnforcedRollingUpdateStrategy && !gates.EnforcedRollingUpdate && before.Type != v1.EnforcedRollingUpdateStrategy:
		return true
	default:
		hadTimeout := before.RollingUpdate != nil && before.RollingUpdate.PodProgressTimeoutSeconds != nil
		hasTimeout := next.RollingUpdate != nil && next.RollingUpdate.PodProgressTimeoutSeconds != nil
		return hasTimeout && !hadTimeout && !gates.ProgressDeadline
	}
}
