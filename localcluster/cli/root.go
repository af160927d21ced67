// Package cli is the command line of rollcall-local.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/localcluster"
)

// Main runs the command line and returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for a clean stop
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", supervisor, err)
		return 1
	}
	return 0
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   supervisor,
		Short: "A Kubernetes control plane on this machine, with simulated nodes",
		Long: `rollcall-local runs a real Kubernetes control plane on this machine: etcd, kube-apiserver,
kube-controller-manager and kube-scheduler, with simulated nodes on which pods seem to run.
It listens on loopback only and needs nothing installed.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, command.CommandPath())
	})
	root.AddCommand(newUp(), newDown())
	return root
}

// addDir adds the flag that says which cluster is meant.
func addDir(command *cobra.Command, dir *string) {
	command.Flags().StringVar(dir, "dir", ".rollcall", "folder that holds the cluster")
}

// layoutOf is the cluster in a folder, by its absolute path so that messages hold wherever they are read.
func layoutOf(dir string) (localcluster.Layout, error) {
	absolute, err := filepath.Abs(dir)
	return localcluster.Layout{Dir: absolute}, err
}
