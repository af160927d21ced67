// Package leash ends a process when the process that started it is gone, so
// that a killed supervisor or test leaves no control plane behind.
//
// The rule: a process started with Env in its environment asks for its parent
// once a second; when the parent has changed, the old one is dead.
package leash

import (
	"os"
	"syscall"
	"time"
)

// Env is the variable, with any value, that puts a process on the leash.
const Env = "ROLLCALL_LOCAL_LEASH"

const interval = time.Second

// Hold starts the watch if this process is on the leash. Programs call it first thing in main.
func Hold() {
	if os.Getenv(Env) == "" {
		return
	}
	go follow(os.Getppid())
}

// follow asks this process to end gracefully when the parent is gone, and ends it if that takes too long.
func follow(parent int) {
	for os.Getppid() == parent {
		time.Sleep(interval)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	time.Sleep(10 * interval)
	os.Exit(1)
}
