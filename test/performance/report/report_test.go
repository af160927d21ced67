package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// measured is a run with two sizes, two contestants and a target that is missed.
func measured() *result.Run {
	run := &result.Run{Machine: result.Machine{Cores: 2, Go: "go1.26", Date: "2026-01-02"}, Seconds: 600}
	for name, sets := range map[string]int{"small": 1, "large": 10} {
		run.Scenarios = append(run.Scenarios, scenarios.Scenario{
			Name: name, Group: "update", Sets: sets, Pods: 10, PodManagementPolicy: "Parallel", Terms: scenarios.Terms{MaxUnavailable: "100%"},
			Contestants: []scenarios.Contestant{scenarios.BuiltIn, scenarios.Rollcall},
			Acts:        []scenarios.Act{{Kind: scenarios.Update, Targets: []scenarios.Target{{Figure: result.Wall, Over: "built-in", Most: 0.5}}}},
		})
		for contestant, wall := range map[scenarios.Contestant]float64{scenarios.BuiltIn: 2, scenarios.Rollcall: 1.5} {
			run.Samples = append(run.Samples, result.Sample{
				Scenario: name, Contestant: contestant, Pods: 10 * sets, Requests: map[string]int{"create pods": 10 * sets},
				Figures: map[string]float64{result.Wall: wall, result.CPUPerPod: 3, result.RequestsPerPod: 1},
			})
		}
	}
	return run
}

// TestReport fills the real page in and does it again: the second time nothing changes.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "performance.md"), page, 0o600); err != nil {
		t.Fatal(err)
	}
	figures := filepath.Join(dir, "figures.json")
	if err := measured().Write(figures); err != nil {
		t.Fatal(err)
	}
	var last string
	for range 2 {
		if err := report([]string{figures}, dir); err != nil {
			t.Fatal(err)
		}
		filled, err := os.ReadFile(filepath.Join(dir, "performance.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"with 2 cores", "| small | update | built-in | 2.00 |", "| small | update | rollcall | 1.00 create pods |", "| wall / built-in | 0.75 | 0.5 | **missed** |"} {
			if !strings.Contains(string(filled), want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		if last != "" && last != string(filled) {
			t.Error("filled in again, the page changes")
		}
		last = string(filled)
	}
}

// TestReportNeedsFigures: no file is no reason to empty the page.
func TestReportNeedsFigures(t *testing.T) {
	if err := report(nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "make bench") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

func TestFillRefuses(t *testing.T) {
	const place = "<!-- begin: a -->\n<!-- end -->"
	if got, err := fill(place, map[string]string{"a": "text"}); err != nil || !strings.Contains(got, "\ntext\n") {
		t.Errorf("filled in: %q, error %v", got, err)
	}
	if _, err := fill(place, nil); err == nil {
		t.Error("a place without a block is left as it is")
	}
	if _, err := fill("", map[string]string{"a": "text"}); err == nil {
		t.Error("a block without a place is lost")
	}
}

// TestDraw: the plot is well-formed and has a line for each who was measured at more than one size.
func TestDraw(t *testing.T) {
	plot := draw(measured())
	for decoder := xml.NewDecoder(strings.NewReader(plot)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(plot, "<polyline"); got != 4 {
		t.Errorf("%d lines, want one for each contestant and panel", got)
	}
	if strings.Contains(plot, "NaN") || strings.Contains(draw(&result.Run{}), "NaN") {
		t.Error("the plot has places that are nowhere")
	}
}
