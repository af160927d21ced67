package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// What Argo CD and Flux say of a set, in one word each.
const (
	done      = "Healthy/Current"
	busy      = "Progressing/InProgress"
	failed    = "Degraded/Failed"
	suspended = "Suspended/Current"
)

// Both see a set in progress from the edit to the end, without a glimpse of anything else; failed when it can't go on; and
// done when what is left undone is left so on purpose.
func TestRollOuts(t *testing.T) {
	t.Parallel()
	edits := func(edits ...scenario.Edit) []scenario.Edit { return edits }
	enforced := scenario.Strategy(v1.EnforcedRollingUpdateStrategy)
	broken := scenario.Image("web:2-crash-loop")
	tests := map[string]struct {
		set, edit []scenario.Edit
		want      []string
		message   string
	}{
		"RollingUpdate":         {nil, edits(scenario.Image("web:2")), []string{done, busy, done}, "all 3 pods are available"},
		"Parallel":              {edits(scenario.Parallel(), scenario.MaxUnavailable("2")), edits(scenario.Image("web:2")), []string{done, busy, done}, "all 3 pods are available"},
		"EnforcedRollingUpdate": {edits(enforced), edits(scenario.Image("web:2")), []string{done, busy, done}, "all 3 pods are available"},
		"Recreate":              {edits(scenario.Strategy(v1.RecreateStrategy)), edits(scenario.Image("web:2")), []string{done, busy, done}, "all 3 pods are available"},
		"OnDelete, waiting":     {edits(scenario.Strategy(v1.OnDeleteStrategy)), edits(scenario.Image("web:2")), []string{done, busy, done}, "wait"},
		"staged":                {nil, edits(scenario.Image("web:2"), scenario.Partition(2)), []string{done, busy, done}, "those below it wait for the partition"},
		"paused":                {nil, edits(scenario.Image("web:2"), scenario.Paused(true)), []string{done, busy, suspended}, "spec.paused holds the update"},
		"paused with no update": {nil, edits(scenario.Paused(true)), []string{done, busy, done}, "all 3 pods are available"},
		"scaling":               {nil, edits(scenario.Replicas(5)), []string{done, busy, done}, "all 5 pods are available"},
		"held up by a pod":      {nil, edits(broken), []string{done, busy}, "CrashLoopBackOff"},
		"timeout, halted":       {edits(scenario.ProgressTimeout(1)), edits(broken), []string{done, busy, failed}, "ProgressHalted: "},
		"a pod that is refused": {nil, edits(scenario.Image("web:2"), privileged), []string{done, busy, failed}, "FailedCreate: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := prepare(t)
			story.Create(append([]scenario.Edit{scenario.Replicas(3)}, test.set...)...)
			story.ThenUpdated(3)
			chronicle := story.Chronicle()
			story.When(test.edit...)
			thenJudged(t, story, chronicle, test.want, test.message)
		})
	}
}

// privileged makes a pod that PodSecurity refuses.
func privileged(set *v1.StatefulSet) {
	set.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
}

// prepare starts a story in a namespace that takes no privileged pods.
func prepare(t *testing.T) *scenario.Story {
	t.Helper()
	story := scenario.Prepare(t, scenario.Rollcall)
	label := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: story.Name}}
	if err := story.Client.Patch(story.Context, namespace, client.RawPatch("application/merge-patch+json", label)); err != nil {
		t.Fatal(err)
	}
	return story
}

// A set is in progress from its first moment on, and again when a pod is lost.
func TestCreationAndHealing(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.Image("web:1-start-2s"))
	chronicle := story.Chronicle()
	thenJudged(t, story, chronicle, []string{busy, done}, "all 2 pods are available")
	if err := story.Client.Delete(t.Context(), story.Pod(0)); err != nil {
		t.Fatal(err)
	}
	thenJudged(t, story, chronicle, []string{busy, done, busy, done}, "all 2 pods are available")
}

// A set that is being deleted is in progress for Argo CD. Flux does not ask its expressions of such a set.
func TestDeletion(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenUpdated(1)
	story.When(func(set *v1.StatefulSet) { set.Finalizers = []string{"test.rollcall.dev/hold"} })
	story.Delete(metav1.DeletePropagationBackground)
	set := story.Set()
	if status, message := argo(t, asObject(t, set)); status != "Progressing" || message != "the set is being deleted" {
		t.Errorf("Argo CD says %s: %s", status, message)
	}
	story.When(func(set *v1.StatefulSet) { set.Finalizers = nil })
	story.ThenGone()
}

// Before the controller has written a status, Argo CD sees progress. Flux sees nothing that it could judge, calls that
// Unknown and goes on waiting.
func TestNoStatus(t *testing.T) {
	set := asObject(t, &v1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.Kind.GroupVersion().String(), Kind: v1.Kind.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 1},
	})
	delete(set.Object, "status")
	if status, message := argo(t, set); status != "Progressing" || message != "the controller has yet to see the spec" {
		t.Errorf("Argo CD says %s: %s", status, message)
	}
	if verdict, err := newFlux(t).judge(set); err == nil {
		t.Errorf("Flux says %s of a set without a status", verdict)
	}
}

// thenJudged waits until the versions of a set have been judged so, with a last message, and that has to be the end of it.
func thenJudged(t *testing.T, story *scenario.Story, chronicle *scenario.Chronicle, want []string, message string) {
	t.Helper()
	check := func(context.Context) error {
		got, last := judge(t, chronicle)
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("judgements (-want +got):\n" + diff)
		}
		if !strings.Contains(last, message) {
			return fmt.Errorf("the last message is %q, want one with %q", last, message)
		}
		return nil
	}
	story.Eventually(t, "the set is judged so", check)
	story.ThenSettled()
	if err := check(story.Context); err != nil {
		t.Errorf("in the end: %v", err)
	}
}

// judge returns what both said of the versions of a set, one entry for each change, and Argo CD's last message.
func judge(t *testing.T, chronicle *scenario.Chronicle) (judgements []string, message string) {
	t.Helper()
	flux := newFlux(t)
	for _, version := range chronicle.Versions() {
		version.SetGroupVersionKind(v1.Kind)
		set := asObject(t, version)
		var status string
		status, message = argo(t, set)
		verdict, err := flux.judge(set)
		if err != nil {
			t.Fatal(err)
		}
		judgements = append(judgements, status+"/"+verdict)
	}
	return slices.Compact(judgements), message
}

// The page shows the files as they are.
func TestDocs(t *testing.T) {
	page := string(read(t, "docs", "gitops.md"))
	for file, language := range map[string]string{"argocd-health.lua": "lua", "flux-health.yaml": "yaml"} {
		if block := "```" + language + "\n" + string(read(t, "gitops", file)) + "```\n"; !strings.Contains(page, block) {
			t.Errorf("docs/gitops.md does not show gitops/%s as it is; it should have\n%s", file, block)
		}
	}
}
