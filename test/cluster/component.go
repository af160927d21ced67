package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Component is a part of the control plane that a test may restart or pause. All tests of the binary share it, so such a
// test must not run beside others that mind.
type Component string

// The components of the control plane, by the names of their programs.
const (
	APIServer Component = "kube-apiserver"
	Etcd      Component = "etcd"
)

// Restart ends a component as a power failure would, and starts it again at the same address with the same data. It
// returns when the API server answers again.
func Restart(component Component) error {
	if err := shared.restart(component); err != nil {
		return fmt.Errorf("restarting %s: %w", component, err)
	}
	return nil
}

// Pause stops a component in its tracks: its connections stay open and nobody answers. Whoever pauses it has to let it
// go on, or nothing will.
func Pause(component Component) (resume func() error, err error) {
	shared.disturb()
	if err := shared.signal(component, syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("pausing %s: %w", component, err)
	}
	return func() error { return shared.signal(component, syscall.SIGCONT) }, nil
}

// disturb has everything that runs started again when it ends: the scheduler gives up when it has missed too much.
func (p *plane) disturb() {
	for _, program := range p.running {
		program.keep(true)
	}
}

func (p *plane) restart(component Component) error {
	p.disturb()
	pid, err := p.pid(component)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing process %d: %w", pid, err)
	}
	err = poll(context.Background(), stopTimeout, func(context.Context) error {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return nil
		}
		return fmt.Errorf("process %d is still there", pid)
	})
	if err != nil {
		return err
	}
	if err := p.startAgain(component); err != nil {
		return err
	}
	return p.awaitAnswer()
}

func (p *plane) startAgain(component Component) error {
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if component == Etcd {
		return p.env.ControlPlane.Etcd.Start()
	}
	p.env.ControlPlane.GetAPIServer().Err = log
	return p.env.ControlPlane.GetAPIServer().Start()
}

// awaitAnswer returns when the API server reads and writes again.
func (p *plane) awaitAnswer() error {
	return poll(context.Background(), startTimeout, func(ctx context.Context) error {
		probe := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}
		return p.client.Create(ctx, probe, client.DryRunAll)
	})
}

func (p *plane) signal(component Component, signal syscall.Signal) error {
	pid, err := p.pid(component)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

// writeLaunchers puts a launcher for every component in a folder and returns it. envtest keeps the processes that it
// starts to itself; a launcher notes its process id before it becomes the component.
func (p *plane) writeLaunchers() (string, error) {
	folder := filepath.Join(p.dir, "launchers")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	for _, component := range []Component{APIServer, Etcd} {
		script := fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec %s \"$@\"\n",
			quote(p.pidFile(component)), quote(filepath.Join(p.assets, string(component))))
		if err := os.WriteFile(filepath.Join(folder, string(component)), []byte(script), 0o700); err != nil {
			return "", fmt.Errorf("writing the launcher of %s: %w", component, err)
		}
	}
	return folder, nil
}

func (p *plane) pidFile(component Component) string {
	return filepath.Join(p.dir, string(component)+".pid")
}

func (p *plane) pid(component Component) (int, error) {
	content, err := os.ReadFile(p.pidFile(component))
	if err != nil {
		return 0, fmt.Errorf("looking up the process of %s, which runs once a test has a namespace: %w", component, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(content)))
}

// quote makes a path one word for the shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
