package webhook

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Paths at which the two sides are served, as config/webhook names them.
const (
	MutatingPath   = "/mutate-apps-rollcall-dev-v1-statefulset"
	ValidatingPath = "/validate-apps-rollcall-dev-v1-statefulset"
)

// Registrar is the part of controller-runtime's webhook server that is needed here.
type Registrar interface {
	Register(path string, hook http.Handler)
}

// Register serves both sides of the webhook, with the given gates, asking the API server that config leads to.
func Register(server Registrar, gates plan.Gates, config *rest.Config) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	checker, err := newTemplateChecker(config, scheme)
	if err != nil {
		return err
	}
	server.Register(MutatingPath, handle(&Mutating{Gates: gates}))
	server.Register(ValidatingPath, handle(&Validating{
		Gates: gates, Decoder: admission.NewDecoder(scheme), Templates: checker,
	}))
	return nil
}

// handle lets a panic break the connection, which failurePolicy Ignore forgives; recovered, it would refuse the set.
func handle(handler admission.Handler) *admission.Webhook {
	recoverPanic := false
	return &admission.Webhook{Handler: handler, RecoverPanic: &recoverPanic}
}

func newTemplateChecker(config *rest.Config, scheme *runtime.Scheme) (*TemplateChecker, error) {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = warningRouter{}
	config.QPS = -1 // the API server's own fairness limits us; a queue in here would only eat the deadline
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting the webhook to %s: %w", config.Host, err)
	}
	return &TemplateChecker{client: direct, timeout: checkTimeout}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the API types: %w", err)
		}
	}
	return scheme, nil
}
