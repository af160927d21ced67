package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	rollcallv1 "github.com/rollcall-dev/rollcall/api/v1"
)

const (
	startTimeout = time.Minute
	stopTimeout  = time.Minute
	// leash makes the programs of the local cluster end when the process that started them is gone.
	leash = "ROLLCALL_LOCAL_LEASH"
)

// plane is a control plane that grows by the parts tests ask for.
type plane struct {
	api     once
	workers once

	settings Settings
	env      *envtest.Environment
	client   client.Client
	assets   string
	dir      string
	running  []*program
}

// startAPI starts etcd and the API server and installs our CRDs.
func (p *plane) startAPI() error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	p.assets = filepath.Join(root, "bin", "assets")
	if p.dir, err = os.MkdirTemp("", "rollcall-test-"); err != nil {
		return fmt.Errorf("creating a folder for the control plane: %w", err)
	}
	if err := os.Setenv(leash, "1"); err != nil {
		return err
	}
	launchers, err := p.writeLaunchers()
	if err != nil {
		return err
	}
	p.env = newEnvironment(launchers, p.dir, filepath.Join(root, "config", "crd"))
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p.env.ControlPlane.GetAPIServer().Err = log
	p.settings.configure(p.env)
	config, err := p.env.Start()
	if err != nil {
		return fmt.Errorf("starting etcd and kube-apiserver: %w\n%s", err, tail(log.Name()))
	}
	config.QPS = -1
	p.client, err = client.New(config, client.Options{Scheme: Scheme()})
	return err
}

// openLog opens the API server's log, which goes on where a restart broke it off.
func (p *plane) openLog() (*os.File, error) {
	return os.OpenFile(filepath.Join(p.dir, "kube-apiserver.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// newEnvironment keeps data and certificates in a folder of ours, where they outlive the processes.
func newEnvironment(assets, dir, crds string) *envtest.Environment {
	env := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
		CRDInstallOptions: envtest.CRDInstallOptions{
			Paths:              []string{crds},
			ErrorIfPathMissing: true,
			MaxTime:            startTimeout,
		},
	}
	env.ControlPlane.Etcd = &envtest.Etcd{DataDir: dir}
	env.ControlPlane.GetAPIServer().CertDir = dir
	// Pods get their service account tokens as on any cluster.
	env.ControlPlane.GetAPIServer().Configure().
		Set("disable-admission-plugins", "").
		Set("endpoint-reconciler-type", "none")
	return env
}

// Scheme knows all built-in kinds and ours.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, rollcallv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// findRoot looks upwards from the test's folder for the repository with its built programs.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "bin", "assets", "kube-apiserver")); statErr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no bin/assets/kube-apiserver in this folder or above it; run `make build` first")
		}
	}
	return "", err
}

// stop ends what was started, the youngest first.
func (p *plane) stop() error {
	var errs []error
	for i := len(p.running) - 1; i >= 0; i-- {
		errs = append(errs, p.running[i].stop())
	}
	if p.env != nil {
		errs = append(errs, p.env.Stop())
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}
