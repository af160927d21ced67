package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rollcall-dev/rollcall/localcluster"
)

const (
	// announceEnv holds the number of the pipe on which a detached cluster tells its starter how it goes.
	announceEnv = "ROLLCALL_LOCAL_ANNOUNCE"
	// supervisor is what this program calls itself in messages and logs.
	supervisor = "rollcall-local"
	// readyMark ends the announcements when the cluster is ready; without it the start has failed.
	readyMark = "\x04"
)

// detach starts this command again in the background, passes on what it says while it starts, and returns when it is ready.
func detach(ctx context.Context, layout localcluster.Layout, out io.Writer) error {
	if pid, err := layout.Runner(); err != nil || pid != 0 {
		return cmp.Or[error](err, localcluster.RunningError{Dir: layout.Dir, PID: pid})
	}
	if err := layout.Prepare(); err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	child, err := spawn(write, layout.Log(supervisor))
	if err != nil {
		return fmt.Errorf("starting the cluster in the background: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = child.Process.Signal(syscall.SIGTERM) })
	defer stop()
	if ready, err := relay(read, out); err != nil || ready {
		return err
	}
	_ = child.Wait()
	return lastWords(layout.Log(supervisor))
}

// spawn runs this command without --detach, in a session of its own, so that it outlives the terminal.
func spawn(announce *os.File, log string) (*exec.Cmd, error) {
	defer announce.Close()
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(self)
	child.Args = slices.DeleteFunc(slices.Clone(os.Args), func(arg string) bool { return strings.HasPrefix(arg, "--detach") })
	child.Stdout, child.Stderr = output, output
	child.ExtraFiles = []*os.File{announce}
	child.Env = append(os.Environ(), announceEnv+"=3")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child, child.Start()
}

// lastWords is the last line of a log, where a program that gave up says why.
func lastWords(log string) error {
	content, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return errors.New(strings.TrimPrefix(lines[len(lines)-1], supervisor+": "))
}

// relay copies announcements until they end, and tells whether they ended with the mark.
func relay(from io.Reader, to io.Writer) (ready bool, err error) {
	text, err := bufio.NewReader(io.TeeReader(from, markless{to})).ReadString(readyMark[0])
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return strings.HasSuffix(text, readyMark), err
}

// markless passes everything on but the mark.
type markless struct{ out io.Writer }

func (m markless) Write(text []byte) (int, error) {
	_, err := io.WriteString(m.out, strings.ReplaceAll(string(text), readyMark, ""))
	return len(text), err
}

// announcer is where a starting cluster writes: its own output, or the pipe to the process that detached it, in
// which case nobody listens any more once done is called.
func announcer(out io.Writer) (announce io.Writer, done func()) {
	number, err := strconv.Atoi(os.Getenv(announceEnv))
	if err != nil {
		return out, func() {}
	}
	pipe := os.NewFile(uintptr(number), "announce")
	syscall.CloseOnExec(number)
	os.Unsetenv(announceEnv)
	quiet := &switchable{pipe}
	return quiet, func() {
		_, _ = io.WriteString(pipe, readyMark)
		quiet.Writer = io.Discard
		pipe.Close()
	}
}

// switchable is a writer that can be exchanged.
type switchable struct{ io.Writer }
