package features

import "github.com/prometheus/client_golang/prometheus"

var enabledMetric = prometheus.NewDesc(
	"rollcall_feature_enabled",
	"Whether a feature gate is on (1) or off (0) in this process.",
	[]string{"name", "stage"}, nil,
)

// Collector exposes the gates as the metric rollcall_feature_enabled, shaped like Kubernetes' own
// kubernetes_feature_enabled. component-base's metric of that name is not used: it lives in a registry of its own and
// would list AllAlpha and AllBeta as features.
func (s *Set) Collector() prometheus.Collector { return collector{s} }

type collector struct{ set *Set }

// Describe implements prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) { out <- enabledMetric }

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, name := range All {
		value := 0.0
		if c.set.Enabled(name) {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(enabledMetric, prometheus.GaugeValue, value, string(name), c.set.Stage(name))
	}
}
