package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// targetLabels are what Prometheus itself adds to what it scrapes.
var targetLabels = []string{"job", "instance", "cluster", "namespace", "pod"}

// reading is how queries are read.
var reading = parser.NewParser(parser.Options{})

// TestQueries: the operator serves what every alert and every panel asks for, down to the values of labels.
func TestQueries(t *testing.T) {
	served := readSeries(t)
	queries := map[string]string{}
	for _, rule := range readRules(t) {
		queries["alert "+rule.Alert] = rule.Expr
	}
	for name, query := range readDashboard(t) {
		queries[name] = query
	}
	for name, query := range queries {
		t.Run(name, func(t *testing.T) {
			expr, err := reading.ParseExpr(query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			for _, selector := range selectorsOf(expr) {
				if !slices.ContainsFunc(served, func(series labels.Labels) bool { return matches(selector, series) }) {
					t.Errorf("the operator serves nothing like %s", selector)
				}
			}
			wantGroupings(t, expr, served)
		})
	}
}

// TestMatches shows that what is not served is found not to be.
func TestMatches(t *testing.T) {
	series := labels.FromStrings("__name__", "up", "job", "rollcall")
	for query, want := range map[string]bool{`up`: true, `up{job="rollcall"}`: true, `up{job=~"roll.*"}`: true, `down`: false, `up{job="other"}`: false, `up{color="red"}`: false} {
		expr, err := reading.ParseExpr(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := matches(selectorsOf(expr)[0], series); got != want {
			t.Errorf("%s matches: %v, want %v", query, got, want)
		}
	}
}

func selectorsOf(expr parser.Node) []*parser.VectorSelector {
	var selectors []*parser.VectorSelector
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			selectors = append(selectors, selector)
		}
		return nil
	})
	return selectors
}

// matches tells whether a selector takes a series. Labels that it asks for must be there, even where none would match, too.
func matches(selector *parser.VectorSelector, series labels.Labels) bool {
	for _, matcher := range selector.LabelMatchers {
		if !series.Has(matcher.Name) || !matcher.Matches(series.Get(matcher.Name)) {
			return false
		}
	}
	return true
}

// wantGroupings checks that sums are kept apart by labels that there are.
func wantGroupings(t *testing.T, expr parser.Node, served []labels.Labels) {
	t.Helper()
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		aggregate, ok := node.(*parser.AggregateExpr)
		if !ok {
			return nil
		}
		for _, label := range aggregate.Grouping {
			if !slices.Contains(targetLabels, label) && !hasLabel(aggregate, label, served) {
				t.Errorf("nothing in %s has the label %s", aggregate, label)
			}
		}
		return nil
	})
}

func hasLabel(expr parser.Node, label string, served []labels.Labels) bool {
	for _, selector := range selectorsOf(expr) {
		if slices.ContainsFunc(served, func(series labels.Labels) bool { return matches(selector, series) && series.Has(label) }) {
			return true
		}
	}
	return false
}

// readSeries reads the series that the operator serves.
func readSeries(t *testing.T) []labels.Labels {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "series.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var served []labels.Labels
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		series, err := reading.ParseMetric(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		served = append(served, series)
	}
	return served
}

// panel is a panel of the dashboard, or a row of panels.
type panel struct {
	Title   string `json:"title"`
	Panels  []panel
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// variable stands in a query for what the user chose.
var variable = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// readDashboard returns the queries of the dashboard, those that fill its variables included.
func readDashboard(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels     []panel `json:"panels"`
		Templating struct {
			List []struct{ Name, Type, Definition string }
		} `json:"templating"`
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	queries := map[string]string{}
	addPanels(queries, dashboard.Panels)
	for _, v := range dashboard.Templating.List {
		if v.Type == "query" {
			queries["variable "+v.Name] = chosen(labelValues.ReplaceAllString(v.Definition, "$1"))
		}
	}
	if len(queries) == 0 {
		t.Fatal("the dashboard asks for nothing")
	}
	return queries
}

// labelValues is Grafana's own function for filling variables.
var labelValues = regexp.MustCompile(`^label_values\((.*), *\w+\)$`)

func addPanels(queries map[string]string, panels []panel) {
	for _, p := range panels {
		for i, target := range p.Targets {
			queries[fmt.Sprintf("panel %s %d", p.Title, i+1)] = chosen(target.Expr)
		}
		addPanels(queries, p.Panels)
	}
}

// chosen puts something in the place of variables: times where a time stands, else what matches everything.
func chosen(query string) string {
	return variable.ReplaceAllStringFunc(query, func(name string) string {
		if strings.HasPrefix(name, "$__") {
			return "5m"
		}
		return ".*"
	})
}
