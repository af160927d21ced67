package webhook

import (
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

func TestMutating(t *testing.T) {
	gateOff := plan.AllGates()
	gateOff.MaxUnavailable = false
	tests := map[string]struct {
		gates  plan.Gates
		stored string
		sent   string
		want   string
	}{
		"nothing to do": {
			gates: plan.AllGates(),
			sent:  `spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 3}}}`,
			want:  `spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 3}}}`,
		},
		"blanks are filled in": {
			gates: plan.AllGates(),
			sent:  `spec: {podManagementPolicy: "", persistentVolumeClaimRetentionPolicy: {whenDeleted: "", whenScaled: Delete}, updateStrategy: {type: ""}}`,
			want: `spec: {podManagementPolicy: OrderedReady, persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Delete},
				updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}}`,
		},
		"a blank type keeps its parameters": {
			gates: plan.AllGates(),
			sent:  `spec: {updateStrategy: {type: "", rollingUpdate: {partition: 2}}}`,
			want:  `spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}}`,
		},
		"what the schema will refuse is left alone": {
			gates: gateOff,
			sent:  `spec: {podManagementPolicy: 7, updateStrategy: [], selector: "no"}`,
			want:  `spec: {podManagementPolicy: 7, updateStrategy: [], selector: "no"}`,
		},
		"gate off: maxUnavailable falls back to 1": {
			gates: gateOff,
			sent:  `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 3}}}`,
			want:  `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 1}}}`,
		},
		"gate off: a percentage too, and that of the enforced strategy": {
			gates: gateOff,
			sent:  `spec: {updateStrategy: {enforcedRollingUpdate: {maxUnavailable: 50%}}}`,
			want:  `spec: {updateStrategy: {enforcedRollingUpdate: {maxUnavailable: 1}}}`,
		},
		"gate off: the default of a stored set is no use": {
			gates:  gateOff,
			stored: `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 1}}}`,
			sent:   `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 3}}}`,
			want:   `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 1}}}`,
		},
		"gate off: a stored use stays editable": {
			gates:  gateOff,
			stored: `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 3}}}`,
			sent:   `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 5}}}`,
			want:   `spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 5}}}`,
		},
		"equal claims keep their stored spelling": {
			gates:  plan.AllGates(),
			stored: `spec: {volumeClaimTemplates: [{kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}]}`,
			sent:   `spec: {volumeClaimTemplates: [{metadata: {name: a, creationTimestamp: null}, spec: {resources: {requests: {storage: 1024Mi}}}}]}`,
			want:   `spec: {volumeClaimTemplates: [{kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}]}`,
		},
		"claims of another size are for the schema to refuse": {
			gates:  plan.AllGates(),
			stored: `spec: {volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 1Gi}}}}]}`,
			sent:   `spec: {volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 2Gi}}}}]}`,
			want:   `spec: {volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 2Gi}}}}]}`,
		},
		"an equal selector keeps its stored spelling": {
			gates:  plan.AllGates(),
			stored: `spec: {selector: {matchLabels: {a: b}}}`,
			sent:   `spec: {selector: {matchLabels: {a: b}, matchExpressions: []}}`,
			want:   `spec: {selector: {matchLabels: {a: b}}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := &Mutating{Gates: test.gates}
			response := handler.Handle(t.Context(), requestFor(t, test.sent, test.stored))
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			got := patched(t, rawJSON(t, test.sent), response)
			if diff := cmp.Diff(parse(rawJSON(t, test.want)), parse(got)); diff != "" {
				t.Errorf("patched set (-want +got):\n%s", diff)
			}
		})
	}
}

func requestFor(t *testing.T, sent, stored string) admission.Request {
	t.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: rawJSON(t, sent)}}}
	if stored != "" {
		request.OldObject.Raw = rawJSON(t, stored)
	}
	return request
}

func rawJSON(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// patched applies the patch of a response as the API server does.
func patched(t *testing.T, raw []byte, response admission.Response) []byte {
	t.Helper()
	operations, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	result, err := patch.Apply(raw)
	if err != nil {
		t.Fatalf("applying %s: %v", operations, err)
	}
	return result
}
