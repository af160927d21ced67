// Package install tests what an administrator installs: the chart, its rights, its certificates.
//
// The simulated nodes run no programs. So the pods of the chart's Deployments only show that the cluster takes them; the
// operator itself runs as local processes, with the arguments of those Deployments and the tokens of their service
// accounts.
package install

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/process"
)

func TestMain(m *testing.M) {
	cluster.Configure(cluster.Settings{APIServer: map[string]string{
		"audit-policy-file": filepath.Join(root(), "test", "install", "testdata", "audit-policy.yaml"),
		"audit-log-path":    auditLog(),
		// As on OpenShift: owning an object whose deletion is blocked takes a right of its own.
		"enable-admission-plugins": "OwnerReferencesPermissionEnforcement",
	}})
	cluster.BeforeStop(func() { _ = os.Remove(auditLog()) })
	process.Main(m)
}

// auditLog is where the API server of this test binary writes what it was asked.
func auditLog() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("rollcall-audit-%d.log", os.Getpid()))
}

// root is the repository.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
