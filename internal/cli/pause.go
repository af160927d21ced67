package cli

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

func newPauseCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "pause NAME",
		Short: "Hold an update back",
		Long: "Hold updates of a set back: no pod is taken down for one until it is resumed. Scaling and healing go on, and pods\n" +
			"that are lost come back.",
		Example:           "  kubectl rollcall pause web",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE: func(command *cobra.Command, args []string) error {
			return p.setPaused(command.Context(), args[0], true)
		},
	}
}

func newResumeCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:               "resume NAME",
		Short:             "Let a paused update go on",
		Long:              "Let a paused update go on. All edits that were made meanwhile are rolled out together.",
		Example:           "  kubectl rollcall resume web && kubectl rollcall status web",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE: func(command *cobra.Command, args []string) error {
			return p.setPaused(command.Context(), args[0], false)
		},
	}
}

func (p *Program) setPaused(ctx context.Context, argument string, isPaused bool) error {
	c, set, err := p.open(ctx, argument)
	if err != nil {
		return err
	}
	if set.Spec.Paused == isPaused {
		p.said(set, "%s already", pausedWord(isPaused))
		return nil
	}
	if err := p.merge(ctx, c, set, map[string]any{"spec": map[string]any{"paused": isPaused}}); err != nil {
		return err
	}
	p.said(set, "%s", pausedWord(isPaused))
	return nil
}

func pausedWord(isPaused bool) string {
	if isPaused {
		return "paused"
	}
	return "resumed"
}

// holdNote is what somebody should know who changed a template that is not rolled out by itself; "" if it is.
func holdNote(set *v1.StatefulSet) string {
	switch {
	case set.Spec.Paused:
		return "; it is paused, so nothing happens until \"kubectl rollcall resume " + set.Name + "\""
	case set.Spec.UpdateStrategy.Type == v1.OnDeleteStrategy:
		return "; its strategy is OnDelete, so each pod keeps its revision until you delete it"
	default:
		return ""
	}
}
