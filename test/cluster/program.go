package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// program is a running child process with its log.
type program struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

func startProgram(path, log string, args []string) (*program, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &program{cmd: exec.Command(path, args...), log: log, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(path), err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// ended is an error with the end of the log once the program has ended by itself.
func (p *program) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended with code %d:\n%s", filepath.Base(p.cmd.Path), p.cmd.ProcessState.ExitCode(), tail(p.log))
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
	if p.ended() != nil {
		return p.ended()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping %s: %w", filepath.Base(p.cmd.Path), err)
	}
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return nil
}
