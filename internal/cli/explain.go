package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	explanation "github.com/rollcall-dev/rollcall/internal/explain"
)

// explain answers why a set does not progress.
type explainVerb struct {
	*Program
	output string
}

func newExplainCommand(p *Program) *cobra.Command {
	e := &explainVerb{Program: p}
	command := &cobra.Command{
		Use:   "explain NAME",
		Short: "Say why a set does not progress, and what would help",
		Long: "Say in plain sentences whether a set progresses, and if not, why: what it waits for and since when, the state of the\n" +
			"pod's containers, what the scheduler, a quota or a claim has to do with it, the rule that holds it, and commands that\n" +
			"lead out of it. The first cause stands first.\n\n" +
			"The exit code is 0 whatever the answer is; \"kubectl rollcall status\" is for scripts.",
		Example: "  kubectl rollcall explain web\n\n" +
			"  # The codes of all causes, for a program\n" +
			"  kubectl rollcall explain web -o json | jq '.causes[].code'",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return e.run(command.Context(), args[0]) },
	}
	command.Flags().StringVarP(&e.output, "output", "o", "", "json prints the answer as JSON.")
	mustComplete(command, "output", oneOf(formatJSON))
	return command
}

func (e *explainVerb) run(ctx context.Context, argument string) error {
	if err := checkFormat(e.output, formatJSON); err != nil {
		return err
	}
	c, err := e.client()
	if err != nil {
		return err
	}
	set, err := e.readSet(ctx, c, argument)
	if err != nil {
		return err
	}
	question, err := e.inquire(ctx, c, set)
	if err != nil {
		return err
	}
	answer := explanation.Ask(question)
	if e.output == formatJSON {
		return writeJSON(e.Out, answer)
	}
	_, err = io.WriteString(e.Out, answer.Text(question.Observation.Now))
	return err
}

// writeJSON prints a value for programs.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
