package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// restartDelay keeps a program that can't start from taking all there is of the processor.
const restartDelay = 200 * time.Millisecond

// program is a running child process with its log.
type program struct {
	path, log string
	args      []string
	done      chan struct{}

	mu  sync.Mutex
	cmd *exec.Cmd
	// isKept: it is started again when it ends, as Kubernetes does.
	isKept bool
}

func startProgram(path, log string, args []string) (*program, error) {
	p := &program{path: path, log: log, args: args, done: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		for isAgain := true; isAgain; isAgain = p.startAgain() {
			_ = p.process().Wait()
			time.Sleep(restartDelay)
		}
	}()
	return p, nil
}

func (p *program) start() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", filepath.Base(p.path), err)
	}
	return nil
}

// startAgain starts a program that is kept, and tells whether it did.
func (p *program) startAgain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isKept && p.start() == nil
}

func (p *program) process() *exec.Cmd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd
}

// keep decides whether the program is started again when it ends.
func (p *program) keep(isKept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isKept = isKept
}

// ended is an error with the end of the log once the program has ended by itself.
func (p *program) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended with code %d:\n%s", filepath.Base(p.path), p.process().ProcessState.ExitCode(), tail(p.log))
	default:
		return nil
	}
}

// tail is the end of a log, where programs say why they gave up.
func tail(log string) string {
	const most = 2000
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(content[max(0, len(content)-most):]))
}

func (p *program) stop() error {
	p.keep(false)
	if p.ended() != nil {
		return p.ended()
	}
	if err := p.process().Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping %s: %w", filepath.Base(p.path), err)
	}
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		_ = p.process().Process.Kill()
		<-p.done
	}
	return nil
}
