package leash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Program is the name under which the multi-call binary runs another program on the leash.
const Program = "leashed"

// Run runs a program that knows nothing of the leash, passes on what this process is told, and returns its exit code.
func Run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintf(os.Stderr, "usage: %s PROGRAM [ARGUMENT…]\n", Program)
		return 2
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "starting %s: %v\n", args[0], err)
		return 1
	}
	go func() {
		for s := range told {
			_ = command.Process.Signal(s)
		}
	}()
	err := command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintf(os.Stderr, "waiting for %s: %v\n", args[0], err)
	}
	return command.ProcessState.ExitCode()
}
