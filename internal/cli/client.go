package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// scheme knows all built-in kinds and ours.
func scheme() *runtime.Scheme {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(known); err != nil {
			panic(fmt.Sprintf("kinds that can't be registered: %v", err)) // a mistake in the program
		}
	}
	return known
}

// config is how the API server is reached.
func (p *Program) config() (*rest.Config, error) {
	config, err := p.flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server (check --kubeconfig and --context): %w", err)
	}
	return config, nil
}

// client returns a client that reads from the API server itself; nothing is cached.
func (p *Program) client() (client.WithWatch, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	return c, nil
}

// namespace is the one that -n or the context names.
func (p *Program) namespace() (string, error) {
	namespace, _, err := p.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the namespace from the kubeconfig: %w", err)
	}
	return namespace, nil
}
