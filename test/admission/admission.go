// Package admission lets tests run our webhook in front of the real API server.
//
// The configurations are those that we ship (config/webhook), with three changes: they lead to the test process by URL,
// they see only the test's namespace, so that tests with different gates don't meet, and they bear its name.
package admission

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/webhook"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// Hook is a webhook that serves one namespace. Its gates can be switched at any time, as if the process had been
// restarted with another --feature-gates.
type Hook struct {
	space   *cluster.Space
	server  *httptest.Server
	handler atomic.Pointer[http.ServeMux]
}

// Serve starts the webhook for the test's namespace and returns when the API server calls it.
func Serve(t testing.TB, space *cluster.Space, gates plan.Gates) *Hook {
	t.Helper()
	log.SetLogger(logr.Discard())
	hook := &Hook{space: space}
	hook.Switch(t, gates)
	hook.server = httptest.NewTLSServer(http.HandlerFunc(hook.serve))
	t.Cleanup(hook.server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.server.Certificate().Raw})
	Install(t, space, hook.server.URL, bundle)
	return hook
}

// Switch gives the webhook other gates.
func (h *Hook) Switch(t testing.TB, gates plan.Gates) {
	t.Helper()
	mux := http.NewServeMux()
	if err := webhook.Register(registrar{mux}, gates, h.space.Config); err != nil {
		t.Fatal(err)
	}
	h.handler.Store(mux)
}

// Refuse makes the webhook refuse everything it is asked about, which shows what it is asked about.
func (h *Hook) Refuse() {
	mux := http.NewServeMux()
	mux.Handle("/", &ctrladmission.Webhook{
		Handler: ctrladmission.HandlerFunc(func(context.Context, ctrladmission.Request) ctrladmission.Response {
			return ctrladmission.Denied("everything is refused")
		}),
	})
	h.handler.Store(mux)
}

// Hang makes the webhook take questions and never answer.
func (h *Hook) Hang() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that whoever asked is gone
		<-r.Context().Done()
	})
	h.handler.Store(mux)
}

// Down takes the webhook away: nobody listens any more where the API server asks.
func (h *Hook) Down() {
	h.server.CloseClientConnections()
	h.server.Close()
}

func (h *Hook) serve(w http.ResponseWriter, r *http.Request) { h.handler.Load().ServeHTTP(w, r) }

// registrar makes a mux look like controller-runtime's webhook server.
type registrar struct{ mux *http.ServeMux }

func (r registrar) Register(path string, hook http.Handler) { r.mux.Handle(path, hook) }

// Install sends the API server to the webhook at a URL for everything in the test's namespace, and returns when it goes
// there. The configurations are removed with the test.
func Install(t testing.TB, space *cluster.Space, url string, bundle []byte) {
	t.Helper()
	mutating, validating := shipped(t)
	mutating.Name, validating.Name = space.Name, space.Name
	for i := range mutating.Webhooks {
		redirect(&mutating.Webhooks[i].ClientConfig, url, bundle)
		mutating.Webhooks[i].NamespaceSelector = only(space.Name)
	}
	for i := range validating.Webhooks {
		redirect(&validating.Webhooks[i].ClientConfig, url, bundle)
		validating.Webhooks[i].NamespaceSelector = only(space.Name)
	}
	for _, configuration := range []client.Object{mutating, validating} {
		create(t, space, configuration)
	}
	await(t, space)
}

func redirect(config *admissionv1.WebhookClientConfig, url string, bundle []byte) {
	target := url + *config.Service.Path
	*config = admissionv1.WebhookClientConfig{URL: &target, CABundle: bundle}
}

func only(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
}

func create(t testing.TB, space *cluster.Space, configuration client.Object) {
	t.Helper()
	if err := space.Client.Create(space.Context, configuration); err != nil {
		t.Fatalf("installing the webhook: %v", err)
	}
	t.Cleanup(func() {
		if err := space.Client.Delete(context.Background(), configuration); err != nil {
			t.Errorf("removing the webhook: %v", err)
		}
	})
}

// await sends sets that only one side of the webhook objects to, until each side has made itself known.
func await(t testing.TB, space *cluster.Space) {
	t.Helper()
	space.Eventually(t, "the API server calls the webhook", func(ctx context.Context) error {
		if err := space.Client.Create(ctx, blankPolicy(space.Name), client.DryRunAll); err != nil {
			return fmt.Errorf("the mutating side is not called: %w", err)
		}
		if err := space.Client.Create(ctx, withoutImage(space.Name), client.DryRunAll); err == nil {
			return fmt.Errorf("the validating side is not called: a template without an image was accepted")
		}
		return nil
	})
}
