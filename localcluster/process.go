package localcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/localcluster/leash"
)

// stopTimeout is how long a component may take to stop before it is killed.
const stopTimeout = 20 * time.Second

// process is a component that runs as a child of this one.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// start runs a command under a name of its own, with its log in the cluster's folder. The child is in a process
// group of its own, so that Ctrl-C reaches this process alone, which then stops the children in order.
func start(layout Layout, name string, command *exec.Cmd) (*process, error) {
	log, err := os.Create(layout.Log(name))
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	defer log.Close()
	p := &process{name: name, log: layout.Log(name), cmd: command, done: make(chan struct{})}
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Env = append(os.Environ(), leash.Env+"=1")
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = command.Wait()
		close(p.done)
	}()
	return p, nil
}

// failure says that the process has ended and where to read why. It is called once done is closed.
func (p *process) failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended (%s); see %s", p.name, how, p.log)
}

// stop asks the process to end, and kills it when it does not in time or the context ends.
func (p *process) stop(ctx context.Context) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // with all that it started
		<-p.done
	}
}
