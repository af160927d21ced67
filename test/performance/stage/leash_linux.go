package stage

import (
	"os/exec"
	"syscall"
)

// endWithParent has a process killed when this one is.
func endWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
