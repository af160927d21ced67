package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// status follows a roll-out to its end.
type status struct {
	*Program
	watch    bool
	timeout  time.Duration
	revision int64
	output   string
}

func newStatusCommand(p *Program) *cobra.Command {
	s := &status{Program: p}
	command := &cobra.Command{
		Use:   "status NAME",
		Short: "Follow a roll-out to its end",
		Long: "Follow a roll-out until it is over: live on a terminal, a line for each change elsewhere.\n\n" +
			"Exit codes:\n" +
			"  0  complete, or with a partition complete as far as that goes\n" +
			"  1  it can't go on by itself: halted, stuck on a broken pod, paused, waiting for deletes (OnDelete)\n" +
			"  2  not over within --timeout, or with --watch=false not over yet",
		Example: "  # Wait for a roll-out in a pipeline, for at most ten minutes\n" +
			"  kubectl rollcall status web --timeout=10m\n\n" +
			"  # Look once, for a program\n" +
			"  kubectl rollcall status web --watch=false -o json\n\n" +
			"  # Fail if somebody else rolls out another revision meanwhile\n" +
			"  kubectl rollcall status web --revision=7",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	flags.BoolVarP(&s.watch, "watch", "w", true, "Follow the roll-out to its end. --watch=false looks once.")
	flags.DurationVar(&s.timeout, "timeout", 0, "Give up after this time, as in 90s or 10m. 0 is never.")
	flags.Int64Var(&s.revision, "revision", 0, "Follow the roll-out of this revision; fail if another one is rolled out.")
	flags.StringVarP(&s.output, "output", "o", "", "json prints how it ended as JSON, and nothing before.")
	mustComplete(command, "revision", p.completeRevisions)
	mustComplete(command, "output", oneOf(formatJSON))
	return command
}

func (s *status) run(ctx context.Context, argument string) error {
	if err := checkFormat(s.output, formatJSON); err != nil {
		return err
	}
	if s.timeout < 0 || s.revision < 0 {
		return failf("--timeout and --revision can't be negative")
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	set, err := s.readSet(ctx, c, argument)
	if err != nil {
		return err
	}
	if !s.watch {
		return s.lookOnce(ctx, c, set)
	}
	return s.follow(ctx, c, client.ObjectKeyFromObject(set))
}

func (s *status) lookOnce(ctx context.Context, c client.Reader, set *v1.StatefulSet) error {
	observation, err := s.observe(ctx, c, set)
	if err != nil {
		return err
	}
	rollout := view.Of(observation)
	err = s.verdict(rollout)
	if s.output == formatJSON {
		return errors.Join(s.printJSON(rollout), silence(err))
	}
	for _, line := range drawStatus(rollout, s.columns(), s.palette()) {
		fmt.Fprintln(s.Out, line)
	}
	if isPending(rollout) {
		return ended(codeTimedOut)
	}
	return err
}

// follow shows the roll-out until it is over.
func (s *status) follow(ctx context.Context, c client.Reader, key client.ObjectKey) error {
	watch, stop := s.withTimeout(ctx)
	defer stop()
	f, err := s.Program.follow(watch, c, scope{namespace: key.Namespace, name: key.Name})
	if err != nil {
		return s.timedOut(ctx, watch, err, view.Rollout{Name: key.Name})
	}
	display := s.newDisplay()
	for {
		rollout, err := s.see(watch, f, key)
		if err != nil {
			return err
		}
		display.show(rollout, f.lost)
		if !isPending(rollout) {
			return s.end(display, rollout)
		}
		if err := f.next(watch); err != nil {
			display.finish()
			return s.timedOut(ctx, watch, err, rollout)
		}
	}
}

// end says how it ended.
func (s *status) end(display display, rollout view.Rollout) error {
	display.finish()
	err := s.verdict(rollout)
	if s.output == formatJSON {
		return errors.Join(s.printJSON(rollout), silence(err))
	}
	if err == nil {
		fmt.Fprintln(s.Out, conclude(rollout))
	}
	return err
}

func (s *status) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// timedOut tells the end of our time from all other ends.
func (s *status) timedOut(ctx, watch context.Context, err error, last view.Rollout) error {
	if ctx.Err() != nil || !errors.Is(watch.Err(), context.DeadlineExceeded) {
		return err
	}
	if s.output == formatJSON {
		return errors.Join(s.printJSON(last), ended(codeTimedOut))
	}
	text := fmt.Sprintf("%s/%s is not rolled out after %s", resource, last.Name, s.timeout)
	if last.Why != "" {
		text += ": " + last.Why
	}
	return &failure{text: fmt.Sprintf("%s: see \"kubectl rollcall explain %s\"", text, last.Name), code: codeTimedOut}
}

// see looks at the copy that is kept up to date.
func (s *status) see(ctx context.Context, f *follower, key client.ObjectKey) (view.Rollout, error) {
	set := &v1.StatefulSet{}
	if err := f.Get(ctx, key, set); apierrors.IsNotFound(err) {
		return view.Rollout{}, failf("%s/%s was deleted", resource, key.Name)
	} else if err != nil {
		return view.Rollout{}, fmt.Errorf("reading %s/%s: %w", resource, key.Name, err)
	}
	v1.SetDefaults(set)
	observation, err := s.observe(ctx, f, set)
	if err != nil {
		return view.Rollout{}, err
	}
	rollout := view.Of(observation)
	return rollout, s.checkRevision(rollout)
}

// checkRevision fails when it is not the roll-out that was asked for any more.
func (s *status) checkRevision(rollout view.Rollout) error {
	if s.revision == 0 || rollout.Phase == view.Unobserved || rollout.Target.Number == s.revision {
		return nil
	}
	return failf("%s/%s rolls out revision %s, not %d: somebody else changed the template, or --revision is wrong (see \"kubectl rollcall history %[2]s\")",
		resource, rollout.Name, rollout.Target, s.revision)
}

func (s *status) printJSON(rollout view.Rollout) error {
	encoder := json.NewEncoder(s.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(rollout)
}

// isPending tells whether the roll-out goes on by itself.
func isPending(rollout view.Rollout) bool {
	return rollout.Phase == view.Progressing || rollout.Phase == view.Unobserved
}

// verdict is nil for a roll-out that is as it should be, and else says what to do.
func (s *status) verdict(rollout view.Rollout) error {
	name, what := rollout.Name, resource+"/"+rollout.Name
	switch rollout.Phase {
	case view.Complete, view.Staged:
		return nil
	case view.Progressing, view.Unobserved:
		return ended(codeTimedOut)
	case view.Halted:
		return failf("%s is halted: %s (see \"kubectl rollcall explain %s\"%s)", what, rollout.Why, name, wayBack(rollout))
	case view.Stuck:
		return failf("%s is stuck: %s (see \"kubectl rollcall explain %s\", %s)", what, rollout.Why, name, wayOut(rollout))
	case view.Paused:
		return failf("%s is paused: %s (let it go with \"kubectl rollcall resume %s\")", what, rollout.Why, name)
	case view.Waiting:
		return failf("%s waits for you: %s (delete them with \"kubectl delete pod\")", what, rollout.Why)
	default:
		return failf("%s is being deleted", what)
	}
}

// wayBack is what takes a halted update back; nothing if there is none, and the set is halted for another reason.
func wayBack(rollout view.Rollout) string {
	if rollout.Target.Name == rollout.Current.Name {
		return ""
	}
	return fmt.Sprintf(", go back with \"kubectl rollcall undo %s\"", rollout.Name)
}

// wayOut is what gets a stuck roll-out going. A broken pod that an undo has left outdated has to be deleted by hand.
func wayOut(rollout view.Rollout) string {
	for i := range rollout.Pods {
		if pod := &rollout.Pods[i]; pod.Name == rollout.Culprit && pod.Role == view.Outdated {
			return fmt.Sprintf("have it replaced with \"kubectl delete pod %s -n %s\"", pod.Name, rollout.Namespace)
		}
	}
	return fmt.Sprintf("go back with \"kubectl rollcall undo %s\"", rollout.Name)
}

// conclude is the last line of a roll-out that ended well.
func conclude(rollout view.Rollout) string {
	what := resource + "/" + rollout.Name
	if rollout.Phase == view.Staged {
		return fmt.Sprintf("%s is rolled out up to its partition: %s (go on with \"kubectl rollcall promote %s\")", what, rollout.Why, rollout.Name)
	}
	return fmt.Sprintf("%s is rolled out: %s", what, rollout.Why)
}
