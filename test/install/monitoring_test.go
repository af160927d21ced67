package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestAlertsAreShipped: the chart's PrometheusRule has the alerts of monitoring/alerts.yaml, none more and none less.
func TestAlertsAreShipped(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root(), "monitoring", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	rule := rendered(t, "PrometheusRule", "--set=metrics.prometheusRule.enabled=true")
	if diff := cmp.Diff(want, rule.Object["spec"]); diff != "" {
		t.Errorf("alerts (-monitoring/alerts.yaml +chart):\n%s", diff)
	}
}

// TestLabelsAreHonoured: without this, the operator's namespace would stand where alerts look for the set's.
func TestLabelsAreHonoured(t *testing.T) {
	monitor := rendered(t, "ServiceMonitor", "--set=metrics.serviceMonitor.enabled=true")
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if err != nil || len(endpoints) == 0 {
		t.Fatalf("%d endpoints: %v", len(endpoints), err)
	}
	for _, endpoint := range endpoints {
		if endpoint.(map[string]any)["honorLabels"] != true {
			t.Errorf("labels of %v are not honoured", endpoint)
		}
	}
}

// rendered returns the only object of a kind.
func rendered(t *testing.T, kind string, args ...string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range parse(t, render(t, "rollcall-system", args...)) {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s, want one", len(found), kind)
	}
	return found[0]
}
