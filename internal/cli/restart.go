package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// restartedAt is the annotation of the template by which kubectl, too, has pods restarted.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

func newRestartCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "restart NAME",
		Short: "Replace all pods, as the update strategy has it",
		Long: "Replace all pods of a set by pods of the same template, in the order and at the pace of its update strategy.\n" +
			"It is an update like any other: status follows it, undo takes it back.",
		Example:           "  kubectl rollcall restart web && kubectl rollcall status web",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE: func(command *cobra.Command, args []string) error {
			return p.restart(command.Context(), args[0])
		},
	}
}

func (p *Program) restart(ctx context.Context, argument string) error {
	c, set, err := p.open(ctx, argument)
	if err != nil {
		return err
	}
	annotations := map[string]string{restartedAt: p.Now().Format(time.RFC3339)}
	template := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	change := map[string]any{
		// The cause of the last change is not that of this one.
		"metadata": map[string]any{"annotations": map[string]any{changeCause: nil}},
		"spec":     map[string]any{"template": template},
	}
	if err := p.merge(ctx, c, set, change); err != nil {
		return err
	}
	p.said(set, "restarted%s", holdNote(set))
	return nil
}
