package main

import (
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// blocks are the parts of the page that figures make, by name.
func blocks(runs []*result.Run) map[string]string {
	run := result.Join(runs)
	return map[string]string{
		"machine":  machine(runs),
		"update":   table(run, "update"),
		"other":    table(run, "other"),
		"scale":    table(run, "scale"),
		"requests": requests(run),
		"targets":  targets(run),
	}
}

// machine says under which circumstances the figures were taken, the unfavourable ones included.
func machine(runs []*result.Run) string {
	var lines []string
	for _, run := range runs {
		line := fmt.Sprintf("- %s: measured on %s with %d cores and %s, in %.1f minutes; load average before: %.1f.",
			run.Suite, run.Machine.Date, run.Machine.Cores, run.Machine.Go, run.Seconds/60, run.Machine.Load)
		if run.Machine.Load > busyLoad*float64(run.Machine.Cores) {
			line += " **The machine was busy with other work: times below are no measure of anything. Counts are.**"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// busyLoad is the load average per core from which a machine has something else to do. The build that `make bench` begins
// with leaves up to one.
const busyLoad = 1.5

// table is the acts of a group of scenarios.
func table(run *result.Run, group string) string {
	var out strings.Builder
	last := ""
	header := append([]string{""}, result.Header...)
	fmt.Fprintf(&out, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range run.Rows() {
		if row.Scenario.Group != group {
			continue
		}
		name := ""
		if row.Scenario.Name != last {
			last = row.Scenario.Name
			name = last
		}
		fmt.Fprintf(&out, "| %s | %s |\n", name, strings.Join(row.Cells, " | "))
	}
	return out.String()
}

// requests spells out what an update costs per pod.
func requests(run *result.Run) string {
	var out strings.Builder
	out.WriteString("| | | by | requests per pod |\n|---|---|---|---|\n")
	for _, scenario := range run.Scenarios {
		for i, act := range scenario.Acts {
			for _, contestant := range scenario.Contestants {
				line := run.RequestsLine(scenario.Name, i, contestant)
				if act.Kind == scenarios.Update && contestant != scenarios.Floor && line != "" {
					fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", scenario.Name, act.Title(), contestant, line)
				}
			}
		}
	}
	return out.String()
}

// targets are all of them, and how they stand.
func targets(run *result.Run) string {
	var out strings.Builder
	out.WriteString("| scenario | act | figure | is | at most | |\n|---|---|---|---|---|---|\n")
	for _, verdict := range run.Verdicts() {
		figure := verdict.Target.Figure
		if verdict.Target.Over != "" {
			figure += " / " + verdict.Target.Over
		}
		standing := string(verdict.Standing)
		if verdict.Standing == result.Missed {
			standing = "**missed**"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %.2f | %g | %s |\n", verdict.Scenario, verdict.Act, figure, verdict.Value, verdict.Target.Most, standing)
	}
	fmt.Fprintf(&out, "\nBroken promises of order and budget: %d.\n", len(run.Violations()))
	return out.String()
}
