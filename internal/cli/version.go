package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X github.com/rollcall-dev/rollcall/internal/cli.version=v0.1.0). Without it the version
// is the one that `go install` recorded.
var version string

func newVersionCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.Out, "kubectl-rollcall %s, %s, %s/%s\n", currentVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func currentVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
