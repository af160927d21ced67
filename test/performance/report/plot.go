package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// The size of the plot and of each of its panels.
const (
	panelWidth, panelHeight = 360, 220
	margin                  = 50
)

// point is a cost at a size.
type point struct{ pods, cost float64 }

// series is how a cost goes with the size.
type series struct {
	name, colour string
	points       []point
}

// lines are what the plot compares: who, in which act, in which colour.
var lines = []struct {
	contestant scenarios.Contestant
	act        scenarios.Kind
	colour     string
}{
	{scenarios.Rollcall, scenarios.Create, "#1a7f37"},
	{scenarios.Rollcall, scenarios.Update, "#0969da"},
	{scenarios.BuiltIn, scenarios.Create, "#9a6700"},
	{scenarios.BuiltIn, scenarios.Update, "#cf222e"},
}

// draw makes the plot of cost per pod against the number of pods, for Parallel
// sets, whose roll-outs need the same number of steps at every size.
func draw(run *result.Run) string {
	figures := []struct{ figure, title string }{
		{result.CPUPerPod, "controller CPU, ms per pod"},
		{result.RequestsPerPod, "requests per pod"},
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		len(figures)*(panelWidth+2*margin), panelHeight+2*margin+20)
	out.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, panel := range figures {
		fmt.Fprintf(&out, `<g transform="translate(%d,%d)">`+"\n", i*(panelWidth+2*margin)+margin, margin)
		drawPanel(&out, panel.title, collect(run, panel.figure))
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// collect returns the lines of a figure.
func collect(run *result.Run, figure string) []series {
	var all []series
	for _, line := range lines {
		found := series{name: fmt.Sprintf("%s, %s", line.contestant, line.act), colour: line.colour}
		for _, scenario := range run.Scenarios {
			for i, act := range scenario.Acts {
				spread, ok := run.Spread(scenario.Name, i, line.contestant, figure)
				if ok && act.Kind == line.act && isComparable(scenario, i) {
					found.points = append(found.points, point{float64(scenario.Sets * scenario.Pods), spread.Median})
				}
			}
		}
		slices.SortFunc(found.points, func(a, b point) int { return int(a.pods - b.pods) })
		if len(found.points) > 1 {
			all = append(all, found)
		}
	}
	return all
}

// isComparable leaves out what takes more steps per pod than others.
func isComparable(scenario scenarios.Scenario, act int) bool {
	terms := scenario.TermsOf(act)
	return scenario.PodManagementPolicy == v1.Parallel && scenario.Group != "other" &&
		terms.MaxUnavailable != "3" && terms.Strategy(scenarios.Rollcall) == v1.RollingUpdateStrategy
}

func drawPanel(out *strings.Builder, title string, all []series) {
	most, from, to := bounds(all)
	x := func(pods float64) float64 { return math.Log(pods/from) / math.Log(to/from) * panelWidth }
	y := func(cost float64) float64 { return panelHeight - cost/most*panelHeight }
	fmt.Fprintf(out, `<text x="0" y="-20" font-size="13">%s, by number of pods</text>`+"\n", title)
	fmt.Fprintf(out, `<path d="M0,0 V%d H%d" fill="none" stroke="black"/>`+"\n", panelHeight, panelWidth)
	for _, pods := range ticks(all) {
		fmt.Fprintf(out, `<text x="%.0f" y="%d" text-anchor="middle">%.0f</text>`+"\n", x(pods), panelHeight+16, pods)
	}
	for share := 0.0; share <= 1; share += 0.25 {
		fmt.Fprintf(out, `<text x="-6" y="%.0f" text-anchor="end">%.1f</text>`+"\n", y(share*most)+4, share*most)
	}
	for i, line := range all {
		var path []string
		for _, p := range line.points {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.pods), y(p.cost)))
			fmt.Fprintf(out, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(p.pods), y(p.cost), line.colour)
		}
		fmt.Fprintf(out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "), line.colour)
		fmt.Fprintf(out, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", (i%2)*panelWidth/2, panelHeight+36+(i/2)*16, line.colour, line.name)
	}
}

// bounds are the highest cost and the smallest and largest size; of no lines, some that can be drawn.
func bounds(all []series) (most, from, to float64) {
	most, from, to = 1, math.Inf(1), 0
	for _, line := range all {
		for _, p := range line.points {
			most, from, to = max(most, math.Ceil(p.cost)), min(from, p.pods), max(to, p.pods)
		}
	}
	if from >= to {
		return most, 1, 10
	}
	return most, from, to
}

// ticks are the sizes that were measured.
func ticks(all []series) []float64 {
	var sizes []float64
	for _, line := range all {
		for _, p := range line.points {
			sizes = append(sizes, p.pods)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}
