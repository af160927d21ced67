package admission

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// shipped reads config/webhook/configuration.yaml.
func shipped(t testing.TB) (*admissionv1.MutatingWebhookConfiguration, *admissionv1.ValidatingWebhookConfiguration) {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	content, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "config", "webhook", "configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.Split(content, []byte("\n---\n"))
	if len(parts) != 2 {
		t.Fatalf("configuration.yaml has %d documents, want the mutating and the validating side", len(parts))
	}
	mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	decode(t, parts[0], mutating)
	decode(t, parts[1], validating)
	return mutating, validating
}

func decode(t testing.TB, document []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(document, into); err != nil {
		t.Fatalf("decoding config/webhook/configuration.yaml: %v", err)
	}
}

// blankPolicy is a set that the schema refuses unless the mutating side fills in its blank.
func blankPolicy(namespace string) *unstructured.Unstructured {
	set := minimal(namespace)
	set.Object["spec"].(map[string]any)["podManagementPolicy"] = ""
	return set
}

// withoutImage is a set that only the validating side refuses.
func withoutImage(namespace string) *unstructured.Unstructured {
	set := minimal(namespace)
	template := set.Object["spec"].(map[string]any)["template"].(map[string]any)
	template["spec"] = map[string]any{"containers": []any{map[string]any{"name": "probe"}}}
	return set
}

func minimal(namespace string) *unstructured.Unstructured {
	labels := map[string]any{"app": "probe"}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.rollcall.dev/v1",
		"kind":       "StatefulSet",
		"metadata":   map[string]any{"name": "probe", "namespace": namespace},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "probe", "image": "probe"}}},
			},
		},
	}}
}
