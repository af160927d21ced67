package localcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lock is held by the process that runs a cluster, for as long as it lives.
type lock struct{ file *os.File }

// RunningError says that a cluster runs in the folder already.
type RunningError struct {
	Dir string
	PID int
}

func (e RunningError) Error() string {
	return fmt.Sprintf("a local cluster is already running in %s (process %d); stop it with `rollcall-local down --dir %s`, or use another --dir and --port",
		e.Dir, e.PID, e.Dir)
}

// acquire locks the folder for this process. The kernel drops the lock with the process, so none is ever stale.
func (l Layout) acquire() (*lock, error) {
	file, err := os.OpenFile(l.lockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the cluster's folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		return nil, RunningError{Dir: l.Dir, PID: readPID(file)}
	}
	if err == nil {
		err = writePID(file)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", l.lockFile(), err)
	}
	return &lock{file}, nil
}

func (l *lock) release() { l.file.Close() }

// AwaitRelease returns when no process holds the lock any more.
func (l Layout) AwaitRelease() error {
	file, err := os.Open(l.lockFile())
	if err != nil {
		return err
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
}

// Runner is the process that runs the cluster, or 0.
func (l Layout) Runner() (int, error) {
	file, err := os.Open(l.lockFile())
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's lock: %w", err)
	}
	defer file.Close()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readPID(file), nil
	}
	return 0, err
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return err
}

func readPID(file *os.File) int {
	content, _ := io.ReadAll(io.NewSectionReader(file, 0, 32))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	return pid
}
