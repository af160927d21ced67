// Package cli is the kubectl plugin, a file for each verb. Verbs read flags, read from the API server, ask a pure package
// what that means, and print it or write it back; they decide nothing themselves.
//
// Every failure is one line that says what to do about it (errors.go), and ends the process with one of these codes:
//
//	0    it is done, or the roll-out is complete
//	1    it failed, or the roll-out has failed or is halted
//	2    the time given with --timeout is up
//	130  interrupted
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Program is what all verbs share: where they read and write, and how they reach the cluster.
type Program struct {
	genericclioptions.IOStreams
	// Screen is the terminal that Out is connected to, if any.
	Screen Screen
	// Now is the clock.
	Now func() time.Time
	// Wrap, if set, changes how the API server is reached.
	Wrap func(*rest.Config) *rest.Config

	flags *genericclioptions.ConfigFlags
}

// Main runs the verb that the arguments of the process name and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	silenceLogs()
	program := &Program{
		IOStreams: genericclioptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr},
		Screen:    screenOf(os.Stdout),
		Now:       time.Now,
	}
	return program.Run(ctx, arguments(os.Args)...)
}

// silenceLogs keeps what libraries log out of what users read: a failure reaches them as one line, once.
func silenceLogs() {
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
}

// arguments are what the process was told to do. Under the name kubectl_complete-rollcall it completes command lines for
// kubectl, which looks for a program of that name beside the plugin's.
func arguments(args []string) []string {
	if name := filepath.Base(args[0]); name == completer || name == completer+".exe" {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

// Run runs the verb that the arguments name and returns its exit code.
func (p *Program) Run(ctx context.Context, args ...string) int {
	command := p.newCommand()
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return codeDone
	}
	if line := describe(err); line != "" {
		fmt.Fprintln(p.ErrOut, line)
	}
	return codeOf(err)
}

// newCommand returns the command with all its verbs.
func (p *Program) newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-rollcall",
		Short: "See, understand and steer roll-outs of Rollcall's StatefulSets",
		Long: "See, understand and steer roll-outs of StatefulSets of apps.rollcall.dev.\n\n" +
			"A set is named as web, rsts/web or statefulset/web.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl rollcall"},
		Args:          isVerb,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
	}
	p.flags = genericclioptions.NewConfigFlags(true).WithWrapConfigFn(p.wrap)
	p.flags.AddFlags(root.PersistentFlags())
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetFlagErrorFunc(usageError)
	root.SetUsageTemplate(usageTemplate)
	root.AddCommand(p.verbs()...)
	p.registerCompletions(root)
	return root
}

// isVerb refuses what is none: a word that got here names no verb.
func isVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if similar := root.SuggestionsFor(args[0]); len(similar) > 0 {
		return failf("there is no verb %q: did you mean %s?", args[0], strings.Join(similar, " or "))
	}
	return failf("there is no verb %q: see \"kubectl rollcall --help\"", args[0])
}

// verbs are in the order in which help lists them: look, understand, steer, move.
func (p *Program) verbs() []*cobra.Command {
	cobra.EnableCommandSorting = false
	return []*cobra.Command{
		newGetCommand(p),
		newStatusCommand(p),
		newHistoryCommand(p),
		newDiffCommand(p),
		newExplainCommand(p),
		newPlanCommand(p),
		newSetImageCommand(p),
		newRestartCommand(p),
		newUndoCommand(p),
		newPauseCommand(p),
		newResumeCommand(p),
		newPromoteCommand(p),
		newAdoptCommand(p),
		newReleaseCommand(p),
		newVersionCommand(p),
		newOptionsCommand(p),
	}
}

func (p *Program) wrap(config *rest.Config) *rest.Config {
	// One person at a keyboard is no flood.
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(p.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	config = rest.AddUserAgent(config, "kubectl-rollcall")
	if p.Wrap != nil {
		config = p.Wrap(config)
	}
	return config
}

// newOptionsCommand lists the flags that all verbs have and no help text repeats.
func newOptionsCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List the flags that every verb has",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := io.WriteString(p.Out, "These flags work with every verb:\n"+command.InheritedFlags().FlagUsages())
			return err
		},
	}
}

// usageTemplate leaves the flags that every verb has to `options`.
const usageTemplate = `Usage:{{if .HasParent}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} VERB{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Verbs:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasParent}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{end}}

-n NAMESPACE, --context, --kubeconfig and the rest: see "kubectl rollcall options".{{if .HasAvailableSubCommands}}
More about a verb: "{{.CommandPath}} VERB --help".{{end}}
`
