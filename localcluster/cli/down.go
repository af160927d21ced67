package cli

import (
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/localcluster"
)

func newDown() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster that runs in a folder",
		Long:  "Stops the cluster that `rollcall-local up` started and waits until all of its processes are gone. What was created in it is kept.",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, err := layoutOf(dir)
			if err != nil {
				return err
			}
			return down(command, layout)
		},
	}
	addDir(command, &dir)
	return command
}

func down(command *cobra.Command, layout localcluster.Layout) error {
	pid, err := layout.Runner()
	if err != nil {
		return err
	}
	if pid == 0 {
		return fmt.Errorf("no local cluster is running in %s", layout.Dir)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the cluster (process %d): %w", pid, err)
	}
	if err := layout.AwaitRelease(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(command.OutOrStdout(), "The local cluster is stopped; its state stays in %s.\n", layout.Dir)
	return err
}
