package planner_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// TestConditionsAreDocumented: docs/conditions.md knows every condition, reason and event, and no others.
func TestConditionsAreDocumented(t *testing.T) {
	existing := map[string]bool{}
	noteConstants(t, existing, filepath.Join("..", "..", "api", "v1", "conditions.go"), "Condition", "Reason")
	for _, strategy := range []string{"enforced", "recreate", "timeout"} {
		noteConstants(t, existing, "strategy_"+strategy+".go", "event")
	}
	pod := &corev1.Pod{}
	for _, action := range []plan.Action{plan.CreatePod{Pod: pod}, plan.DeletePod{Pod: pod}, plan.UpdatePod{Pod: pod}} {
		done, _ := plan.ActionEvent(action, nil)
		failed, _ := plan.ActionEvent(action, errors.New("refused"))
		existing[done.Reason], existing[failed.Reason] = true, true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(existing)), documentedSignals(t)); diff != "" {
		t.Errorf("docs/conditions.md (-existing +documented):\n%s", diff)
	}
}

// documentedSignals returns the headings of conditions, and what is quoted in the first two columns of tables.
func documentedSignals(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	quoted := regexp.MustCompile("`([A-Z][A-Za-z]+)`")
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			found[strings.TrimSpace(heading)] = true
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(cells[1]+cells[2], -1) {
			found[name[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// noteConstants adds the values of a file's string constants whose names begin with one of the prefixes.
func noteConstants(t *testing.T, values map[string]bool, path string, prefixes ...string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		isNamedSo := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(spec.Names[0].Name, prefix) })
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || !isNamedSo {
			return true
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Errorf("%s in %s is no string: %v", spec.Names[0].Name, path, err)
		}
		values[value] = true
		return true
	})
}
