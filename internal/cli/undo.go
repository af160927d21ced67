package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// undo puts an earlier template back.
type undo struct {
	*Program
	toRevision int64
	dryRun     string
}

func newUndoCommand(p *Program) *cobra.Command {
	u := &undo{Program: p}
	command := &cobra.Command{
		Use:   "undo NAME",
		Short: "Go back to an earlier revision",
		Long: "Go back to the pod template of an earlier revision. During an update that is the current one, which was last rolled\n" +
			"out completely, and else the one before; --to-revision chooses another. The pods follow as the update strategy has it.\n\n" +
			"Only the template changes. Whoever applies the old manifest again, for example a GitOps tool, brings back the new one.",
		Example: "  kubectl rollcall undo web\n\n" +
			"  # See what would change\n" +
			"  kubectl rollcall undo web --to-revision=3 --dry-run",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return u.run(command.Context(), args[0]) },
	}
	command.Flags().Int64Var(&u.toRevision, "to-revision", 0, "Number of the revision to go back to, as history lists them.")
	addDryRun(command, &u.dryRun)
	mustComplete(command, "to-revision", p.completeRevisions)
	return command
}

func (u *undo) run(ctx context.Context, argument string) error {
	mode, err := parseDryRun(u.dryRun)
	if err != nil {
		return err
	}
	c, set, err := u.open(ctx, argument)
	if err != nil {
		return err
	}
	goal, err := u.goal(ctx, c, set)
	if err != nil {
		return err
	}
	to, err := sideOf(goal)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(to.template, &set.Spec.Template) {
		u.said(set, "is at the template of %s already", to.label)
		return nil
	}
	return u.restore(ctx, c, set, to, mode)
}

// goal is the revision to go back to.
func (u *undo) goal(ctx context.Context, c client.Reader, set *v1.StatefulSet) (*appsv1.ControllerRevision, error) {
	revisions, err := readRevisions(ctx, c, set)
	if err != nil {
		return nil, err
	}
	if u.toRevision != 0 {
		return findRevision(set, revisions, strconv.FormatInt(u.toRevision, 10))
	}
	if goal := previous(set, revisions); goal != nil {
		return goal, nil
	}
	return nil, failf("%s/%s has no earlier revision to go back to", resource, set.Name)
}

func (u *undo) restore(ctx context.Context, c client.Client, set *v1.StatefulSet, to side, mode dryRun) error {
	if mode != dryRunNone {
		if err := u.preview(set, to); err != nil {
			return err
		}
	}
	if mode != dryRunClient {
		changes := append(causeChange(set, to.cause), operation{"replace", "/spec/template", to.template})
		if err := u.edit(ctx, c, set, mode, changes...); err != nil {
			return err
		}
	}
	u.said(set, "rolled back to %s%s%s", to.label, mode.suffix(), holdNote(set))
	return u.warn(ctx, c, set, to)
}

// preview shows what would change.
func (u *undo) preview(set *v1.StatefulSet, to side) error {
	difference, err := compare(side{label: "spec.template", template: &set.Spec.Template}, to)
	if err == nil {
		fmt.Fprint(u.Out, colorDiff(difference, u.palette()))
	}
	return err
}

// warn names a broken pod that the strategy waits for although the template is a good one again: plain RollingUpdate does.
func (u *undo) warn(ctx context.Context, c client.Reader, set *v1.StatefulSet, to side) error {
	observation, err := u.observe(ctx, c, set)
	if err != nil {
		return err
	}
	after := set.DeepCopy()
	after.Spec.Template = *to.template
	observation.Set = after
	if pod := view.Obstacle(observation); pod != "" {
		fmt.Fprintf(u.ErrOut, "Pod %s is broken, and the strategy %s waits for it to become ready: let it be replaced with \"kubectl delete pod %[1]s -n %[3]s\"\n",
			pod, set.Spec.UpdateStrategy.Type, set.Namespace)
	}
	return nil
}
