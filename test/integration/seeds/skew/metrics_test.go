package skew

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// named are the metrics that the documents name, each with its type, by the documents that do.
var named = map[string]map[string]string{
	"000": {
		"statefulset_unavailable_replicas":           "gauge",
		"kube_statefulset_replicas":                  "gauge",
		"kube_statefulset_status_replicas_ready":     "gauge",
		"kube_statefulset_status_replicas_available": "gauge",
		"kube_statefulset_status_replicas_current":   "gauge",
		"workqueue_retries_total":                    "counter",
	},
	"001": {
		"kube_statefulset_spec_strategy_rollingupdate_max_unavailable": "gauge",
		"workqueue_depth":                  "gauge",
		"workqueue_adds_total":             "counter",
		"workqueue_queue_duration_seconds": "histogram",
		"workqueue_work_duration_seconds":  "histogram",
	},
	"003": {
		"statefulset_forced_pod_replacements_total":  "counter",
		"statefulset_enforced_rolling_updates_total": "counter",
		"statefulset_update_duration_seconds":        "histogram",
		"statefulset_stuck_pod_duration_seconds":     "histogram",
		"statefulset_strategy_distribution":          "gauge",
		"statefulset_safety_halt_total":              "counter",
	},
	"004": {
		"statefulset_unavailable_replicas": "gauge",
	},
}

// Monitoring sections of seeds 000, 001, 003 and 004: every metric that they name is served. That they count what they
// should is shown in internal/metrics and test/integration/metrics.
func TestMetricsOfTheDocuments(t *testing.T) {
	t.Parallel()
	story := prepare(t, plan.AllGates())
	story.Create(scenario.Replicas(1), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
	story.ThenUpdated(1)
	story.When(scenario.Image(good))
	story.ThenUpdated(1)
	story.Eventually(t, "all metrics are served", func(context.Context) error {
		scrape, err := story.operator.Metrics()
		if err != nil {
			return err
		}
		var missing []error
		for document, metrics := range named {
			for metric, kind := range metrics {
				if !strings.Contains(scrape, fmt.Sprintf("# TYPE %s %s\n", metric, kind)) {
					missing = append(missing, fmt.Errorf("%s: there is no %s %s", document, kind, metric))
				}
			}
		}
		return errors.Join(missing...)
	})
}

// Seed 003, failure mode 1: the highest pod does not get ready. The halt is shown by condition, event and metric, and the
// pods below keep the revision that works. It takes the minute that a pod may take to start.
func TestSafetyHaltIsSeen(t *testing.T) {
	t.Parallel()
	story := prepare(t, plan.AllGates())
	story.Create(scenario.Replicas(3), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
	story.ThenUpdated(3)
	story.When(scenario.Image(crashing))
	story.ThenCondition(v1.ConditionProgressing, "False SafetyHalt", "web-2")
	story.ThenCondition(v1.ConditionStalled, "True SafetyHalt")
	story.ThenEvent("SafetyHalt", "web-2")
	story.Eventually(t, "the halt is counted", func(context.Context) error {
		scrape, err := story.operator.Metrics()
		if err == nil && !strings.Contains(scrape, "\nstatefulset_safety_halt_total 1\n") {
			err = errors.New("statefulset_safety_halt_total is not 1")
		}
		return err
	})
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")

	story.When(scenario.Image(fixed))
	story.ThenUpdated(3)
}
