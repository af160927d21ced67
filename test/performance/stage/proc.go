package stage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of processor time in /proc on Linux, whatever the hardware.
const ticksPerSecond = 100

func costOf(pid int) (Cost, error) {
	cpu, err := cpuSeconds(pid)
	if err != nil {
		return Cost{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Cost{}, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return Cost{CPU: cpu, Resident: mebibytes(status, "VmRSS:"), Anonymous: mebibytes(status, "RssAnon:")}, nil
}

// mebibytes reads a line such as "RssAnon:   12345 kB".
func mebibytes(status []byte, name string) float64 {
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			kibibytes, _ := strconv.ParseFloat(fields[1], 64)
			return kibibytes / 1024
		}
	}
	return 0
}

// cpuSeconds is the processor time of all threads of a process, in user and kernel mode.
func cpuSeconds(pid int) (float64, error) {
	fields, err := statOf(pid)
	if err != nil {
		return 0, err
	}
	const user, kernel = 11, 12
	ticks := 0.0
	for _, i := range []int{user, kernel} {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of process %d: %w", pid, err)
		}
		ticks += value
	}
	return ticks / ticksPerSecond, nil
}

// Load is the machine's load average over the last minute.
func Load() (float64, error) {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("reading the load: %w", err)
	}
	first, _, _ := strings.Cut(string(content), " ")
	return strconv.ParseFloat(first, 64)
}

// statOf returns the fields of /proc/…/stat behind the process's name, which may contain spaces.
func statOf(pid int) ([]string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, fmt.Errorf("reading about process %d: %w", pid, err)
	}
	fields := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("reading about process %d: only %d fields", pid, len(fields))
	}
	return fields, nil
}

// findDescendant returns the process of a program that this process has started, itself or through others.
func findDescendant(program string) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		name, _, _ := bytes.Cut(line, []byte{0})
		if err == nil && filepath.Base(string(name)) == program && isDescendant(pid) {
			return pid, nil
		}
	}
	return 0, errors.New("found no process " + program)
}

func isDescendant(pid int) bool {
	for pid > 1 {
		if pid == os.Getpid() {
			return true
		}
		fields, err := statOf(pid)
		if err != nil {
			return false
		}
		const parent = 1
		if pid, err = strconv.Atoi(fields[parent]); err != nil {
			return false
		}
	}
	return false
}
