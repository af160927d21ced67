package cluster

import (
	"errors"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// NodesUser is who the simulated nodes are to the API server.
const NodesUser = "rollcall:nodes"

// Settings are in what a control plane differs from the one that tests share.
type Settings struct {
	// APIServer are flags of kube-apiserver, without dashes.
	APIServer map[string]string
	// ControllerManager are more flags of kube-controller-manager.
	ControllerManager []string
	// Nodes is how many nodes there are.
	Nodes int
}

// configure passes the flags on to the API server.
func (s Settings) configure(env *envtest.Environment) {
	for name, value := range s.APIServer {
		env.ControlPlane.GetAPIServer().Configure().Set(name, value)
	}
}

// Standalone is a control plane with nodes that belongs to a program, not to a
// test binary.
type Standalone struct{ plane *plane }

// Start starts a control plane with all its parts.
func Start(settings Settings) (*Standalone, error) {
	p := &plane{settings: settings}
	for _, start := range []func() error{p.startAPI, p.startWorkers} {
		if err := start(); err != nil {
			return nil, errors.Join(err, p.stop())
		}
	}
	return &Standalone{plane: p}, nil
}

// Stop ends all that was started.
func (s *Standalone) Stop() error { return s.plane.stop() }

// Client reads and writes as cluster administrator.
func (s *Standalone) Client() client.Client { return s.plane.client }

// Config is for clients of other kinds, as cluster administrator.
func (s *Standalone) Config() *rest.Config { return rest.CopyConfig(s.plane.env.Config) }

// Bind gives a user a role in the whole cluster.
func (s *Standalone) Bind(user, role string) error { return s.plane.bind(user, role) }

// Kubeconfig lets a user in and returns the file to do it with.
func (s *Standalone) Kubeconfig(user string) (string, error) { return s.plane.kubeconfig(user) }

// ConfigOf lets a user in, for a client in this process.
func (s *Standalone) ConfigOf(user string) (*rest.Config, error) {
	added, err := s.plane.addUser(user)
	if err != nil {
		return nil, err
	}
	return added.Config(), nil
}

// Program is the path of a program in bin/assets.
func (s *Standalone) Program(name string) string { return filepath.Join(s.plane.assets, name) }
