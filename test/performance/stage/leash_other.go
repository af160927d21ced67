//go:build !linux

package stage

import "os/exec"

// endWithParent leaves the process alone: figures are read from /proc, so nobody measures here.
func endWithParent(*exec.Cmd) {}
