// Package operator is the command line of the operator, a file for each subcommand. Commands read flags and put parts
// together; they decide nothing.
package operator

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Main runs the command that the arguments of the process name and returns its exit code. SIGTERM and SIGINT end the
// command gracefully; a second signal ends it at once.
func Main() int {
	paceGarbage()
	if err := NewCommand().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "rollcall:", err)
		return 1
	}
	return 0
}

// NewCommand returns the command with all its subcommands.
func NewCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "rollcall",
		Short: "A StatefulSet whose updates recover by themselves",
		Long: "rollcall is an operator that serves StatefulSets of the API group apps.rollcall.dev: a strict superset of\n" +
			"apps/v1 whose updates recover by themselves.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newControllerCommand(), newWebhookCommand(), newVersionCommand())
	return root
}
