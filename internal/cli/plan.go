package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/preview"
)

// What pods are taken to need when nothing else is known.
const (
	defaultStart = 30 * time.Second
	defaultStop  = 5 * time.Second
)

// planVerb tells what would happen.
type planVerb struct {
	*Program
	file, from string
	offline    bool
	edits      specEdits
	start      int32
	stop       int32
	output     string
	// input is what standard input said.
	input []byte
}

func newPlanCommand(p *Program) *cobra.Command {
	v := &planVerb{Program: p}
	command := &cobra.Command{
		Use:   "plan [NAME] [-f FILE]",
		Short: "Tell what a change would do, without doing it",
		Long: "Tell what a change would do, without doing it: every step in order and why, how many pods would be down at the same\n" +
			"time and for how long, how long it would take, and whether it would get stuck. The steps are those of the operator's own\n" +
			"planner, played in a model of the cluster.\n\n" +
			"With NAME, the change is what the flags say, made to the set in the cluster. With -f, it is what applying the file\n" +
			"would change, or the creation of the set if there is none; flags then change what the file says. The API server is\n" +
			"asked (by a dry run) whether it would accept the change. With --from, or with --offline, or if there is no cluster, no cluster\n" +
			"is asked anything: the set is taken to be as in the file of --from and well, or else to be new.\n\n" +
			"How long pods take to become ready is the median of the pods that run, or 30s if there are none; see --start-seconds.\n\n" +
			"Exit codes: 0 it would end well, or be held back on request; 1 it would get stuck, or be refused.",
		Example: "  # A new image\n" +
			"  kubectl rollcall plan web --set-image=web=nginx:1.29\n\n" +
			"  # The same with another strategy\n" +
			"  kubectl rollcall plan web --set-image=nginx:1.29 --strategy=EnforcedRollingUpdate --max-unavailable=2\n\n" +
			"  # What would applying this file do?\n" +
			"  kubectl rollcall plan -f web.yaml\n\n" +
			"  # In a pipeline, without a cluster: from the file before to the file after\n" +
			"  git show HEAD^:web.yaml | kubectl rollcall plan -f web.yaml --from=-",
		Args:              between(0, "NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return v.run(command.Context(), command, args) },
	}
	v.addFlags(command)
	return command
}

func (v *planVerb) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&v.file, "filename", "f", "", "The manifest of the set as it would be; - reads standard input.")
	flags.StringVar(&v.from, "from", "", "The manifest of the set as it is; no cluster is asked.")
	flags.BoolVar(&v.offline, "offline", false, "Ask no cluster.")
	v.edits.addFlags(command)
	flags.Int32Var(&v.start, "start-seconds", 0, "How long a pod takes from its creation until it is ready.")
	flags.Int32Var(&v.stop, "stop-seconds", int32(defaultStop/time.Second), "How long a pod takes to stop, at most its grace period.")
	flags.StringVarP(&v.output, "output", "o", "", "json prints the plan as JSON.")
	mustComplete(command, "output", oneOf(formatJSON))
}

func (v *planVerb) run(ctx context.Context, command *cobra.Command, args []string) error {
	if err := v.check(command, args); err != nil {
		return err
	}
	request, err := v.request(ctx, args)
	if err != nil {
		return err
	}
	request.Pace = v.pace(command, request.Pods)
	plan, err := preview.Run(request)
	if err != nil {
		return err
	}
	if v.output == formatJSON {
		err = writeJSON(v.Out, plan)
	} else {
		_, err = io.WriteString(v.Out, plan.Text())
	}
	if err == nil && plan.Outcome == preview.Stuck {
		return ended(codeFailed)
	}
	return err
}

// check refuses flags that contradict each other.
func (v *planVerb) check(command *cobra.Command, args []string) error {
	isAlone := v.file == "" && v.from == ""
	switch {
	case len(args) == 0 && isAlone:
		return failf("what is to be planned? name a set, or a file with -f: see \"%s --help\"", command.CommandPath())
	case v.offline && isAlone:
		return failf("--offline needs a file: give it with -f")
	case v.file == "-" && v.from == "-":
		return failf("-f and --from can't both read standard input")
	case v.start < 0 || v.stop < 0:
		return failf("--start-seconds and --stop-seconds can't be negative")
	case isAlone && !v.edits.any(command):
		return failf("what would change? say it with flags such as --set-image or --replicas, or with a file: see \"%s --help\"", command.CommandPath())
	}
	v.edits.note(command)
	return checkFormat(v.output, formatJSON)
}

// request gathers what the preview is about.
func (v *planVerb) request(ctx context.Context, args []string) (preview.Request, error) {
	argument := ""
	if len(args) > 0 {
		argument = args[0]
	}
	if v.offline || v.from != "" {
		return v.offlineRequest(argument)
	}
	return v.onlineRequest(ctx, argument)
}

// pace is how long pods take: as the user says, as pods took so far, or as nobody knows.
func (v *planVerb) pace(command *cobra.Command, pods []*corev1.Pod) preview.Pace {
	pace := preview.Pace{
		Start: defaultStart, StartBasis: "a guess, see --start-seconds",
		Stop: time.Duration(v.stop) * time.Second, StopBasis: "a guess, see --stop-seconds",
	}
	if command.Flags().Changed("stop-seconds") {
		pace.StopBasis = "as given"
	}
	median, count := preview.PastStart(pods, v.Now())
	switch isOnline := !v.offline && v.from == ""; {
	case command.Flags().Changed("start-seconds"):
		pace.Start, pace.StartBasis = time.Duration(v.start)*time.Second, "as given"
	case isOnline && count > 0:
		pace.Start, pace.StartBasis = max(median, time.Second).Round(time.Second), "what the median of "+countOf(count, "running pod")+" took"
	}
	return pace
}

// completeStrategies proposes the strategies.
var completeStrategies = oneOf(
	string(v1.RollingUpdateStrategy), string(v1.EnforcedRollingUpdateStrategy), string(v1.RecreateStrategy), string(v1.OnDeleteStrategy),
)
