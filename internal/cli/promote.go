package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// promote lets a staged roll-out reach more pods.
type promote struct {
	*Program
	to, pods int
	isFull   bool
	isForced bool
	dryRun   string
}

func newPromoteCommand(p *Program) *cobra.Command {
	m := &promote{Program: p}
	command := &cobra.Command{
		Use:   "promote NAME",
		Short: "Let a canary or staged roll-out reach more pods",
		Long: "Let a staged roll-out reach more pods by lowering the partition: one more pod, so many more with --pods, all down to an\n" +
			"ordinal with --to, or all with --full. It works with RollingUpdate and EnforcedRollingUpdate.\n\n" +
			"While a pod that was updated already is broken, only --force goes on.",
		Example: "  # One pod as a canary, from the start\n" +
			"  kubectl patch rsts web --type=merge -p '{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":{\"partition\":4}}}}'\n" +
			"  kubectl rollcall set-image web web=web:2\n\n" +
			"  # Two more, and then the rest\n" +
			"  kubectl rollcall promote web --pods=2 && kubectl rollcall status web\n" +
			"  kubectl rollcall promote web --full && kubectl rollcall status web",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE: func(command *cobra.Command, args []string) error {
			return m.run(command.Context(), command.Flags(), args[0])
		},
	}
	flags := command.Flags()
	flags.IntVar(&m.to, "to", 0, "Update all pods from the highest ordinal down to this one.")
	flags.IntVar(&m.pods, "pods", 1, "Update so many more pods.")
	flags.BoolVar(&m.isFull, "full", false, "Update all pods.")
	flags.BoolVar(&m.isForced, "force", false, "Go on although a pod that was updated is broken.")
	addDryRun(command, &m.dryRun)
	return command
}

func (m *promote) run(ctx context.Context, flags *pflag.FlagSet, argument string) error {
	mode, err := parseDryRun(m.dryRun)
	if err != nil {
		return err
	}
	c, set, err := m.open(ctx, argument)
	if err != nil {
		return err
	}
	observation, err := m.observe(ctx, c, set)
	if err != nil {
		return err
	}
	rollout := view.Of(observation)
	if err := m.check(set, rollout); err != nil {
		return err
	}
	partition, err := m.goal(flags, set)
	if err != nil {
		return err
	}
	if mode != dryRunClient {
		if err := m.edit(ctx, c, set, mode, operation{"replace", partitionPath(set), partition}); err != nil {
			return err
		}
	}
	m.said(set, "promoted: %s%s%s", reach(set, partition, rollout.Target), mode.suffix(), holdNote(set))
	return nil
}

// check refuses what makes no sense or would do harm.
func (m *promote) check(set *v1.StatefulSet, rollout view.Rollout) error {
	what := resource + "/" + set.Name
	switch {
	case view.Tuning(set) == nil:
		return failf("%s has the strategy %s, which has no partition: there is nothing to promote", what, rollout.Strategy)
	case rollout.Phase == view.Deleting:
		return failf("%s is being deleted", what)
	case rollout.Partition == 0:
		return failf("%s has no partition, so its update reaches all pods: there is nothing to promote", what)
	case rollout.Phase == view.Unobserved:
		return failf("%s was changed just now and the operator has not seen it yet: repeat the command in a moment", what)
	case rollout.Target.Name == rollout.Current.Name:
		return failf("%s has no update to promote: all pods are at revision %s", what, rollout.Target)
	case !m.isForced && (rollout.Phase == view.Halted || rollout.Phase == view.Stuck):
		return failf("%s is not promoted: %s (correct it, or go on with --force)", what, rollout.Why)
	default:
		return nil
	}
}

// goal is the partition to set.
func (m *promote) goal(flags *pflag.FlagSet, set *v1.StatefulSet) (int, error) {
	slots := ordinal.RangeOf(set)
	now := min(int(*view.Tuning(set).Partition), slots.Count)
	switch {
	case count(flags.Changed("to"), flags.Changed("pods"), m.isFull) > 1:
		return 0, failf("--to, --pods and --full exclude each other: choose one of them")
	case m.isFull:
		return 0, nil
	case flags.Changed("to") && !slots.Contains(m.to):
		return 0, failf("--to=%d is no ordinal of %s/%s: it has %d to %d", m.to, resource, set.Name, slots.Start, slots.End()-1)
	case flags.Changed("to") && m.to-slots.Start >= now:
		return 0, failf("--to=%d promotes nobody: pods from ordinal %d up are reached already", m.to, slots.Start+now)
	case flags.Changed("to"):
		return m.to - slots.Start, nil
	case m.pods < 1:
		return 0, failf("--pods=%d promotes nobody: it must be 1 or more", m.pods)
	default:
		return max(0, now-m.pods), nil
	}
}

func partitionPath(set *v1.StatefulSet) string {
	if set.Spec.UpdateStrategy.Type == v1.EnforcedRollingUpdateStrategy {
		return "/spec/updateStrategy/enforcedRollingUpdate/partition"
	}
	return "/spec/updateStrategy/rollingUpdate/partition"
}

// reach says whom a partition lets through.
func reach(set *v1.StatefulSet, partition int, target view.RevisionRef) string {
	slots := ordinal.RangeOf(set)
	if partition == 0 {
		return fmt.Sprintf("all %d pods get revision %s", slots.Count, target)
	}
	return fmt.Sprintf("%d of %d pods get revision %s, from ordinal %d up", slots.Count-partition, slots.Count, target, slots.Start+partition)
}

// count tells how many of these are so.
func count(facts ...bool) int {
	n := 0
	for _, is := range facts {
		if is {
			n++
		}
	}
	return n
}
