// Package endurance runs the operator as a process of its own: killed again and
// again while it works, and left alone when there is nothing to do.
package endurance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	rollcall "github.com/rollcall-dev/rollcall/internal/operator"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// asOperator is the environment variable that makes the test binary the operator.
const asOperator = "ROLLCALL_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		os.Exit(rollcall.Main())
	}
	cluster.Main(m)
}

// process is an operator that can be killed.
type process struct {
	t          *testing.T
	kubeconfig string
	flags      []string
	command    *exec.Cmd
	// log is what all runs of it wrote.
	log *os.File
}

// roleGranted: the cluster role is created once per control plane.
var roleGranted bool

// startOperator runs the operator until the test ends. Without further flags it acts at once.
func startOperator(t *testing.T, space *cluster.Space, flags ...string) *process {
	t.Helper()
	if !roleGranted {
		if err := scenario.GrantRole(space); err != nil {
			t.Fatal(err)
		}
		roleGranted = true
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if len(flags) == 0 {
		flags = []string{"--leader-elect=false"}
	}
	p := &process{t: t, kubeconfig: writeKubeconfig(t, space), flags: flags, log: log}
	p.start()
	t.Cleanup(p.end)
	return p
}

// end kills the operator and shows its log if the test has failed.
func (p *process) end() {
	p.kill()
	if !p.t.Failed() {
		return
	}
	if content, err := os.ReadFile(p.log.Name()); err == nil {
		p.t.Logf("log of the operator:\n%s", content)
	}
}

func (p *process) start() {
	p.t.Helper()
	args := []string{"controller", "--kubeconfig=" + p.kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"}
	p.command = exec.CommandContext(context.Background(), os.Args[0], append(args, p.flags...)...)
	p.command.Env = append(os.Environ(), asOperator+"=1")
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		p.t.Fatalf("starting the operator: %v", err)
	}
}

// kill ends the operator as a power failure would.
func (p *process) kill() {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("killing the operator: %v", err)
	}
	_ = p.command.Wait() // it was killed: that is its error
}

// terminate ends the operator as Kubernetes does, and waits until it is gone.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatalf("terminating the operator: %v", err)
	}
	if err := p.command.Wait(); err != nil {
		p.t.Errorf("the operator ended with %v, want success", err)
	}
}

// writeKubeconfig lets the operator in with no rights but its own.
func writeKubeconfig(t *testing.T, space *cluster.Space) string {
	t.Helper()
	const name = "test"
	config := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData, Impersonate: scenario.OperatorUser,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(config, path); err != nil {
		t.Fatalf("writing the operator's kubeconfig: %v", err)
	}
	return path
}
