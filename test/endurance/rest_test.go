package endurance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// window is how long the API server is watched while nothing should happen.
const window = time.Minute

// TestAtRestNothingIsWritten counts requests at the API server: once sets are complete, nobody writes to anything that
// the operator could write to.
func TestAtRestNothingIsWritten(t *testing.T) {
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	process.Start(t, story.Space)
	story.Create(scenario.Replicas(3), scenario.Claims("data"), scenario.MinReady(1), scenario.Retention(v1.Delete, v1.Delete))
	story.ThenUpdated(3)
	story.When(scenario.Image("web:2"), scenario.Partition(1))
	story.ThenPods("web-0 r1", "web-1 r2", "web-2 r2")
	story.ThenReady(3)
	awaitAlone(t, story)
	story.ThenSettled()

	before := countWrites(t, story)
	select {
	case <-time.After(window):
	case <-story.Context.Done():
	}
	if diff := cmp.Diff(before, countWrites(t, story)); diff != "" {
		t.Errorf("writes at the API server within %s of rest (-before +after):\n%s", window, diff)
	}
}

// awaitAlone waits until nothing of other tests is left.
func awaitAlone(t *testing.T, story *scenario.Story) {
	t.Helper()
	story.Eventually(t, "other tests have left nothing", func(ctx context.Context) error {
		var namespaces corev1.NamespaceList
		if err := story.Client.List(ctx, &namespaces); err != nil {
			return err
		}
		for _, namespace := range namespaces.Items {
			if namespace.DeletionTimestamp != nil {
				return fmt.Errorf("namespace %s is being deleted", namespace.Name)
			}
		}
		return nil
	})
}

// written are the resources that the operator may write to.
var written = []string{"statefulsets", "pods", "persistentvolumeclaims", "controllerrevisions", "podtemplates", "events"}

// sample is a line such as `apiserver_request_total{…,resource="pods",…,verb="POST",…} 12`.
var sample = regexp.MustCompile(`(?m)^apiserver_request_total\{(.*)\} ([0-9.e+]+)$`)

// countWrites returns how many writes the API server has answered, by verb, group and resource.
func countWrites(t *testing.T, story *scenario.Story) map[string]float64 {
	t.Helper()
	clients, err := kubernetes.NewForConfig(story.Config)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(story.Context)
	if err != nil {
		t.Fatalf("reading the API server's metrics: %v", err)
	}
	counts := map[string]float64{}
	for _, match := range sample.FindAllStringSubmatch(string(metrics), -1) {
		labels := labelsOf(match[1])
		count, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			t.Fatalf("reading the count in %q: %v", match[0], err)
		}
		isWrite := slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, labels["verb"])
		if isWrite && slices.Contains(written, labels["resource"]) {
			counts[fmt.Sprintf("%s %s %s/%s", labels["verb"], labels["group"], labels["resource"], labels["subresource"])] += count
		}
	}
	if len(counts) == 0 {
		t.Fatal("the API server's metrics show no writes at all: they are read wrongly")
	}
	return counts
}

func labelsOf(text string) map[string]string {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		labels[name] = strings.Trim(value, `"`)
	}
	return labels
}
