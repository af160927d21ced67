package result

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// Standing is how a figure stands to its target.
type Standing string

// The standings.
const (
	Met Standing = "met"
	// Within the spread: the median misses the target, but the rounds overlap with it.
	Within Standing = "within the spread"
	Missed Standing = "missed"
	// Unmeasured: somebody did not play.
	Unmeasured Standing = "not measured"
)

// Verdict is a target and how our figure stands to it.
type Verdict struct {
	Scenario string
	Act      string
	Target   scenarios.Target
	// Value is our figure, or its ratio to what the target is over.
	Value    float64
	Standing Standing
}

// String says it in a line.
func (v Verdict) String() string {
	over := ""
	if v.Target.Over != "" {
		over = " / " + v.Target.Over
	}
	is := ""
	if v.Standing != Unmeasured {
		is = fmt.Sprintf(" is %.2f,", v.Value)
	}
	return fmt.Sprintf("%s: %s, %s: %s%s%s wanted at most %g", v.Standing, v.Scenario, v.Act, v.Target.Figure, over, is, v.Target.Most)
}

// Verdicts returns all targets of the scenarios that were played.
func (r *Run) Verdicts() []Verdict {
	var all []Verdict
	for _, scenario := range r.Scenarios {
		for i, act := range scenario.Acts {
			for _, target := range act.Targets {
				all = append(all, r.judge(scenario, i, target))
			}
		}
	}
	return all
}

func (r *Run) judge(scenario scenarios.Scenario, act int, target scenarios.Target) Verdict {
	verdict := Verdict{Scenario: scenario.Name, Act: scenario.Acts[act].Title(), Target: target, Standing: Unmeasured}
	ours, ok := r.Spread(scenario.Name, act, scenarios.Rollcall, target.Figure)
	if !ok {
		return verdict
	}
	base := Spread{1, 1, 1}
	switch target.Over {
	case "":
	case "limit":
		limit := scenario.Acts[act].Limit.Seconds()
		base = Spread{limit, limit, limit}
	default:
		if base, ok = r.Spread(scenario.Name, act, scenarios.Contestant(target.Over), target.Figure); !ok {
			return verdict
		}
	}
	verdict.Value, verdict.Standing = compare(ours, base, target.Most)
	return verdict
}

// compare holds the ratio of two figures against a bound. Rounds that overlap
// with the bound can't tell a difference from chance.
func compare(ours, base Spread, most float64) (float64, Standing) {
	ratio := ours.Median
	if base.Median > 0 {
		ratio = ours.Median / base.Median
	}
	switch {
	case ratio <= most:
		return ratio, Met
	case ours.Least <= most*base.Most:
		return ratio, Within
	default:
		return ratio, Missed
	}
}
