// Package metrics scrapes the operator as a process, as Prometheus would.
package metrics

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) { process.Main(m) }

// A broken update that is corrected shows in the counters, the set in the gauges, and a set that is gone nowhere.
func TestScrape(t *testing.T) {
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	operator := process.Start(t, story.Space)
	story.Create(scenario.Replicas(2), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
	story.ThenUpdated(2)
	story.When(scenario.Image("web:2-crash-loop"))
	story.ThenPodBroken(1, "web:2-crash-loop")
	story.When(scenario.Image("web:3"))
	story.ThenUpdated(2)

	set := fmt.Sprintf(`{namespace=%q,statefulset="web"}`, story.Name)
	long := fmt.Sprintf(`{pod_management_policy="OrderedReady",statefulset_name="web",statefulset_namespace=%q}`, story.Name)
	thenScrape(t, story, operator,
		`statefulset_unavailable_replicas`+long+` 0`,
		`statefulset_max_unavailable`+long+` 1`,
		`statefulset_strategy_distribution{strategy="EnforcedRollingUpdate"} 1`,
		`kube_statefulset_replicas`+set+` 2`,
		`kube_statefulset_status_replicas_updated`+set+` 2`,
		`statefulset_forced_pod_replacements_total{result="success"} 1`,
		`statefulset_enforced_rolling_updates_total{result="success"} 1`,
		`statefulset_update_duration_seconds_count{strategy="EnforcedRollingUpdate"} 1`,
		`statefulset_stuck_pod_duration_seconds_count 1`,
		`statefulset_safety_halt_total 0`,
	)
	wantAllDocumented(t, operator)

	story.Delete(metav1.DeletePropagationBackground)
	story.Eventually(t, "the set is gone from the metrics", func(context.Context) error {
		scrape, err := operator.Metrics()
		if err == nil && strings.Contains(scrape, story.Name) {
			err = fmt.Errorf("the scrape still tells of the set")
		}
		return err
	})
}

// thenScrape waits until a scrape has all lines.
func thenScrape(t *testing.T, story *scenario.Story, operator *process.Operator, want ...string) {
	t.Helper()
	story.Eventually(t, "the scrape is as expected", func(context.Context) error {
		scrape, err := operator.Metrics()
		if err != nil {
			return err
		}
		got := strings.Split(scrape, "\n")
		for _, line := range want {
			if !slices.Contains(got, line) {
				return fmt.Errorf("there is no %q", line)
			}
		}
		return nil
	})
}

// wantAllDocumented checks that the operator serves every metric of docs/metrics.md, those of its libraries included, and
// those of webhooks aside.
func wantAllDocumented(t *testing.T, operator *process.Operator) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scrape, err := operator.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	row, found := regexp.MustCompile("^\\| `([a-z_]+)(\\*?)` \\|"), 0
	for lines := bufio.NewScanner(file); lines.Scan() && lines.Text() != "## Webhooks"; {
		if name := row.FindStringSubmatch(lines.Text()); name != nil {
			found++
			if !strings.Contains(scrape, "# HELP "+name[1]) {
				t.Errorf("the operator serves no %s%s", name[1], name[2])
			}
		}
	}
	if found == 0 {
		t.Error("docs/metrics.md lists nothing")
	}
}
