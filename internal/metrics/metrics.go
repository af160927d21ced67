// Package metrics tells the operator's story in numbers, for Prometheus.
//
// There are two kinds of metrics, made in two ways:
//
//   - Gauges about sets (sets.go) are computed when they are asked for, from the
//     informers. Nothing is kept, so a set that is gone leaves nothing behind.
//   - Counters and histograms about updates (updates.go) follow from what a
//     reconcile observed, planned and achieved. What is counted is a change of
//     the status that is on record, so that nothing is counted twice, not even
//     by two operators.
//
// No decision is made here and none depends on it. docs/metrics.md lists the
// metrics for users; a test holds the two together.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Census returns an observation of every set.
type Census func(context.Context) ([]plan.Observation, error)

// Metrics are all metrics of a controller. It is safe for concurrent use.
type Metrics struct {
	sets    *sets
	updates *updates
}

// New returns metrics about the sets of a census. Only the operator that acts
// tells of them: a standby would have every set counted twice.
func New(census Census, isActing func() bool) *Metrics {
	return &Metrics{sets: &sets{census: census, isActing: isActing}, updates: newUpdates()}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	m.sets.Describe(out)
	m.updates.Describe(out)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.sets.Collect(out)
	m.updates.Collect(out)
}

// Note counts what came of a plan about a set.
func (m *Metrics) Note(observation plan.Observation, todo plan.Plan, outcome execute.Outcome) {
	m.updates.noteReplacements(observation, todo, outcome)
	m.updates.noteProgress(observation, todo, outcome)
}

// Forget drops what is remembered of a set that is gone.
func (m *Metrics) Forget(key types.NamespacedName) { m.updates.forget(key) }
