package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
)

// censusTimeout is how long a scrape waits for informers that have yet to read
// the cluster.
const censusTimeout = time.Second

// strategies are the values of the label strategy.
var strategies = []v1.UpdateStrategyType{
	v1.RollingUpdateStrategy, v1.OnDeleteStrategy, v1.RecreateStrategy, v1.EnforcedRollingUpdateStrategy,
}

// subject is a set and its state in numbers.
type subject struct {
	set *v1.StatefulSet
	// summary is nil when the spec can't be acted on.
	summary *plan.Summary
}

// hasBudget tells whether maxUnavailable means anything to the set.
func (s subject) hasBudget() bool {
	return s.summary != nil && s.summary.Strategy != v1.OnDeleteStrategy && s.summary.Strategy != v1.RecreateStrategy
}

// labelling is how a metric names a set.
type labelling struct {
	names  []string
	values func(*v1.StatefulSet) []string
}

// Metrics of the built-in controller and of kube-state-metrics name sets each in
// their own way; ours of the same names do so, too.
var (
	asController = labelling{
		[]string{"statefulset_namespace", "statefulset_name", "pod_management_policy"},
		func(s *v1.StatefulSet) []string {
			return []string{s.Namespace, s.Name, string(s.Spec.PodManagementPolicy)}
		},
	}
	asStateMetrics = labelling{
		[]string{"namespace", "statefulset"},
		func(s *v1.StatefulSet) []string { return []string{s.Namespace, s.Name} },
	}
	withCurrent = labelling{
		[]string{"namespace", "statefulset", "revision"},
		func(s *v1.StatefulSet) []string { return []string{s.Namespace, s.Name, s.Status.CurrentRevision} },
	}
	withUpdate = labelling{
		[]string{"namespace", "statefulset", "revision"},
		func(s *v1.StatefulSet) []string { return []string{s.Namespace, s.Name, s.Status.UpdateRevision} },
	}
)

// gauge is a metric with one value per set.
type gauge struct {
	desc      *prometheus.Desc
	labelling labelling
	// value returns the value, or false if the set has none.
	value func(subject) (float64, bool)
}

func newGauge(name, help string, labelling labelling, value func(subject) (float64, bool)) gauge {
	return gauge{prometheus.NewDesc(name, help, labelling.names, nil), labelling, value}
}

// always makes a value of a number that every set has.
func always[N int32 | int64](number func(*v1.StatefulSet) N) func(subject) (float64, bool) {
	return func(s subject) (float64, bool) { return float64(number(s.set)), true }
}

func unavailable(s subject) (float64, bool) {
	if s.summary == nil {
		return 0, false
	}
	return float64(s.summary.Unavailable), true
}

func maxUnavailable(s subject) (float64, bool) {
	if !s.hasBudget() {
		return 0, false
	}
	return float64(s.summary.MaxUnavailable), true
}

// isKnown is 1 for a revision that the set has.
func isKnown(revision func(*v1.StatefulSet) string) func(subject) (float64, bool) {
	return func(s subject) (float64, bool) { return 1, revision(s.set) != "" }
}

// gauges are all metrics with one value per set.
var gauges = []gauge{
	newGauge("statefulset_unavailable_replicas",
		"Number of slots of a set without an available pod.",
		asController, unavailable),
	newGauge("statefulset_max_unavailable",
		"Number of pods that an update may have down at a time. Only strategies with such a budget have it.",
		asController, maxUnavailable),
	newGauge("kube_statefulset_replicas",
		"Number of pods that a set should have.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return *s.Spec.Replicas })),
	newGauge("kube_statefulset_metadata_generation",
		"Generation of a set's spec.",
		asStateMetrics, always(func(s *v1.StatefulSet) int64 { return s.Generation })),
	newGauge("kube_statefulset_status_observed_generation",
		"Generation of the spec that a set's status is about.",
		asStateMetrics, always(func(s *v1.StatefulSet) int64 { return s.Status.ObservedGeneration })),
	newGauge("kube_statefulset_status_replicas",
		"Number of pods that a set has.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return s.Status.Replicas })),
	newGauge("kube_statefulset_status_replicas_ready",
		"Number of a set's pods that are ready.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return s.Status.ReadyReplicas })),
	newGauge("kube_statefulset_status_replicas_available",
		"Number of a set's pods that have been ready for minReadySeconds.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return s.Status.AvailableReplicas })),
	newGauge("kube_statefulset_status_replicas_current",
		"Number of a set's pods at its current revision.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return s.Status.CurrentReplicas })),
	newGauge("kube_statefulset_status_replicas_updated",
		"Number of a set's pods at its target revision.",
		asStateMetrics, always(func(s *v1.StatefulSet) int32 { return s.Status.UpdatedReplicas })),
	newGauge("kube_statefulset_status_current_revision",
		"The revision that a set's last complete update ended at. Always 1.",
		withCurrent, isKnown(func(s *v1.StatefulSet) string { return s.Status.CurrentRevision })),
	newGauge("kube_statefulset_status_update_revision",
		"The revision of a set's template, the target of an update. Always 1.",
		withUpdate, isKnown(func(s *v1.StatefulSet) string { return s.Status.UpdateRevision })),
	newGauge("kube_statefulset_spec_strategy_rollingupdate_max_unavailable",
		"The same as statefulset_max_unavailable.",
		asStateMetrics, maxUnavailable),
}

var distribution = prometheus.NewDesc("statefulset_strategy_distribution",
	"Number of sets by the update strategy in force, after feature gates.", []string{"strategy"}, nil)

// sets collects the gauges about sets.
type sets struct {
	census   Census
	isActing func() bool
}

// Describe implements prometheus.Collector.
func (c *sets) Describe(out chan<- *prometheus.Desc) {
	for _, gauge := range gauges {
		out <- gauge.desc
	}
	out <- distribution
	out <- condition
}

// Collect implements prometheus.Collector. Sets that can't be listed are no
// reason to refuse a scrape of all the rest.
func (c *sets) Collect(out chan<- prometheus.Metric) {
	if !c.isActing() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), censusTimeout)
	defer cancel()
	observations, err := c.census(ctx)
	if err != nil {
		log.Log.WithName("metrics").Error(err, "No metrics about sets in this scrape")
		return
	}
	counts := map[v1.UpdateStrategyType]int{}
	for _, observation := range observations {
		subject := subject{set: observation.Set}
		if summary, err := planner.Summarize(observation); err == nil {
			subject.summary = &summary
			counts[summary.Strategy]++
		}
		collectGauges(out, subject)
		collectConditions(out, subject.set)
	}
	for _, strategy := range strategies {
		out <- prometheus.MustNewConstMetric(distribution, prometheus.GaugeValue, float64(counts[strategy]), string(strategy))
	}
}

func collectGauges(out chan<- prometheus.Metric, s subject) {
	for _, gauge := range gauges {
		if value, ok := gauge.value(s); ok {
			out <- prometheus.MustNewConstMetric(gauge.desc, prometheus.GaugeValue, value, gauge.labelling.values(s.set)...)
		}
	}
}
