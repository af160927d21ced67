package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
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

// TestTermsOf: terms hold until others are given.
func TestTermsOf(t *testing.T) {
	scenario, err := parse([]byte(`{name: a, group: b, sets: 1, pods: 1, acts: [
		{act: create}, {act: update, maxUnavailable: "3"}, {act: update, strategies: {rollcall: Recreate}}, {act: scale, replicas: 2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for act, want := range []string{"1 RollingUpdate", "3 RollingUpdate", "3 Recreate", "3 Recreate"} {
		terms := scenario.TermsOf(act)
		if got := fmt.Sprintf("%s %s", terms.MaxUnavailable, terms.Strategy(Rollcall)); got != want {
			t.Errorf("in act %d %q holds, want %q", act, got, want)
		}
		if got := terms.Strategy(BuiltIn); got != v1.RollingUpdateStrategy {
			t.Errorf("in act %d the built-in controller plays %s", act, got)
		}
	}
}

// TestTurns: somebody else begins in each round, and the floor plays as often as it is to.
func TestTurns(t *testing.T) {
	scenario := Scenario{Contestants: []Contestant{BuiltIn, Rollcall, Floor}, FloorRounds: 2}
	for round, want := range [][]Contestant{{BuiltIn, Rollcall, Floor}, {Rollcall, Floor, BuiltIn}, {BuiltIn, Rollcall}} {
		if diff := cmp.Diff(want, scenario.Turns(round)); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", round, diff)
		}
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
		good + "suite: night":          `unknown suite "night"`,
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
