package metrics_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/metrics"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// observed makes the observation of a set whose status is up to date.
func observed(set *testkit.SetBuilder, fleet string) plan.Observation {
	o := testkit.Observe(set.Obj(), "ab", fleet)
	o.Set.Status = planner.Compute(o).Status
	return o
}

func census(observations ...plan.Observation) metrics.Census {
	return func(context.Context) ([]plan.Observation, error) { return observations, nil }
}

func isActing() bool { return true }

// wantValues compares all series of the named metrics with the text of a scrape, helps and types aside.
func wantValues(t *testing.T, m *metrics.Metrics, names []string, want string) {
	t.Helper()
	text, err := testutil.CollectAndFormat(m, expfmt.TypeTextPlain, names...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if got := strings.Join(got, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGaugesOfSets(t *testing.T) {
	updating := observed(testkit.MakeSet("web").Replicas(4).MaxUnavailable("50%").Template("b").Current("a"),
		"0:a/available 1:a/available 2:b/crashing 3:b/available 9:a/available")
	updating.Set.Generation = 7
	recreated := observed(testkit.MakeSet("job").Parallel().Strategy(v1.RecreateStrategy).Template("b").Current("b"), "0:b/available")
	m := metrics.New(census(updating, recreated), isActing)

	wantValues(t, m, []string{"statefulset_unavailable_replicas"}, `
statefulset_unavailable_replicas{pod_management_policy="OrderedReady",statefulset_name="web",statefulset_namespace="shop"} 1
statefulset_unavailable_replicas{pod_management_policy="Parallel",statefulset_name="job",statefulset_namespace="shop"} 0`)
	wantValues(t, m, []string{"statefulset_max_unavailable", "kube_statefulset_spec_strategy_rollingupdate_max_unavailable"}, `
kube_statefulset_spec_strategy_rollingupdate_max_unavailable{namespace="shop",statefulset="web"} 2
statefulset_max_unavailable{pod_management_policy="OrderedReady",statefulset_name="web",statefulset_namespace="shop"} 2`)
	wantValues(t, m, []string{"statefulset_strategy_distribution"}, `
statefulset_strategy_distribution{strategy="EnforcedRollingUpdate"} 0
statefulset_strategy_distribution{strategy="OnDelete"} 0
statefulset_strategy_distribution{strategy="Recreate"} 1
statefulset_strategy_distribution{strategy="RollingUpdate"} 1`)
}

func TestStateMetrics(t *testing.T) {
	o := observed(testkit.MakeSet("web").Replicas(4).MinReady(60).Template("b").Current("a"), "0:a/available 1:a/available 2:b/ready")
	o.Set.Generation = 7
	want := `
kube_statefulset_metadata_generation{namespace="shop",statefulset="web"} 7
kube_statefulset_replicas{namespace="shop",statefulset="web"} 4
kube_statefulset_spec_strategy_rollingupdate_max_unavailable{namespace="shop",statefulset="web"} 1
kube_statefulset_status_current_revision{namespace="shop",revision="a",statefulset="web"} 1
kube_statefulset_status_observed_generation{namespace="shop",statefulset="web"} 1
kube_statefulset_status_replicas{namespace="shop",statefulset="web"} 3
kube_statefulset_status_replicas_available{namespace="shop",statefulset="web"} 2
kube_statefulset_status_replicas_current{namespace="shop",statefulset="web"} 2
kube_statefulset_status_replicas_ready{namespace="shop",statefulset="web"} 3
kube_statefulset_status_replicas_updated{namespace="shop",statefulset="web"} 1
kube_statefulset_status_update_revision{namespace="shop",revision="b",statefulset="web"} 1`
	o.Set.Status.CurrentRevision, o.Set.Status.UpdateRevision = "a", "b"
	var names []string
	for line := range strings.Lines(strings.TrimSpace(want)) {
		name, _, _ := strings.Cut(line, "{")
		names = append(names, name)
	}
	wantValues(t, metrics.New(census(o), isActing), names, want)
}

// A condition is one series, with what it is now.
func TestConditions(t *testing.T) {
	o := observed(testkit.MakeSet("web").Replicas(2).Template("b").Current("a"), "0:a/available 1:b/crashing")
	wantValues(t, metrics.New(census(o), isActing), []string{"rollcall_statefulset_condition"}, `
rollcall_statefulset_condition{condition="Progressing",namespace="shop",reason="UpdateInProgress",statefulset="web",status="True"} 1
rollcall_statefulset_condition{condition="Ready",namespace="shop",reason="Outdated",statefulset="web",status="False"} 1
rollcall_statefulset_condition{condition="Reconciling",namespace="shop",reason="Updating",statefulset="web",status="True"} 1
rollcall_statefulset_condition{condition="StatefulSetUpdateStrategy",namespace="shop",reason="RollingUpdate",statefulset="web",status="True"} 1`)
}

// A set that is new has no revisions yet, one that can't be acted on no budget.
func TestGaugesOfOddSets(t *testing.T) {
	invalid := observed(testkit.MakeSet("web"), "")
	invalid.Set.Spec.Selector = nil
	invalid.Set.Status = v1.StatefulSetStatus{}
	m := metrics.New(census(invalid), isActing)
	wantValues(t, m, []string{
		"statefulset_unavailable_replicas", "statefulset_max_unavailable", "kube_statefulset_status_current_revision",
		"kube_statefulset_replicas", "kube_statefulset_status_replicas",
	}, `
kube_statefulset_replicas{namespace="shop",statefulset="web"} 1
kube_statefulset_status_replicas{namespace="shop",statefulset="web"} 0`)
}

// Neither a standby nor an operator without a view tells of sets, and neither spoils the scrape.
func TestNoGaugesWithoutSets(t *testing.T) {
	noView := func(context.Context) ([]plan.Observation, error) { return nil, errors.New("the cache is not started") }
	standby := metrics.New(census(observed(testkit.MakeSet("web"), "")), func() bool { return false })
	for name, m := range map[string]*metrics.Metrics{"standby": standby, "no view": metrics.New(noView, isActing)} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewPedanticRegistry()
			if err := registry.Register(m); err != nil {
				t.Fatal(err)
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, family := range families {
				if family.GetType().String() == "GAUGE" {
					t.Errorf("there is %s", family)
				}
			}
		})
	}
}
