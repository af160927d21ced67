package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// sampled makes a run of one act from our figures and the built-in controller's.
func sampled(target scenarios.Target, ours, theirs []float64) *Run {
	run := &Run{Scenarios: []scenarios.Scenario{{Name: "s", Acts: []scenarios.Act{{Kind: scenarios.Update, Targets: []scenarios.Target{target}}}}}}
	for contestant, values := range map[scenarios.Contestant][]float64{scenarios.Rollcall: ours, scenarios.BuiltIn: theirs} {
		for round, value := range values {
			run.Samples = append(run.Samples, Sample{Scenario: "s", Contestant: contestant, Round: round, Figures: map[string]float64{Wall: value}})
		}
	}
	return run
}

func TestVerdicts(t *testing.T) {
	ratio := scenarios.Target{Figure: Wall, Over: "built-in", Most: 0.6}
	tests := map[string]struct {
		target       scenarios.Target
		ours, theirs []float64
		wantValue    float64
		want         Standing
	}{
		"met":                     {ratio, []float64{5, 4, 6}, []float64{10, 9, 11}, 0.5, Met},
		"within the spread":       {ratio, []float64{7, 6.5, 8}, []float64{10, 9, 11}, 0.7, Within},
		"missed":                  {ratio, []float64{8, 7, 9}, []float64{10, 9, 11}, 0.8, Missed},
		"absolute":                {scenarios.Target{Figure: Wall, Most: 4}, []float64{5, 5, 5}, nil, 5, Missed},
		"nothing to hold against": {ratio, []float64{1}, nil, 0, Unmeasured},
		"not played":              {ratio, nil, []float64{1}, 0, Unmeasured},
		"none at all":             {scenarios.Target{Figure: Wall, Most: 0}, []float64{0}, nil, 0, Met},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sampled(test.target, test.ours, test.theirs).Verdicts()[0]
			want := Verdict{Scenario: "s", Act: "update", Target: test.target, Value: test.wantValue, Standing: test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestJoin: all that was played is in one table, measured where the first was.
func TestJoin(t *testing.T) {
	runOf := func(suite scenarios.Suite, seconds float64) *Run {
		name := string(suite)
		return &Run{
			Suite: suite, Seconds: seconds, Machine: Machine{Date: name},
			Scenarios: []scenarios.Scenario{{Name: name}}, Samples: []Sample{{Scenario: name}},
		}
	}
	want := &Run{
		Suite: "a", Seconds: 1, Machine: Machine{Date: "a"},
		Scenarios: []scenarios.Scenario{{Name: "a"}, {Name: "b"}}, Samples: []Sample{{Scenario: "a"}, {Scenario: "b"}},
	}
	if diff := cmp.Diff(want, Join([]*Run{runOf("a", 1), runOf("b", 2)})); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
}

func TestSpread(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   Spread
	}{
		"odd":  {[]float64{3, 1, 2}, Spread{Median: 2, Least: 1, Most: 3}},
		"even": {[]float64{4, 1, 2, 3}, Spread{Median: 2.5, Least: 1, Most: 4}},
		"one":  {[]float64{7}, Spread{7, 7, 7}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := spreadOf(test.values)
			if diff := cmp.Diff(test.want, got); !ok || diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
		})
	}
	if _, ok := spreadOf(nil); ok {
		t.Error("nothing has a spread")
	}
}
