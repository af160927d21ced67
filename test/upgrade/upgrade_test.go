package upgrade

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// replicas are enough for an update to be under way at each of three changes.
const replicas = 6

// slow takes a while to start, so that an update is in flight for some seconds.
const slow = "web:2-start-1s"

// updates are roll-outs during which the operator changes.
var updates = map[string][]scenario.Edit{
	"OrderedReady": {scenario.Claims("data")},
	"Parallel":     {scenario.Parallel(), scenario.MaxUnavailable("2")},
	"Enforced":     {scenario.Strategy(v1.EnforcedRollingUpdateStrategy)},
	"timeout":      {scenario.ProgressTimeout(60)},
}

// TestUpgradeAndDowngrade upgrades in the midst of roll-outs, downgrades, and upgrades again. Each pod is replaced once,
// by the roll-out; those of a set at rest are not touched.
func TestUpgradeAndDowngrade(t *testing.T) {
	before, now := buildPrevious(t), newRelease()
	stories := map[string]*scenario.Story{"at rest": scenario.PrepareUnattended(t, scenario.Rollcall)}
	namespaces := []string{stories["at rest"].Name}
	for name := range updates {
		stories[name] = scenario.PrepareUnattended(t, scenario.Rollcall)
		namespaces = append(namespaces, stories[name].Name)
	}
	operator := newOperator(t, stories["at rest"], before, namespaces)

	for name, story := range stories {
		story.Create(append([]scenario.Edit{scenario.Replicas(replicas)}, updates[name]...)...)
	}
	for _, story := range stories {
		story.ThenUpdated(replicas)
	}
	resting := identities(stories["at rest"].Pods())
	for name := range updates {
		stories[name].When(scenario.Image(slow))
	}
	for step, next := range []release{now, before, now} {
		awaitDeletes(t, stories["OrderedReady"], 2*step+1)
		operator.change(next)
	}
	for name := range updates {
		stories[name].ThenUpdated(replicas)
		wantReplacedOnce(t, name, stories[name].Tape())
	}
	if diff := cmp.Diff(resting, identities(stories["at rest"].Pods())); diff != "" {
		t.Errorf("pods of the set at rest (-before +after):\n%s", diff)
	}
	for name, story := range stories {
		story.ThenQuiet()
		want := 2
		if name == "at rest" {
			want = 1
		}
		if n := len(story.Revisions()); n != want {
			t.Errorf("%s: %d revisions, want %d", name, n, want)
		}
	}
}

// awaitDeletes waits until so many pods of a story were taken down.
func awaitDeletes(t *testing.T, story *scenario.Story, want int) {
	t.Helper()
	story.Eventually(t, fmt.Sprintf("%d pods were taken down", want), func(context.Context) error {
		if got := strings.Count(strings.Join(story.Tape(), "\n"), "delete "); got < want {
			return fmt.Errorf("%d were", got)
		}
		return nil
	})
}

// wantReplacedOnce fails unless every pod was created, deleted and created anew, and no more.
func wantReplacedOnce(t *testing.T, name string, tape []string) {
	t.Helper()
	got, want := map[string]int{}, map[string]int{}
	for _, line := range tape {
		got[line]++
	}
	for ordinal := range replicas {
		pod := fmt.Sprintf("web-%d", ordinal)
		want["create "+pod+" r1"], want["delete "+pod], want["create "+pod+" r2"] = 1, 1, 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: what happened to pods (-want +got):\n%s", name, diff)
	}
}

func identities(pods []corev1.Pod) map[string]types.UID {
	found := map[string]types.UID{}
	for i := range pods {
		found[pods[i].Name] = pods[i].UID
		for _, status := range pods[i].Status.ContainerStatuses {
			if status.RestartCount > 0 {
				found[pods[i].Name+" restarted"] = pods[i].UID
			}
		}
	}
	return found
}

// operator is one that changes its release.
type operator struct {
	*process.Operator
	t     *testing.T
	story *scenario.Story
	is    release
}

func newOperator(t *testing.T, story *scenario.Story, first release, namespaces []string) *operator {
	t.Helper()
	o := &operator{t: t, story: story, is: first}
	o.installCRD(first)
	// Flags that both know.
	o.Operator = process.RunProgram(t, first.program, "controller", "--kubeconfig="+process.Kubeconfig(t, story.Space),
		"--watch-namespaces="+strings.Join(namespaces, ","), "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	return o
}

// change replaces the operator as the manual says: the CRD first when upgrading, last when downgrading.
func (o *operator) change(to release) {
	o.t.Helper()
	o.t.Logf("from %s to %s", o.is.name, to.name)
	if to.program == "" {
		o.installCRD(to)
	}
	o.Become(to.program)
	o.Restart()
	if to.program != "" {
		o.installCRD(to)
	}
	o.is = to
}

func (o *operator) installCRD(of release) {
	o.t.Helper()
	command(o.t, "", filepath.Join("..", "..", "bin", "kubectl"), "--kubeconfig="+process.AdminKubeconfig(o.t, o.story.Space),
		"apply", "--server-side", "--force-conflicts", "--filename="+of.crd)
}
