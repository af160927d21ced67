package scenarios

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// TestAll reads what is shipped: names are unique, and every target can be met or missed.
func TestAll(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	names := sets.New[string]()
	targets := 0
	for _, scenario := range all {
		if names.Has(scenario.Name) {
			t.Errorf("there are two scenarios named %q", scenario.Name)
		}
		names.Insert(scenario.Name)
		for _, act := range scenario.Acts {
			targets += len(act.Targets)
			for _, target := range act.Targets {
				if over := Contestant(target.Over); target.Over != "" && target.Over != "limit" && !slices.Contains(scenario.Contestants, over) {
					t.Errorf("%s is held against %s, who does not play", scenario.Name, over)
				}
				if target.Over == "limit" && act.Limit.Duration == 0 {
					t.Errorf("%s of %s is held against a limit that it does not have", act.Kind, scenario.Name)
				}
			}
		}
	}
	if targets == 0 {
		t.Error("no scenario has targets")
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "name: a\ngroup: b\nsets: 1\npods: 1\nacts: [{act: create}]\n"
	if _, err := parse([]byte(good)); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	for text, want := range map[string]string{
		"":                             "name and group",
		good + "pots: 1":               "unknown field",
		good + "contestants: [nobody]": `unknown contestant "nobody"`,
		strings.Replace(good, "create", "update", 1):       "first act must be create",
		strings.Replace(good, "}]", "}, {act: rest}]", 1):  "needs a time",
		strings.Replace(good, "}]", "}, {act: scale}]", 1): "needs replicas",
		strings.Replace(good, "}]", "}, {act: dance}]", 1): `unknown act "dance"`,
		strings.Replace(good, "sets: 1", "sets: 0", 1):     "must be 1 or more",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parsing %q: error %v, want one with %q", text, err, want)
		}
	}
}
