package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	plugin "github.com/rollcall-dev/rollcall/internal/cli"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// patience is how long a verb may take before the test gives it up; far more than any healthy run needs.
const patience = 2 * time.Minute

// user is somebody at a keyboard, with a kubeconfig whose namespace is that of the test.
type user struct {
	t          testing.TB
	kubeconfig string
	// Wrap, if set, changes how the user reaches the API server.
	Wrap func(*rest.Config) *rest.Config
	// Screen is the user's terminal, if any.
	Screen plugin.Screen
	// Keyboard is what the user types, if anything.
	Keyboard io.Reader
	// Watches, if set, is shown what is printed while it is.
	Watches io.Writer
}

// outcome is what a command left behind.
type outcome struct {
	out, err string
	code     int
}

// newUser returns a user who may do everything.
func newUser(t testing.TB, space *cluster.Space) *user {
	t.Helper()
	return &user{t: t, kubeconfig: writeKubeconfig(t, space, "")}
}

// newUserNamed returns a user who may do what roles in the cluster say.
func newUserNamed(t testing.TB, space *cluster.Space, name string) *user {
	t.Helper()
	return &user{t: t, kubeconfig: writeKubeconfig(t, space, name)}
}

// run runs the plugin in this process.
func (u *user) run(args ...string) outcome {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	return u.runUntil(ctx, args...)
}

// runUntil runs the plugin in this process until the context ends, as with Ctrl-C.
func (u *user) runUntil(ctx context.Context, args ...string) outcome {
	u.t.Helper()
	streams, _, out, errOut := genericclioptions.NewTestIOStreams()
	if u.Keyboard != nil {
		streams.In = u.Keyboard
	}
	if u.Watches != nil {
		streams.Out = io.MultiWriter(out, u.Watches)
	}
	program := &plugin.Program{IOStreams: streams, Screen: u.Screen, Now: time.Now, Wrap: u.Wrap}
	code := program.Run(ctx, append([]string{"--kubeconfig=" + u.kubeconfig}, args...)...)
	return outcome{out: out.String(), err: errOut.String(), code: code}
}

// must runs the plugin, which has to succeed, and returns what it printed.
func (u *user) must(args ...string) string {
	u.t.Helper()
	got := u.run(args...)
	if got.code != 0 {
		u.t.Fatalf("kubectl rollcall %q ended with code %d:\n%s%s", args, got.code, got.out, got.err)
	}
	return got.out
}

// process returns the plugin as a process of its own, not started yet, with its two outputs.
func (u *user) process(args ...string) (command *exec.Cmd, out, errOut *bytes.Buffer) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	u.t.Cleanup(cancel)
	command = exec.CommandContext(ctx, os.Args[0], args...)
	command.Env = append(os.Environ(), asPlugin+"=1", "KUBECONFIG="+u.kubeconfig)
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdout, command.Stderr = out, errOut
	return command, out, errOut
}

// writeKubeconfig lets a user in under a name, as administrator if it is empty.
func writeKubeconfig(t testing.TB, space *cluster.Space, name string) string {
	t.Helper()
	const entry = "test"
	config := clientcmdapi.NewConfig()
	config.Clusters[entry] = &clientcmdapi.Cluster{Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData}
	config.AuthInfos[entry] = &clientcmdapi.AuthInfo{
		ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData, Impersonate: name,
	}
	config.Contexts[entry] = &clientcmdapi.Context{Cluster: entry, AuthInfo: entry, Namespace: space.Name}
	config.CurrentContext = entry
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}

// signal is a writer that says when something was written.
type signal struct {
	io.Writer
	once    sync.Once
	written chan struct{}
}

func newSignal(out io.Writer) *signal { return &signal{Writer: out, written: make(chan struct{})} }

func (s *signal) Write(data []byte) (int, error) {
	defer s.once.Do(func() { close(s.written) })
	return s.Writer.Write(data)
}
