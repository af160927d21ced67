package operator

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/features"
)

// version is set by the linker (-X github.com/rollcall-dev/rollcall/internal/operator.version=v0.1.0). Without it the
// version is the one that `go install` recorded.
var version string

func newVersionCommand() *cobra.Command {
	gates := features.New()
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the feature gates",
		Long: "Print the version of the program and its feature gates. With --feature-gates, the gates are shown as a\n" +
			"process with the same flag would have them.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return printVersion(command.OutOrStdout(), gates) },
	}
	gates.AddFlag(command.Flags())
	return command
}

func printVersion(out io.Writer, gates *features.Set) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "rollcall %s, %s, %s/%s\n\n", currentVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(table, "FEATURE GATE\tSTAGE\tSTATE")
	for _, name := range features.All {
		state := "off"
		if gates.Enabled(name) {
			state = "on"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, strings.ToLower(gates.Stage(name)), state)
	}
	return table.Flush()
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
