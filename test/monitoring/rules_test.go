package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var (
	root   = filepath.Join("..", "..")
	folder = filepath.Join(root, "monitoring")
	alerts = filepath.Join(folder, "alerts.yaml")
)

// rule is an alert, as far as tests here care.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
}

func readRules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	readYAML(t, alerts, &file)
	var rules []rule
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatalf("%s has no rules", alerts)
	}
	return rules
}

// TestPromtool plays the tests of the alerts.
func TestPromtool(t *testing.T) {
	promtool := filepath.Join(root, "bin", "promtool")
	if _, err := os.Stat(promtool); err != nil {
		t.Fatalf("%v; `make bin/promtool` builds it", err)
	}
	for name, args := range map[string][]string{
		"check": {"check", "rules", "--lint=all", "--lint-fatal", alerts},
		"test":  {"test", "rules", filepath.Join(folder, "alerts_test.yaml")},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
				t.Errorf("promtool %v: %v\n%s", args, err, out)
			}
		})
	}
}

// TestAlertsAreTested: every alert is seen to fire, and seen not to.
func TestAlertsAreTested(t *testing.T) {
	var file struct {
		Tests []struct {
			Checks []struct {
				Alert    string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	readYAML(t, filepath.Join(folder, "alerts_test.yaml"), &file)
	type seen struct{ Fire, Rest bool }
	want, got := map[string]seen{}, map[string]seen{}
	for _, rule := range readRules(t) {
		want[rule.Alert] = seen{true, true}
	}
	for _, test := range file.Tests {
		for _, check := range test.Checks {
			before := got[check.Alert]
			got[check.Alert] = seen{before.Fire || len(check.Expected) > 0, before.Rest || len(check.Expected) == 0}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is seen of alerts (-want +got):\n%s", diff)
	}
}
