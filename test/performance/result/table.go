package result

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// Header names the columns of the table.
var Header = []string{
	"act", "by", "wall s", "/limit", "/built-in", "requests per pod", "status", "events", "CPU s", "CPU ms/pod", "API server CPU s", "anonymous MiB", "RSS MiB",
}

// Row is a contestant in an act.
type Row struct {
	Scenario scenarios.Scenario
	Cells    []string
}

// Rows returns the table: a row for each contestant in each act that was measured.
func (r *Run) Rows() []Row {
	var rows []Row
	for _, scenario := range r.Scenarios {
		for i, act := range scenario.Acts {
			if act.Kind == scenarios.Rest || act.Kind == scenarios.Break {
				continue
			}
			for _, contestant := range scenario.Contestants {
				if cells := r.cells(scenario, i, contestant); cells != nil {
					rows = append(rows, Row{Scenario: scenario, Cells: cells})
				}
			}
		}
	}
	return rows
}

func (r *Run) cells(scenario scenarios.Scenario, i int, contestant scenarios.Contestant) []string {
	wall, ok := r.Spread(scenario.Name, i, contestant, Wall)
	if !ok {
		return nil
	}
	act := scenario.Acts[i]
	of := func(figure, format string) string {
		value, ok := r.Spread(scenario.Name, i, contestant, figure)
		if !ok || contestant == scenarios.Floor && figure != RequestsPerPod && figure != APIServerCPU {
			return ""
		}
		return fmt.Sprintf(format, value.Median)
	}
	return []string{
		act.Title(), string(contestant), r.wallCell(scenario, i, contestant, wall), ratioCell(wall.Median, act.Limit.Seconds()),
		r.overBuiltIn(scenario, i, contestant, wall), of(RequestsPerPod, "%.1f"), of(StatusWritesPerPod, "%.2f"), of(EventsPerPod, "%.2f"),
		of(CPU, "%.2f"), of(CPUPerPod, "%.1f"), of(APIServerCPU, "%.1f"), of(Anonymous, "%.0f"), of(Resident, "%.0f"),
	}
}

func (r *Run) wallCell(scenario scenarios.Scenario, act int, contestant scenarios.Contestant, wall Spread) string {
	if stuck, _ := r.Spread(scenario.Name, act, contestant, Stuck); stuck.Median > 0 {
		return fmt.Sprintf("stuck: %.0f of %d", stuck.Median, scenario.Sets)
	}
	if wall.Least == wall.Most {
		return fmt.Sprintf("%.2f", wall.Median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", wall.Median, wall.Least, wall.Most)
}

func (r *Run) overBuiltIn(scenario scenarios.Scenario, act int, contestant scenarios.Contestant, wall Spread) string {
	base, ok := r.Spread(scenario.Name, act, scenarios.BuiltIn, Wall)
	if !ok || contestant == scenarios.BuiltIn {
		return ""
	}
	return ratioCell(wall.Median, base.Median)
}

func ratioCell(value, base float64) string {
	if base == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", value/base)
}

// RequestsLine spells a contestant's requests per pod out, the most frequent first.
func (r *Run) RequestsLine(scenario string, act int, contestant scenarios.Contestant) string {
	requests := r.Requests(scenario, act, contestant)
	names := slices.SortedFunc(maps.Keys(requests), func(a, b string) int {
		return cmp.Or(cmp.Compare(requests[b], requests[a]), strings.Compare(a, b))
	})
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%.2f %s", requests[name], name))
	}
	return strings.Join(parts, ", ")
}

// Print writes the table, the requests in words, broken promises and targets.
func (r *Run) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	last := ""
	for _, row := range r.Rows() {
		if row.Scenario.Name != last {
			last = row.Scenario.Name
			fmt.Fprintf(table, "\n%s\n%s\n", last, strings.Join(Header, "\t"))
		}
		fmt.Fprintln(table, strings.Join(row.Cells, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	r.printRequests(out)
	r.printVerdicts(out)
	return nil
}

func (r *Run) printRequests(out io.Writer) {
	fmt.Fprintln(out, "\nRequests per pod of an update:")
	for _, scenario := range r.Scenarios {
		for i, act := range scenario.Acts {
			for _, contestant := range scenario.Contestants {
				if line := r.RequestsLine(scenario.Name, i, contestant); line != "" && act.Kind == scenarios.Update {
					fmt.Fprintf(out, "  %s, %s, %s: %s\n", scenario.Name, act.Title(), contestant, line)
				}
			}
		}
	}
}

// mostViolations keeps the output readable; all of them are in the JSON.
const mostViolations = 20

func (r *Run) printVerdicts(out io.Writer) {
	fmt.Fprintln(out, "\nTargets:")
	for _, verdict := range r.Verdicts() {
		fmt.Fprintln(out, " ", verdict)
	}
	violations := r.Violations()
	fmt.Fprintf(out, "\nBroken promises of order and budget: %d\n", len(violations))
	for _, violation := range violations[:min(mostViolations, len(violations))] {
		fmt.Fprintln(out, " ", violation)
	}
}
