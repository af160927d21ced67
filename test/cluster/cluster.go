// Package cluster gives tests a real control plane.
//
// One control plane serves a test binary: etcd and kube-apiserver, started by
// envtest from the programs in bin/assets when the first test asks for a
// namespace. Scheduler, controller-manager and simulated nodes join when a test
// asks for them. Every test has a namespace of its own and sees nothing of the
// others. A failed test prints the pods and events of its namespace.
//
//	func TestMain(m *testing.M) { cluster.Main(m) }
//
//	func TestPodRuns(t *testing.T) {
//		ns := cluster.Namespace(t, cluster.Nodes)
//		…
//		ns.Eventually(t, "the pod is Ready", func(ctx context.Context) error { … })
//	}
package cluster

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Part is something a test needs beside etcd and the API server.
type Part int

// Nodes adds scheduler, controller-manager and simulated nodes: pods run.
const Nodes Part = iota

// shared is the control plane of this test binary.
var shared plane

// Main runs the tests and takes the control plane down afterwards. It does not return.
func Main(m *testing.M) {
	code := m.Run()
	seeOffGuests()
	if err := shared.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stopping the control plane: %v\n", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// once runs a start-up step a single time and gives every caller its error.
type once struct {
	sync.Once
	err error
}

func (o *once) do(start func() error) error {
	o.Do(func() { o.err = start() })
	return o.err
}
