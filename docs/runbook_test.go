package docs

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// TestRunbook: the runbook knows every alert, reason and event, and no others.
func TestRunbook(t *testing.T) {
	page := readPage(t, "runbook.md").text
	tests := map[string]struct{ existing, told []string }{
		"alerts":     {alerts(t), headings(section(t, page, "Alerts"))},
		"conditions": {constants(t, "Condition", "api/v1/conditions.go"), headings(section(t, page, "Conditions"))},
		"reasons":    {constants(t, "Reason", "api/v1/conditions.go"), firstColumn(section(t, page, "Conditions"))},
		"events":     {events(t), firstColumn(section(t, page, "Events"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if len(test.existing) == 0 {
				t.Fatal("none were found in the code")
			}
			if diff := cmp.Diff(test.existing, test.told); diff != "" {
				t.Errorf("docs/runbook.md (-existing +told):\n%s", diff)
			}
		})
	}
}

// section is what stands beneath a heading of the second level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("there is no section %s", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

func headings(text string) []string {
	found := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(text, -1) {
		found[heading[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// firstColumn is what is quoted in the first column of tables.
func firstColumn(text string) []string {
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			found[name[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// alerts are those of the rules file. Each must lead to its place in the runbook.
func alerts(t *testing.T) []string {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `json:"alert"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	content, err := os.ReadFile(filepath.Join(root, "monitoring", "alerts.yaml"))
	if err == nil {
		err = yaml.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
			if url := rule.Annotations["runbook_url"]; !strings.HasSuffix(url, "/docs/runbook.md#"+strings.ToLower(rule.Alert)) {
				t.Errorf("alert %s leads to %s", rule.Alert, url)
			}
		}
	}
	slices.Sort(names)
	return names
}

// constants are the values of string constants whose names begin with a prefix.
func constants(t *testing.T, prefix string, files ...string) []string {
	t.Helper()
	found := map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, constant := range regexp.MustCompile(`(?m)^\s+`+prefix+`\w+ +(?:string )?= "(\w+)"$`).FindAllStringSubmatch(string(content), -1) {
			found[constant[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// events are those of the strategies and those of actions.
func events(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal", "planner", "strategy_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		files[i] = strings.TrimPrefix(file, root+string(filepath.Separator))
	}
	names := constants(t, "event", files...)
	pod := &corev1.Pod{}
	for _, action := range []plan.Action{plan.CreatePod{Pod: pod}, plan.DeletePod{Pod: pod}, plan.UpdatePod{Pod: pod}} {
		for _, err := range []error{nil, errors.New("refused")} {
			if event, ok := plan.ActionEvent(action, err); ok {
				names = append(names, event.Reason)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
