// Package test runs the built rollcall-local as a person would.
package test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What was created is there after a stop and a start, until it is reset; one cluster runs in a folder at a time; down
// leaves no process behind.
func TestUpKeepsStateAndDownLeavesNothing(t *testing.T) {
	c := newCluster(t)
	out := c.up("--detach", "--nodes=2")
	for _, part := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "nodes", "export KUBECONFIG=" + c.kubeconfig()} {
		if !strings.Contains(out, part) {
			t.Errorf("up does not mention %q:\n%s", part, out)
		}
	}
	if nodes := c.kubectl("get", "nodes", "--no-headers"); strings.Count(nodes, " Ready ") != 2 {
		t.Errorf("want 2 nodes that are Ready, got:\n%s", nodes)
	}
	c.kubectl("create", "configmap", "kept")
	c.wantRefusal("already running in "+c.dir, "up", "--port=0")
	c.wantRefusal("already running in "+c.dir, "up", "--port=0", "--detach")
	c.down()

	c.up("--detach", "--nodes=1")
	c.kubectl("get", "configmap", "kept")
	if nodes := c.kubectl("get", "nodes", "--no-headers"); strings.Count(nodes, "\n") != 1 {
		t.Errorf("want the second node gone, got:\n%s", nodes)
	}
	c.down()

	c.up("--detach", "--reset")
	if found := c.kubectl("get", "configmap", "kept", "--ignore-not-found"); found != "" {
		t.Errorf("still there after --reset: %s", found)
	}
	c.down()
}

func TestInterruptStopsEverything(t *testing.T) {
	c := newCluster(t)
	up := c.startUp()
	up.awaitReady()
	up.signal(syscall.SIGINT)
	if code := up.wait(); code != 0 {
		t.Errorf("exit code %d after an interrupt, want 0; output:\n%s", code, up.output())
	}
	c.wantNoProcesses()
}

func TestInterruptDuringStart(t *testing.T) {
	c := newCluster(t)
	up := c.startUp()
	up.awaitOutput("kube-apiserver")
	up.signal(syscall.SIGINT)
	if code := up.wait(); code != 0 {
		t.Errorf("exit code %d after an interrupt, want 0; output:\n%s", code, up.output())
	}
	c.wantNoProcesses()
}

func TestDeadComponentEndsTheCluster(t *testing.T) {
	c := newCluster(t)
	up := c.startUp()
	up.awaitReady()
	c.kill("kube-scheduler")
	if code := up.wait(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want := "kube-scheduler ended (signal: killed); see " + filepath.Join(c.dir, "logs", "kube-scheduler.log")
	if !strings.Contains(up.output(), want) {
		t.Errorf("want a line with %q, got:\n%s", want, up.output())
	}
	c.wantNoProcesses()
}

func TestKilledSupervisorLeavesNothing(t *testing.T) {
	c := newCluster(t)
	up := c.startUp()
	up.awaitReady()
	up.signal(syscall.SIGKILL)
	up.wait()
	c.wantNoProcesses()
	c.wantRefusal("no local cluster is running in "+c.dir, "down")
}

func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		want string
	}{
		"taken port":           {[]string{"up", "--port=" + port}, "port " + port + " can't be used"},
		"taken port, detached": {[]string{"up", "--port=" + port, "--detach"}, "port " + port + " can't be used"},
		"port that is none":    {[]string{"up", "--port=70000"}, "--port is 70000, but must be between"},
		"unwritable folder":    {[]string{"up", "--port=0", "--dir=" + filepath.Join(file, "x")}, "preparing the cluster's folder"},
		"no nodes":             {[]string{"up", "--nodes=0"}, "--nodes is 0, but must be between"},
		"no such operator":     {[]string{"up", "--operator=" + filepath.Join(file, "x")}, "--operator: stat"},
		"unknown flag":         {[]string{"up", "--bogus"}, "unknown flag: --bogus; see `rollcall-local up --help`"},
		"unknown command":      {[]string{"bogus"}, `unknown command "bogus"`},
		"argument too many":    {[]string{"up", "now"}, `unknown command "now"`},
		"down without up":      {[]string{"down"}, "no local cluster is running in"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { newCluster(t).wantRefusal(tc.want, tc.args...) })
	}
}

// The control plane trusts certificates alone: not just anybody on this machine. A bare one has never heard of Rollcall.
func TestAnonymousIsRefused(t *testing.T) {
	c := newCluster(t)
	c.up("--detach", "--bare")
	defer c.down()
	if found := c.kubectl("get", "crds,clusterroles", "--output=name"); strings.Contains(found, "rollcall-controller") || strings.Contains(found, "apps.rollcall.dev") {
		t.Errorf("a bare cluster has the CRD or rules of Rollcall:\n%s", found)
	}
	kubeconfig, err := os.ReadFile(c.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(kubeconfig, []byte("insecure-skip-tls-verify")) || bytes.Contains(kubeconfig, []byte("token:")) {
		t.Errorf("the kubeconfig skips verification or holds a token:\n%s", kubeconfig)
	}
	out, code := c.run("kubectl", "get", "nodes", "--kubeconfig="+c.kubeconfig(), "--user=nobody")
	if code == 0 || !strings.Contains(out, "nobody") && !strings.Contains(out, "Unauthorized") {
		t.Errorf("without a certificate: code %d, %s", code, out)
	}
	if mode := fileMode(t, c.kubeconfig()); mode != 0o600 {
		t.Errorf("the kubeconfig has mode %s", strconv.FormatUint(uint64(mode), 8))
	}
}
