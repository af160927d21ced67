package metrics_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/rollcall-dev/rollcall/internal/metrics"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// entry is a metric as users know it.
type entry struct{ Type, Labels, Meaning string }

// TestDocs: docs/metrics.md lists exactly the metrics that there are, and says of each what the metric says of itself.
func TestDocs(t *testing.T) {
	if diff := cmp.Diff(served(t), documented(t)); diff != "" {
		t.Errorf("docs/metrics.md (-served +documented):\n%s", diff)
	}
}

func gather(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	o := observed(testkit.MakeSet("web"), "0:a/available")
	if err := registry.Register(metrics.New(census(o), isActing)); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func served(t *testing.T) map[string]entry {
	t.Helper()
	entries := map[string]entry{}
	for _, family := range gather(t) {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		entries[family.GetName()] = entry{strings.ToLower(family.GetType().String()), strings.Join(labels, ", "), family.GetHelp()}
	}
	return entries
}

// documented reads the tables with four columns.
func documented(t *testing.T) map[string]entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	const columns = 4
	entries := map[string]entry{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != columns || !strings.HasPrefix(cells[0], " `") {
			continue
		}
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "`", "")
		}
		entries[cells[0]] = entry{cells[1], cells[2], cells[3]}
	}
	return entries
}

// TestConventions: names, types and helps are as Prometheus users expect them.
func TestConventions(t *testing.T) {
	problems, err := promlint.NewWithMetricFamilies(gather(t)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}
