package metrics

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

var update = flag.Bool("update", false, "write monitoring/series.txt anew")

const seriesHeader = `# Series that controller and webhook serve while sets are in the states that the alerts and the dashboard ask for. What differs
# from run to run is left out, or one value stands for all. Written anew by
#   go test ./test/integration/metrics -run TestSeries -update
`

// TestSeries: all series of monitoring/series.txt are really served. test/monitoring holds every query of the alerts and
// the dashboard against them.
func TestSeries(t *testing.T) {
	story, operator := playTroubles(t)
	addresses := []string{operator.MetricsAddress(), startWebhook(t)}
	file := filepath.Join("..", "..", "..", "monitoring", "series.txt")
	if *update {
		story.Eventually(t, "the webhook serves", func(context.Context) error { return noteSeries(map[string]bool{}, addresses[1]) })
		writeSeries(t, file, addresses)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(strings.TrimPrefix(string(content), seriesHeader)), "\n")
	story.Eventually(t, "all series are served", func(context.Context) error {
		served := map[string]bool{}
		for _, address := range addresses {
			if err := noteSeries(served, address); err != nil {
				return err
			}
		}
		if missing := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return served[line] }); len(missing) > 0 {
			return fmt.Errorf("these are missing:\n%s", strings.Join(missing, "\n"))
		}
		return nil
	})
}

func writeSeries(t *testing.T, file string, addresses []string) {
	t.Helper()
	served := map[string]bool{}
	for _, address := range addresses {
		if err := noteSeries(served, address); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Join(slices.Sorted(maps.Keys(served)), "\n") + "\n"
	if err := os.WriteFile(file, []byte(seriesHeader+lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// playTroubles brings sets into all kinds of trouble, under one operator that leads.
func playTroubles(t *testing.T) (*scenario.Story, *process.Operator) {
	t.Helper()
	var stories [5]*scenario.Story
	var names []string
	for i := range stories {
		stories[i] = scenario.PrepareUnattended(t, scenario.Rollcall)
		names = append(names, stories[i].Name)
	}
	halted, stuck, refused, gated, growing := stories[0], stories[1], stories[2], stories[3], stories[4]
	if err := scenario.GrantLeases(halted.Space); err != nil {
		t.Fatal(err)
	}
	occupyName(t, refused)
	operator := process.Start(t, halted.Space, "--watch-namespaces="+strings.Join(names[1:], ","),
		"--leader-elect", "--leader-elect-namespace="+halted.Name, "--feature-gates=StatefulSetRecreateStrategy=false")
	halted.Create(scenario.ProgressTimeout(1))
	stuck.Create()
	refused.Create()
	gated.Create(scenario.Strategy(v1.RecreateStrategy))
	growing.Create(scenario.Replicas(2), scenario.Image("web:1-crash-loop"))
	for _, story := range []*scenario.Story{halted, stuck, gated} {
		story.ThenUpdated(1)
	}
	halted.When(scenario.Image("web:2-crash-loop"))
	stuck.When(scenario.Image("web:2-crash-loop"))
	halted.ThenCondition(v1.ConditionProgressing, "False "+v1.ReasonProgressHalted)
	stuck.ThenPodBroken(0, "web:2-crash-loop")
	stuck.ThenCondition(v1.ConditionReconciling, "True "+v1.ReasonUpdating)
	growing.ThenCondition(v1.ConditionReconciling, "True "+v1.ReasonScaling)
	refused.ThenCondition(v1.ConditionStalled, "True "+v1.ReasonFailedCreate)
	gated.ThenCondition(v1.ConditionUpdateStrategy, "False "+v1.ReasonFeatureGateDisabled)
	return halted, operator
}

// occupyName creates a pod that has the name of the set's first one.
func occupyName(t *testing.T, story *scenario.Story) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: scenario.SetName + "-0"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other:1"}}},
	}
	if err := story.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// noteSeries adds what is served at an address.
func noteSeries(served map[string]bool, address string) error {
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return err
	}
	for name, family := range families {
		if !slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, suffix := range suffixes(family.GetType()) {
				served[line(name+suffix, metric.GetLabel(), suffix == "_bucket")] = true
			}
		}
	}
	return nil
}

// ours are the metrics that alerts and dashboard may ask for.
var ours = []string{
	"statefulset_", "kube_statefulset_", "rollcall_", "controller_runtime_reconcile_", "controller_runtime_webhook_", "controller_runtime_active_workers",
	"controller_runtime_max_concurrent_reconciles", "workqueue_", "rest_client_requests_total", "leader_election_", "process_", "go_goroutines",
}

func suffixes(kind dto.MetricType) []string {
	if kind == dto.MetricType_HISTOGRAM {
		return []string{"_bucket", "_sum", "_count"}
	}
	return []string{""}
}

// volatile are labels whose values differ from run to run, or by chance, with the value that stands for all.
var volatile = map[string]string{
	"namespace": "shop", "statefulset_namespace": "shop", "revision": "web-1", "host": "kubernetes", "code": "200", "method": "GET",
	"quantile": "0.5", "priority": "0",
}

// line writes a series down as PromQL does.
func line(name string, labels []*dto.LabelPair, isBucket bool) string {
	var pairs []string
	for _, label := range labels {
		value := cmp.Or(volatile[label.GetName()], label.GetValue())
		pairs = append(pairs, fmt.Sprintf("%s=%q", label.GetName(), value))
	}
	if isBucket {
		pairs = append(pairs, `le="+Inf"`)
	}
	if len(pairs) == 0 {
		return name
	}
	slices.Sort(pairs)
	return name + "{" + strings.Join(pairs, ",") + "}"
}
