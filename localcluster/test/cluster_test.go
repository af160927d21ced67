package test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 2 * time.Minute

// cluster is a local cluster in a folder of its own.
type cluster struct {
	t   *testing.T
	bin string
	dir string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "rollcall-local")); err != nil {
		t.Fatalf("run `make cluster` first: %v", err)
	}
	return &cluster{t: t, bin: bin, dir: filepath.Join(t.TempDir(), "state")}
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// run runs a program of bin/ to its end.
func (c *cluster) run(name string, args ...string) (output string, code int) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), filepath.Join(c.bin, name), args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("running %s: %v", name, err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(out), code
}

func (c *cluster) local(args ...string) (output string, code int) {
	c.t.Helper()
	if !strings.Contains(strings.Join(args, " "), "--dir") && len(args) > 0 && args[0] != "bogus" {
		args = append(args, "--dir="+c.dir)
	}
	return c.run("rollcall-local", args...)
}

func (c *cluster) up(args ...string) string {
	c.t.Helper()
	out, code := c.local(append([]string{"up", "--port=0"}, args...)...)
	if code != 0 {
		c.t.Fatalf("up: code %d\n%s", code, out)
	}
	return out
}

func (c *cluster) down() {
	c.t.Helper()
	if out, code := c.local("down"); code != 0 {
		c.t.Fatalf("down: code %d\n%s", code, out)
	}
	c.wantNoProcesses()
}

func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	out, code := c.run("kubectl", append(args, "--kubeconfig="+c.kubeconfig())...)
	if code != 0 {
		c.t.Fatalf("kubectl %s: code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// wantRefusal runs a command that must fail with one line of explanation.
func (c *cluster) wantRefusal(want string, args ...string) {
	c.t.Helper()
	out, code := c.local(args...)
	last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	if code != 1 || !strings.HasPrefix(last, "rollcall-local: ") || !strings.Contains(last, want) {
		c.t.Errorf("%s: code %d, want 1 and a last line with %q; got:\n%s", strings.Join(args, " "), code, want, out)
	}
}

// processes are those that name the cluster's folder in their arguments, by pid.
func (c *cluster) processes() map[int]string {
	c.t.Helper()
	found := map[int]string{}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		c.t.Skip("this system has no /proc to find processes in")
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(content, []byte(c.dir)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil {
			found[pid] = strings.ReplaceAll(string(content), "\x00", " ")
		}
	}
	return found
}

func (c *cluster) wantNoProcesses() {
	c.t.Helper()
	await(c.t, "no process is left", func() bool { return len(c.processes()) == 0 })
}

// kill ends one component the hard way.
func (c *cluster) kill(name string) {
	c.t.Helper()
	for pid, command := range c.processes() {
		if strings.HasPrefix(command, name+" ") {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				c.t.Fatalf("killing %s: %v", name, err)
			}
			return
		}
	}
	c.t.Fatalf("no %s among %v", name, c.processes())
}

// foreground is an `up` that shows what happens until it is stopped.
type foreground struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *buffer
	done chan struct{}
}

func (c *cluster) startUp() *foreground {
	c.t.Helper()
	up := &foreground{t: c.t, out: &buffer{}, done: make(chan struct{})}
	up.cmd = exec.Command(filepath.Join(c.bin, "rollcall-local"), "up", "--port=0", "--dir="+c.dir)
	up.cmd.Stdout, up.cmd.Stderr = up.out, up.out
	if err := up.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		_ = up.cmd.Wait()
		close(up.done)
	}()
	c.t.Cleanup(func() {
		_ = up.cmd.Process.Kill()
		<-up.done
	})
	return up
}

func (f *foreground) awaitReady() {
	f.t.Helper()
	f.awaitOutput("The cluster is ready")
}

func (f *foreground) awaitOutput(text string) {
	f.t.Helper()
	await(f.t, "up says "+text, func() bool { return strings.Contains(f.output(), text) })
}

func (f *foreground) signal(s syscall.Signal) {
	f.t.Helper()
	if err := f.cmd.Process.Signal(s); err != nil {
		f.t.Fatal(err)
	}
}

func (f *foreground) wait() int {
	f.t.Helper()
	select {
	case <-f.done:
	case <-time.After(patience):
		f.t.Fatalf("up does not end; output:\n%s", f.output())
	}
	return f.cmd.ProcessState.ExitCode()
}

func (f *foreground) output() string { return f.out.String() }

// buffer is written by the process and read by the test.
type buffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(text)
}

func (b *buffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.String()
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for ticker := time.NewTicker(20 * time.Millisecond); !condition(); {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		case <-ticker.C:
		}
	}
}

func fileMode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
