package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	plugin "github.com/rollcall-dev/rollcall/internal/cli"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// thenRefused runs a command that has to fail with one line that contains all texts, and to change nothing.
func (m *moving) thenRefused(texts []string, args ...string) {
	m.t.Helper()
	m.remember()
	got := m.user.run(args...)
	if got.code == 0 || strings.Count(got.err, "\n") != 1 {
		m.t.Errorf("%q ended with code %d:\n%s%s", args, got.code, got.out, got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.err, text) {
			m.t.Errorf("%q says %q, without %q", args, got.err, text)
		}
	}
	m.thenUntouched(strings.Join(args, " "))
}

func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 2)
	m.thenRefused([]string{"there is no StatefulSet \"absent\" in namespace " + m.Name}, "adopt", "absent")
	m.thenRefused([]string{"say which StatefulSet to adopt"}, "adopt")
	m.thenRefused([]string{"say which StatefulSet to adopt"}, "adopt", "web", "--all")
	m.thenRefused([]string{"is a StatefulSet of apps.rollcall.dev already"}, "adopt", "rsts/web")
	m.thenRefused([]string{"nobody is there to answer", "--yes"}, "adopt", "web")

	// A dry run says the same as the real one would, and does nothing.
	m.remember()
	if got := m.user.must("adopt", "statefulset.apps/web", "--dry-run"); got != "statefulset.apps/web: 2 pods, 0 claims, 1 revision; no pod has to be restarted\n" {
		t.Errorf("dry run: %q", got)
	}
	m.thenBelongsTo(scenario.BuiltIn, false)

	// An update that hangs would be gone on with.
	m.When(scenario.Image("web:2-crash-loop"))
	m.Then("the update hangs", func(set *v1.StatefulSet) error {
		if set.Status.UpdatedReplicas != 1 {
			return fmt.Errorf("%d pods are updated", set.Status.UpdatedReplicas)
		}
		return nil
	})
	m.thenRefused([]string{"an update is under way: web-0 is not at revision", "--continue-update"}, "adopt", "web", "--yes")
	m.thenBelongsTo(scenario.BuiltIn, false)
	if got := m.user.must("adopt", "web", "--yes", "--continue-update"); !strings.Contains(got, "the update that is under way goes on afterwards") {
		t.Errorf("output:\n%s", got)
	}
	m.thenBelongsTo(scenario.Rollcall, false)
	m.thenUntouched("adopted in an update")
}

// What Rollcall would not take is refused before anything is done, in the API server's words.
func TestAdoptRefusesLongNames(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t, cluster.Nodes)
	labels := map[string]string{"app": "long"}
	name := strings.Repeat("n", 53)
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: newTemplate(labels),
		},
	}
	if err := space.Client.Create(space.Context, set); err != nil {
		t.Fatal(err)
	}
	awaitRevision(t, space, set)
	got := newUser(t, space).run("adopt", name, "--yes")
	if got.code != 1 || !strings.Contains(got.err, "must have at most 52 characters") {
		t.Errorf("code %d:\n%s%s", got.code, got.out, got.err)
	}
}

// Who may not do all of it is told before any of it is done.
func TestAdoptNeedsRights(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 1)
	name := "reader-of-" + m.Name
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Name, Name: name},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"", "apps", "autoscaling"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}},
			{APIGroups: []string{v1.GroupName}, Resources: []string{"*"}, Verbs: []string{"get", "list", "create"}},
		},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := m.Client.Create(m.Context, object); err != nil {
			t.Fatal(err)
		}
	}
	m.user = newUserNamed(t, m.Space, name)
	m.thenRefused([]string{"cannot delete resource \"statefulsets\"", "ask an administrator"}, "adopt", "web", "--yes")
	m.thenBelongsTo(scenario.BuiltIn, false)
}

// Somebody at a keyboard is asked, and told which autoscaler to point to the set afterwards.
func TestAdoptAsks(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 1)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Name, Name: "web-scaler"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas:    3,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: scenario.SetName},
		},
	}
	if err := m.Client.Create(m.Context, scaler); err != nil {
		t.Fatal(err)
	}
	for answer, isAdopted := range map[string]bool{"n\n": false, "Yes\n": true} {
		streams, in, out, errOut := genericclioptions.NewTestIOStreams()
		in.WriteString(answer)
		program := &plugin.Program{IOStreams: streams, Now: time.Now}
		code := program.Run(t.Context(), "--kubeconfig="+m.user.kubeconfig, "adopt", "web")
		thenAsked(t, out, m.Name)
		if exists := m.As(scenario.Rollcall).Exists(); exists != isAdopted || (code == 0) != isAdopted {
			t.Fatalf("answer %q: adopted %v, code %d:\n%s%s", answer, exists, code, out, errOut)
		}
		if isAdopted {
			break
		}
	}
}

func thenAsked(t *testing.T, out *bytes.Buffer, namespace string) {
	t.Helper()
	for _, text := range []string{
		"Adopt statefulset.apps/web? [y/N]",
		"kubectl patch hpa web-scaler -n " + namespace + ` --type=merge -p '{"spec":{"scaleTargetRef":{"apiVersion":"apps.rollcall.dev/v1"}}}'`,
	} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is missing in:\n%s", text, out)
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.ProgressTimeout(600), scenario.Paused(true))
	story.ThenUpdated(2)
	m := &moving{Story: story, t: t, user: newUser(t, story.Space)}
	m.thenRefused([]string{"there is no StatefulSet \"absent\" in namespace " + m.Name}, "release", "absent")
	m.thenRefused([]string{"apps/v1 can't express spec.paused", "podProgressTimeoutSeconds", "--drop-unsupported"}, "release", "web", "--yes")

	// Without the pause the update would start.
	m.When(scenario.Image("web:2"))
	m.ThenCondition(v1.ConditionProgressing, "Unknown UpdatePaused")
	m.thenRefused([]string{"web-0, web-1 are not at revision"}, "release", "web", "--yes", "--drop-unsupported")
	m.When(scenario.Image("web:1"))
	m.ThenCondition(v1.ConditionProgressing, "True UpdateComplete")

	m.remember()
	if got := m.user.must("release", "web", "--yes", "--drop-unsupported"); !strings.Contains(got, "warning: apps/v1 does not have spec.paused") {
		t.Errorf("output:\n%s", got)
	}
	m.thenBelongsTo(scenario.BuiltIn, false)
	m.ThenQuiet()
	if happened := m.Tape()[m.tape:]; len(happened) > 0 {
		t.Errorf("pods came or went: %q", happened)
	}
}

// deaf is a connection over which nobody hears that a set waits: what an operator would seem like that does not run,
// looks elsewhere, or is too old to wait.
type deaf struct{ next http.RoundTripper }

func (d deaf) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(request)
	if err != nil || request.Method != http.MethodGet {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	body = bytes.ReplaceAll(body, []byte(v1.ReasonNamesakeInCharge), []byte(v1.ReasonUnavailable))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, err
}

// Without an operator that is seen to wait nothing is deleted, and what was created goes again.
func TestAdoptNeedsAnOperator(t *testing.T) {
	t.Parallel()
	m := givenBuiltIn(t, 1)
	m.user.Wrap = func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return deaf{next} })
		return config
	}
	m.thenRefused([]string{"gave up after 10s, waiting for the controller of Rollcall to see", "nothing was changed"},
		"adopt", "web", "--yes", "--timeout=10s")
	m.thenBelongsTo(scenario.BuiltIn, false)
}
