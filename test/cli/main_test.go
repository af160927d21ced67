// Package cli tests the verbs of the kubectl plugin against a real API server, the operator and simulated nodes. One
// control plane serves all of them.
package cli

import (
	"os"
	"testing"

	plugin "github.com/rollcall-dev/rollcall/internal/cli"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// asPlugin is the environment variable that makes the test binary the plugin.
const asPlugin = "ROLLCALL_TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(plugin.Main())
	}
	scenario.AtOnce(8)
	cluster.Main(m)
}
