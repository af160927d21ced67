package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

const (
	// Briskly is how often to ask for what is being timed.
	Briskly = 20 * time.Millisecond
	// Calmly is how often to ask for what costs the API server more than a look.
	Calmly = 200 * time.Millisecond

	pollPatience = time.Minute
	stopPatience = 20 * time.Second
)

// Player is a contestant at work. The floor driver has no process: it runs in
// this one, and what it costs is not measured.
type Player struct {
	Contestant scenarios.Contestant
	stage      *Stage
	command    *exec.Cmd
	log        string
	ended      chan struct{}
	mark       Mark
}

// Enter puts a contestant to work. It returns before the contestant is ready.
func (s *Stage) Enter(contestant scenarios.Contestant) (*Player, error) {
	player := &Player{Contestant: contestant, stage: s}
	if contestant == scenarios.Floor {
		return player, nil
	}
	kubeconfig, err := s.plane.Kubeconfig(UserOf(contestant))
	if err != nil {
		return nil, err
	}
	if player.mark, err = s.audit.Mark(); err != nil {
		return nil, err
	}
	return player, player.start(s.commandOf(contestant, kubeconfig))
}

// commandOf is how a contestant's process is started. The built-in controller is
// tuned as far as its flags go; ours has its defaults.
func (s *Stage) commandOf(contestant scenarios.Contestant, kubeconfig string) *exec.Cmd {
	if contestant == scenarios.BuiltIn {
		return exec.Command(s.plane.Program("kube-controller-manager"), "--kubeconfig="+kubeconfig,
			"--controllers=statefulset-controller", "--concurrent-statefulset-syncs=50", "--kube-api-qps=-1",
			"--leader-elect=false", "--secure-port=0", "--feature-gates="+recreateGate)
	}
	program := filepath.Join(filepath.Dir(s.plane.Program("")), "rollcall")
	return exec.Command(program, "controller", "--kubeconfig="+kubeconfig, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--pprof-bind-address="+s.settings.Pprof)
}

func (p *Player) start(command *exec.Cmd) error {
	log, err := os.CreateTemp(p.stage.dir, string(p.Contestant)+"-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	p.log, p.command, p.ended = log.Name(), command, make(chan struct{})
	command.Stdout, command.Stderr = log, log
	endWithParent(command)
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting %s (is it built? `make build`): %w", p.Contestant, err)
	}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	return nil
}

// watched are what both controllers watch before they act.
var watched = []string{"statefulsets", "pods", "controllerrevisions", "persistentvolumeclaims"}

// Ready waits until the contestant's watches stand.
func (p *Player) Ready(ctx context.Context) error {
	if p.command == nil {
		return nil
	}
	return Poll(ctx, Briskly, func() error {
		if err := p.failure(); err != nil {
			return err
		}
		watches, err := p.stage.audit.Watches(p.mark, UserOf(p.Contestant))
		if err != nil {
			return err
		}
		if missing := slices.DeleteFunc(slices.Clone(watched), func(name string) bool { return watches[name] }); len(missing) > 0 {
			return fmt.Errorf("%s does not watch %v yet", p.Contestant, missing)
		}
		return nil
	})
}

// failure is the end of the log, if the process has ended by itself.
func (p *Player) failure() error {
	select {
	case <-p.ended:
		log, _ := os.ReadFile(p.log)
		return fmt.Errorf("%s ended: %s\n%s", p.Contestant, p.command.ProcessState, bytes.TrimSpace(log[max(0, len(log)-2000):]))
	default:
		return nil
	}
}

// Leave ends the contestant's process.
func (p *Player) Leave() error {
	if p.command == nil {
		return nil
	}
	if err := p.failure(); err != nil {
		return err
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping %s: %w", p.Contestant, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("%s did not end within %s", p.Contestant, stopPatience), p.command.Process.Kill())
	}
}

// Cost is what a process has used so far.
type Cost struct {
	// CPU is processor time in seconds.
	CPU float64
	// Resident and Anonymous are in MiB; the latter does not count the program's own text.
	Resident, Anonymous float64
}

// Cost returns what the contestant has cost so far.
func (p *Player) Cost() (Cost, error) {
	if p.command == nil {
		return Cost{}, nil
	}
	if err := p.failure(); err != nil {
		return Cost{}, err
	}
	return costOf(p.command.Process.Pid)
}

// Poll asks every so often until the answer is nil or the time is up.
func Poll(ctx context.Context, every time.Duration, condition func() error) error {
	ctx, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", pollPatience, err)
		case <-ticker.C:
		}
	}
}
