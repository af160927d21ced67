package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// condition has a series for each condition that a set has, so that alerts can
// tell a halted update from one that takes its time. A condition that changes
// leaves nothing of its former self behind.
var condition = prometheus.NewDesc("rollcall_statefulset_condition",
	"The conditions that a set has, each with its status and reason. Always 1.",
	[]string{"namespace", "statefulset", "condition", "status", "reason"}, nil)

func collectConditions(out chan<- prometheus.Metric, set *v1.StatefulSet) {
	for _, c := range set.Status.Conditions {
		out <- prometheus.MustNewConstMetric(condition, prometheus.GaugeValue, 1,
			set.Namespace, set.Name, c.Type, string(c.Status), c.Reason)
	}
}
