// Package process runs the operator as a process of its own: with flags that a test chooses, killed and started anew as
// often as it likes.
//
// The test binary itself becomes the operator when it is started as one, so nothing has to be built or installed:
//
//	func TestMain(m *testing.M) { process.Main(m) }
//
//	func TestRestart(t *testing.T) {
//		story := scenario.PrepareUnattended(t, scenario.Rollcall)
//		operator := process.Start(t, story.Space, "--feature-gates=StatefulSetRecreateStrategy=false")
//		…
//		operator.Restart()
//	}
//
// Each operator looks after the namespace of its test alone, so tests with different operators don't meet.
package process

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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

// Main runs the tests, or the operator where this process was started as one. It does not return.
func Main(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		go endWithParent()
		os.Exit(rollcall.Main())
	}
	cluster.Main(m)
}

// endWithParent ends this process when the one that holds the other end of its standard input is gone, so that a killed
// test leaves no operator behind.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// Operator is a running operator.
type Operator struct {
	t testing.TB
	// program is what runs; this test binary if it is empty.
	program string
	flags   []string
	metrics string
	log     *os.File
	// mayEnd: see MayEnd.
	mayEnd  bool
	running *run
}

// run is the operator from one start to its end.
type run struct {
	command *exec.Cmd
	// leash is the other end of the process's standard input; see endWithParent.
	leash io.Closer
	ended chan struct{}
}

// role is granted once per control plane.
var role struct {
	sync.Once
	err error
}

// Start runs the operator for the namespace of a test until the test ends. The flags come on top of those that every
// operator in a test has.
func Start(t testing.TB, space *cluster.Space, flags ...string) *Operator {
	t.Helper()
	o := &Operator{t: t, metrics: freeAddress(t), log: createLog(t)}
	o.flags = []string{
		"controller", "--kubeconfig=" + Kubeconfig(t, space), "--watch-namespaces=" + space.Name, "--leader-elect=false",
		"--metrics-bind-address=" + o.metrics, "--metrics-secure=false", "--health-probe-bind-address=0",
	}
	o.start(flags)
	t.Cleanup(func() {
		o.Kill()
		o.closeLog()
	})
	return o
}

func (o *Operator) start(flags []string) {
	o.t.Helper()
	command := exec.Command(cmp.Or(o.program, os.Args[0]), append(o.flags[:len(o.flags):len(o.flags)], flags...)...)
	command.Env = append(os.Environ(), asOperator+"=1")
	command.Stdout, command.Stderr = o.log, o.log
	// A stopped process whose group has lost its parent is woken by the kernel, and then sees that its leash is gone.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	leash, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		o.t.Errorf("starting the operator: %v", err)
		return
	}
	o.running = &run{command: command, leash: leash, ended: make(chan struct{})}
	go o.running.await()
}

func (r *run) await() {
	defer close(r.ended)
	_ = r.command.Wait() // whoever kills it knows, and nobody else should
}

// Terminate ends the operator as Kubernetes does, and waits until it is gone. There must be nothing wrong with its end.
func (o *Operator) Terminate() {
	o.t.Helper()
	if err := o.running.command.Process.Signal(syscall.SIGTERM); err != nil {
		o.t.Errorf("terminating the operator: %v", err)
	}
	<-o.running.ended
	if state := o.running.command.ProcessState; !state.Success() {
		o.t.Errorf("the operator ended with %s, want success", state)
	}
	o.running = nil
}

// Kill ends the operator as a power failure would. It is an error if it had ended by itself.
func (o *Operator) Kill() {
	o.t.Helper()
	if o.running == nil {
		return // terminated before
	}
	if o.hasEnded() {
		if !o.mayEnd {
			o.t.Errorf("the operator ended by itself: %s", o.running.command.ProcessState)
		}
		return
	}
	if err := o.running.command.Process.Kill(); err != nil {
		o.t.Errorf("killing the operator: %v", err)
	}
	<-o.running.ended
}

// Restart kills the operator and starts it with these flags, of which those of before are no part. It may be called from
// any goroutine, but from one at a time.
func (o *Operator) Restart(flags ...string) {
	o.t.Helper()
	o.Kill()
	o.start(flags)
}

// MetricsAddress is where the operator serves its metrics.
func (o *Operator) MetricsAddress() string { return o.metrics }

// MayEnd says that the operator may end by itself from now on, for lack of an API server or of a lease. Whoever says so
// has to Revive it.
func (o *Operator) MayEnd() { o.mayEnd = true }

// Revive starts the operator with these flags if it has ended by itself, as Kubernetes would, and tells whether it had.
func (o *Operator) Revive(flags ...string) bool {
	o.t.Helper()
	if !o.hasEnded() {
		return false
	}
	o.start(flags)
	return true
}

func (o *Operator) hasEnded() bool {
	select {
	case <-o.running.ended:
		return true
	default:
		return false
	}
}

// Pause stops the operator in its tracks, as a machine does that is out of memory or moved to another host.
func (o *Operator) Pause() { o.signal(syscall.SIGSTOP) }

// Resume lets a paused operator go on as if nothing had happened.
func (o *Operator) Resume() { o.signal(syscall.SIGCONT) }

func (o *Operator) signal(signal syscall.Signal) {
	o.t.Helper()
	if err := o.running.command.Process.Signal(signal); err != nil {
		o.t.Errorf("sending %s to the operator: %v", signal, err)
	}
}

// Metrics returns what the operator serves under /metrics.
func (o *Operator) Metrics() (string, error) {
	response, err := http.Get("http://" + o.metrics + "/metrics")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("reading the metrics: status %s: %w", response.Status, err)
	}
	return string(body), nil
}

// freeAddress is one at which nobody listened a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func createLog(t testing.TB) *os.File {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "operator.log"))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// closeLog shows the log if the test failed.
func (o *Operator) closeLog() {
	defer o.log.Close()
	if !o.t.Failed() {
		return
	}
	if content, err := os.ReadFile(o.log.Name()); err == nil {
		o.t.Logf("the operator's log:\n%s", content)
	}
}

// Kubeconfig lets the operator in with no rights but its own.
func Kubeconfig(t testing.TB, space *cluster.Space) string {
	t.Helper()
	role.Do(func() { role.err = scenario.GrantRole(space) })
	if role.err != nil {
		t.Fatal(role.err)
	}
	return writeKubeconfig(t, space, scenario.OperatorUser)
}

// AdminKubeconfig lets kubectl in with all rights.
func AdminKubeconfig(t testing.TB, space *cluster.Space) string {
	t.Helper()
	return writeKubeconfig(t, space, "")
}

func writeKubeconfig(t testing.TB, space *cluster.Space, impersonated string) string {
	t.Helper()
	const name = "test"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData, Impersonate: impersonated,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}
