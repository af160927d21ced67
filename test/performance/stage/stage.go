// Package stage is where scenarios are played: one control plane for all of
// them, on which one controller at a time is at work, each under a user of its
// own. What it asks of the API server is counted from the audit log, what it
// costs is read from the kernel.
//
// kube-controller-manager runs without its StatefulSet controller, which enters
// as a process of its own like ours.
package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// The users under which contestants come to the API server.
const (
	builtInUser = "bench:built-in"
	floorUser   = "bench:floor"
)

// recreateGate lets the built-in controller take part in scenarios with Recreate.
const recreateGate = "StatefulSetRecreateStrategy=true"

// Stage is a control plane with nodes, and nobody at work on stateful sets.
type Stage struct {
	plane *cluster.Standalone
	audit *Audit
	dir   string
	// apiServer is the process id of kube-apiserver.
	apiServer int
	floor     *rest.Config
	settings  Settings
}

// Settings are how a stage is built.
type Settings struct {
	// Nodes is how many nodes there are.
	Nodes int
	// Pprof is where our controller serves profiles; nowhere if it is empty.
	Pprof string
	// Keep is a folder in which the audit log, the contestants' logs and a kubeconfig stay behind; if it is empty, nothing stays.
	Keep string
}

// folder is where logs go.
func (s Settings) folder() (string, error) {
	if s.Keep != "" {
		return s.Keep, os.MkdirAll(s.Keep, 0o700)
	}
	return os.MkdirTemp("", "rollcall-bench-")
}

// Build starts the control plane.
func Build(settings Settings) (*Stage, error) {
	dir, err := settings.folder()
	if err != nil {
		return nil, fmt.Errorf("creating a folder for logs: %w", err)
	}
	s := &Stage{dir: dir, settings: settings, audit: newAudit(filepath.Join(dir, "audit.log"))}
	flags, err := s.audit.flags(filepath.Join(dir, "audit-policy.yaml"))
	if err != nil {
		return nil, err
	}
	flags["feature-gates"] = recreateGate
	flags["delete-collection-workers"] = "8" // for clearing the stage
	s.plane, err = cluster.Start(cluster.Settings{
		APIServer: flags, ControllerManager: []string{"--controllers=*,-statefulset-controller"}, Nodes: settings.Nodes,
	})
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Strike())
	}
	return s, nil
}

// prepare gives the contestants their rights.
func (s *Stage) prepare() error {
	if err := scenario.GrantRole(&cluster.Space{Client: s.plane.Client()}); err != nil {
		return err
	}
	for user, role := range map[string]string{
		builtInUser: "system:controller:statefulset-controller", floorUser: "cluster-admin",
	} {
		if err := s.plane.Bind(user, role); err != nil {
			return err
		}
	}
	// kube-controller-manager asks for more than its controllers do.
	if err := s.plane.Bind(builtInUser, "system:kube-controller-manager"); err != nil {
		return err
	}
	var err error
	if s.floor, err = s.plane.ConfigOf(floorUser); err != nil {
		return err
	}
	if s.apiServer, err = findDescendant("kube-apiserver"); err != nil || s.settings.Keep == "" {
		return err
	}
	return s.openBackstage()
}

// openBackstage leaves a kubeconfig of the administrator in the folder, for those who want to look around or take profiles.
func (s *Stage) openBackstage() error {
	const user = "bench:backstage"
	written, err := s.plane.Kubeconfig(user)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(written)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "kubeconfig"), content, 0o600); err != nil {
		return err
	}
	return s.plane.Bind(user, "cluster-admin")
}

// Strike takes everything down.
func (s *Stage) Strike() error {
	if err := s.plane.Stop(); err != nil || s.settings.Keep != "" {
		return err
	}
	return os.RemoveAll(s.dir)
}

// Client reads and writes as cluster administrator.
func (s *Stage) Client() client.Client { return s.plane.Client() }

// Config is for clients of other kinds, as cluster administrator.
func (s *Stage) Config() *rest.Config {
	config := s.plane.Config()
	config.QPS = -1
	return config
}

// FloorConfig is for the client of the floor driver.
func (s *Stage) FloorConfig() *rest.Config {
	config := rest.CopyConfig(s.floor)
	config.QPS = -1
	return config
}

// APIServerCPU is how many seconds of processor time kube-apiserver has used.
func (s *Stage) APIServerCPU() (float64, error) { return cpuSeconds(s.apiServer) }

// Audit is the record of requests.
func (s *Stage) Audit() *Audit { return s.audit }

// UserOf is under which user a contestant comes.
func UserOf(contestant scenarios.Contestant) string {
	switch contestant {
	case scenarios.BuiltIn:
		return builtInUser
	case scenarios.Rollcall:
		return scenario.OperatorUser
	default:
		return floorUser
	}
}

// Namespace makes a new namespace.
func (s *Stage) Namespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	if err := s.Client().Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating a namespace: %w", err)
	}
	return namespace.Name, nil
}
