package api

import (
	"context"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// TestWhatTheWebhookIsNotAskedAbout: a webhook that refuses everything refuses a change of the spec, and nothing else.
func TestWhatTheWebhookIsNotAskedAbout(t *testing.T) {
	space := cluster.Namespace(t)
	hook := admission.Serve(t, space, plan.AllGates())
	set := minimalSet(space.Name)
	play(t, space, set, 0, step{strategy: rolling, stored: rolling})
	// From here on the webhook answers nothing but refusals.
	hook.Refuse()
	refused := set.DeepCopy()
	setField(t, refused, int64(9), "spec", "replicas")
	if err := space.Client.Update(t.Context(), refused); err == nil {
		t.Fatal("the webhook is not asked about a change of the spec")
	}
	tests := map[string]func(set *unstructured.Unstructured) error{
		"status": func(set *unstructured.Unstructured) error {
			setField(t, set, int64(1), "status", "replicas")
			return space.Client.Status().Update(t.Context(), set)
		},
		"labels": func(set *unstructured.Unstructured) error {
			set.SetLabels(map[string]string{"team": "a"})
			return space.Client.Update(t.Context(), set)
		},
		"scale": func(set *unstructured.Unstructured) error {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":4}}`))
			return space.Client.SubResource("scale").Patch(t.Context(), set, patch)
		},
		"the operator itself": func(set *unstructured.Unstructured) error {
			setField(t, set, int64(2), "spec", "replicas")
			return operatorClient(t, space).Update(t.Context(), set)
		},
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			current := &unstructured.Unstructured{}
			current.SetGroupVersionKind(set.GroupVersionKind())
			if err := space.Client.Get(t.Context(), client.ObjectKeyFromObject(set), current); err != nil {
				t.Fatal(err)
			}
			if err := write(current); err != nil {
				t.Error(err)
			}
		})
	}
}

// operatorClient acts as the service account of the controller, with the rights of an administrator.
func operatorClient(t *testing.T, space *cluster.Space) client.Client {
	t.Helper()
	config := rest.CopyConfig(space.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:rollcall-system:rollcall-controller", Groups: []string{"system:masters"},
	}
	operator, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return operator
}

// TestTroubleIsAWarning: a quota keeps the webhook from asking about the template. The set is accepted, and says so.
func TestTroubleIsAWarning(t *testing.T) {
	space := cluster.Namespace(t)
	admission.Serve(t, space, plan.AllGates())
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/podtemplates": {}}},
	}
	if err := space.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, quota.Spec.Hard
	if err := space.Client.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	heard, warned := warnedClient(t, space)
	space.Eventually(t, "the quota is in force and the set is accepted with a warning", func(ctx context.Context) error {
		if err := warned.Create(ctx, minimalSet(space.Name), client.DryRunAll); err != nil {
			return err
		}
		return heard.contains("accepted unchecked", "exceeded quota")
	})
}

// TestWarningsComeThrough: what the API server says of a template, the author of the set hears.
func TestWarningsComeThrough(t *testing.T) {
	space := cluster.Namespace(t)
	admission.Serve(t, space, plan.AllGates())
	heard, warned := warnedClient(t, space)
	set := minimalSet(space.Name)
	setField(t, set, []any{map[string]any{
		"name": "main", "image": "nginx",
		"env": []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "A", "value": "2"}},
	}}, "spec", "template", "spec", "containers")
	if err := warned.Create(t.Context(), set, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if err := heard.contains("spec.template.spec.containers[0].env[1]: hides previous definition of \"A\""); err != nil {
		t.Error(err)
	}
}

// ear collects the warnings that a client is given.
type ear struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (e *ear) HandleWarningHeader(_ int, _, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, text)
}

func (e *ear) contains(wanted ...string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return containsAll(strings.Join(e.texts, "\n"), wanted...)
}

func warnedClient(t *testing.T, space *cluster.Space) (*ear, client.Client) {
	t.Helper()
	heard := &ear{}
	config := rest.CopyConfig(space.Config)
	config.WarningHandler = heard
	warned, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return heard, warned
}
