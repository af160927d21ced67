package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/localcluster"
)

func newUp() *cobra.Command {
	var options localcluster.Options
	var detached, bare bool
	command := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster",
		Long: `Starts the cluster and shows what happens in it until Ctrl-C stops it. What was created in it is
there again at the next start.`,
		Example: `  # start, and stop with Ctrl-C
  rollcall-local up

  # start in the background, for scripts
  rollcall-local up --detach
  rollcall-local down

  # a cluster that has never heard of Rollcall, to try its installation
  rollcall-local up --bare

  # a second cluster beside the first
  rollcall-local up --dir /tmp/second --port 0 --nodes 10`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, err := layoutOf(options.Dir)
			if err != nil {
				return err
			}
			if err := complete(&options, layout, bare); err != nil {
				return err
			}
			if detached {
				return detach(command.Context(), layout, command.OutOrStdout())
			}
			return up(command.Context(), options, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	addDir(command, &options.Dir)
	flags.IntVar(&options.Port, "port", 7443, "port of the API server on loopback; 0 takes any that is free")
	flags.IntVar(&options.Nodes, "nodes", 3, "number of simulated nodes")
	flags.BoolVar(&options.Reset, "reset", false, "forget what an earlier run left in the folder")
	flags.BoolVar(&detached, "detach", false, "return when the cluster is ready and leave it running; stop it with `rollcall-local down`")
	flags.StringSliceVar(&options.Install, "install", nil, "folders of manifests to install (default config/crd and config/rbac beside this program's folder, if there)")
	flags.StringVar(&options.Operator, "operator", "", "Rollcall program to run (default the one beside this program, if there)")
	flags.BoolVar(&bare, "bare", false, "run no operator and install nothing, unless --operator or --install says so")
	flags.Lookup("detach").NoOptDefVal = "true"
	return command
}

// complete fills in what follows from where this program lies, and refuses what can't be.
func complete(options *localcluster.Options, layout localcluster.Layout, bare bool) error {
	options.Dir = layout.Dir
	if options.Nodes < 1 || options.Nodes > 1000 {
		return fmt.Errorf("--nodes is %d, but must be between 1 and 1000", options.Nodes)
	}
	if options.Port < 0 || options.Port > 65535 {
		return fmt.Errorf("--port is %d, but must be between 0 and 65535", options.Port)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return err
	}
	if !bare {
		addShipped(options, filepath.Dir(self))
	}
	return check(options)
}

// addShipped adds what lies beside this program's folder, unless something else is asked for.
func addShipped(options *localcluster.Options, bin string) {
	config := filepath.Join(filepath.Dir(bin), "config")
	if options.Install == nil {
		options.Install = existing(filepath.Join(config, "crd"), filepath.Join(config, "rbac"))
	}
	if options.Operator == "" {
		options.Operator = strings.Join(existing(filepath.Join(bin, "rollcall")), "")
	}
	options.Webhook = strings.Join(existing(filepath.Join(config, "webhook", "configuration.yaml")), "")
}

// existing are those of the paths that exist.
func existing(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// check refuses paths that do not exist before anything is started.
func check(options *localcluster.Options) error {
	for _, path := range options.Install {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("--install: %w", err)
		}
	}
	if options.Operator == "" {
		return nil
	}
	if _, err := os.Stat(options.Operator); err != nil {
		return fmt.Errorf("--operator: %w", err)
	}
	return nil
}

// up runs the cluster in this process until the context ends.
func up(ctx context.Context, options localcluster.Options, out io.Writer) error {
	begin := time.Now()
	announce, announced := announcer(out)
	report := localcluster.NewReporter(announce)
	return localcluster.Run(ctx, options, report, func(layout localcluster.Layout) {
		report.Printf("%s", welcome(layout, options, time.Since(begin)))
		announced()
		if err := localcluster.Follow(ctx, layout, report); err != nil {
			report.Printf("%v\n", err)
		}
	})
}

// welcome says what to do next.
func welcome(layout localcluster.Layout, options localcluster.Options, took time.Duration) string {
	bin := filepath.Dir(os.Args[0])
	text := fmt.Sprintf("\nThe cluster is ready after %.1fs, with %d nodes. In another terminal:\n\n", took.Seconds(), options.Nodes)
	text += fmt.Sprintf("  export KUBECONFIG=%s\n", layout.Kubeconfig())
	text += fmt.Sprintf("  %s get nodes\n", filepath.Join(bin, "kubectl"))
	if options.Operator != "" {
		text += fmt.Sprintf("  %s apply -f config/samples/web.yaml\n", filepath.Join(bin, "kubectl"))
	}
	return text + fmt.Sprintf("\nCtrl-C or `%s down` stops it. Logs are in %s.\n\n", os.Args[0], filepath.Join(layout.Dir, "logs"))
}
