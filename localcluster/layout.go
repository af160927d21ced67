// Package localcluster runs a Kubernetes control plane on this machine: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, simulated nodes and
// the Rollcall operator, each a child process, on loopback with TLS and client
// certificates throughout.
//
// Everything it keeps is in one folder (layout.go). A lock on that folder makes
// sure that one cluster runs in it at a time (lock.go). Each component has a
// file that says how it is started and when it is ready; cluster.go starts them
// in order and stops them in the reverse order.
package localcluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// Layout is the folder of a local cluster.
type Layout struct {
	Dir string
}

// Kubeconfig is the administrator's kubeconfig.
func (l Layout) Kubeconfig() string { return filepath.Join(l.Dir, "kubeconfig") }

// UserKubeconfig is the kubeconfig of one of the components.
func (l Layout) UserKubeconfig(user string) string {
	return filepath.Join(l.Dir, "users", user+".kubeconfig")
}

// Log is where a component writes its log.
func (l Layout) Log(component string) string {
	return filepath.Join(l.Dir, "logs", component+".log")
}

// Cert is a certificate, by name.
func (l Layout) Cert(name string) string { return filepath.Join(l.Dir, "pki", name+".crt") }

// Key is the private key of a certificate.
func (l Layout) Key(name string) string { return filepath.Join(l.Dir, "pki", name+".key") }

// Data is where etcd keeps the cluster's objects.
func (l Layout) Data() string { return filepath.Join(l.Dir, "etcd") }

func (l Layout) lockFile() string { return filepath.Join(l.Dir, "lock") }

// Prepare makes the folder and what it contains.
func (l Layout) Prepare() error {
	for _, dir := range []string{l.Dir, filepath.Join(l.Dir, "users"), filepath.Join(l.Dir, "logs"), filepath.Join(l.Dir, "pki")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("preparing the cluster's folder: %w", err)
		}
	}
	return nil
}

// forget removes what the cluster kept. Logs are written anew at every start anyway.
func (l Layout) forget() error {
	for _, kept := range []string{"etcd", "pki", "users", "kubeconfig"} {
		if err := os.RemoveAll(filepath.Join(l.Dir, kept)); err != nil {
			return fmt.Errorf("forgetting the cluster: %w", err)
		}
	}
	return l.Prepare()
}
