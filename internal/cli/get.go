package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// formatTree is for people, too: pods beneath revisions beneath sets.
const formatTree = "tree"

// get shows sets: one as a tree, several as a table.
type get struct {
	*Program
	isEverywhere bool
	watch        bool
	output       string
}

func newGetCommand(p *Program) *cobra.Command {
	g := &get{Program: p}
	command := &cobra.Command{
		Use:   "get [NAME]",
		Short: "Show sets, their revisions and pods",
		Long: "Show a set as a tree of its revisions in use and their pods, or without a name list all sets of the namespace.\n\n" +
			"With -w on a terminal this is a live view of the whole screen: arrows scroll, q ends it. Elsewhere -w prints a line\n" +
			"whenever a set has changed.",
		Example: "  # All sets of the cluster\n" +
			"  kubectl rollcall get -A\n\n" +
			"  # One set as a tree, live\n" +
			"  kubectl rollcall get web -w",
		Args:              between(0, "NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return g.run(command.Context(), args) },
	}
	flags := command.Flags()
	flags.BoolVarP(&g.isEverywhere, "all-namespaces", "A", false, "Show the sets of all namespaces.")
	flags.BoolVarP(&g.watch, "watch", "w", false, "Keep showing what changes.")
	flags.StringVarP(&g.output, "output", "o", "", "wide, tree, name, json or yaml.")
	mustComplete(command, "output", oneOf(formatWide, formatTree, formatName, formatJSON, formatYAML))
	return command
}

func (g *get) run(ctx context.Context, args []string) error {
	if err := g.check(args); err != nil {
		return err
	}
	c, err := g.client()
	if err != nil {
		return err
	}
	s, err := g.scope(ctx, c, args)
	if err != nil {
		return err
	}
	if g.watch {
		return g.follow(ctx, c, s)
	}
	rollouts, err := g.survey(ctx, c, s)
	if err != nil {
		return err
	}
	return g.print(rollouts, s)
}

// check refuses flags that don't go together.
func (g *get) check(args []string) error {
	switch {
	case g.isEverywhere && len(args) > 0:
		return failf("a set is looked for in one namespace: leave -A away and use -n NAMESPACE")
	case g.watch && g.output != "":
		return failf("-w is for people: leave -o %s away, or use \"kubectl get rsts -w -o %[1]s\"", g.output)
	default:
		return checkFormat(g.output, formatWide, formatTree, formatName, formatJSON, formatYAML)
	}
}

func (g *get) scope(ctx context.Context, c client.Reader, args []string) (scope, error) {
	if len(args) > 0 {
		set, err := g.readSet(ctx, c, args[0])
		if err != nil {
			return scope{}, err
		}
		return scope{namespace: set.Namespace, name: set.Name}, nil
	}
	if g.isEverywhere {
		return scope{}, nil
	}
	namespace, err := g.namespace()
	return scope{namespace: namespace}, err
}

func (g *get) print(rollouts []view.Rollout, s scope) error {
	switch {
	case (g.output == formatJSON || g.output == formatYAML) && s.name != "" && len(rollouts) == 1:
		return write(g.Out, g.output, rollouts[0])
	case g.output == formatJSON || g.output == formatYAML:
		return write(g.Out, g.output, map[string]any{"items": rollouts})
	case len(rollouts) == 0:
		fmt.Fprintf(g.ErrOut, "There are no sets of %s%s.\n", v1.GroupName, s.place())
		return nil
	case g.output == formatName:
		for i := range rollouts {
			fmt.Fprintf(g.Out, "%s/%s\n", resource, rollouts[i].Name)
		}
		return nil
	}
	rows := g.summary(rollouts)
	if g.output == formatTree || (g.output == "" && s.name != "") {
		rows = forest(rollouts, s.namespace == "")
	}
	for _, line := range rows.lines(g.columns(), g.palette()) {
		fmt.Fprintln(g.Out, line)
	}
	return nil
}

// place says where was looked, to be put behind a sentence.
func (s scope) place() string {
	if s.namespace == "" {
		return ""
	}
	return " in namespace " + s.namespace
}

// forest puts trees into one table.
func forest(rollouts []view.Rollout, isEverywhere bool) table {
	rows := table{treeHeading()}
	for i := range rollouts {
		grown := tree(rollouts[i])
		if isEverywhere {
			grown[0][0].text = rollouts[i].Namespace + "/" + grown[0][0].text
		}
		rows = append(rows, grown...)
	}
	return rows
}

// summary lists sets, one to a row.
func (g *get) summary(rollouts []view.Rollout) table {
	heading := []cell{text("NAME"), text("STATE"), text("READY"), text("UPDATED"), text("AVAILABLE"), text("REVISION"), text("STRATEGY"), text("AGE")}
	if g.isEverywhere {
		heading = append([]cell{text("NAMESPACE")}, heading...)
	}
	if g.output == formatWide {
		heading = append(heading, text("IMAGES"), text("WHY"))
	}
	rows := table{heading}
	for i := range rollouts {
		rows = append(rows, g.summaryRow(rollouts[i]))
	}
	return rows
}

func (g *get) summaryRow(r view.Rollout) []cell {
	row := []cell{
		text(r.Name),
		{string(r.Phase), colorOfPhase(r.Phase)},
		text(fmt.Sprintf("%d/%d", r.Ready, r.Replicas)),
		text(fmt.Sprint(r.Updated)), text(fmt.Sprint(r.Available)), text(revisionPath(r)), text(string(r.Strategy)), text(age(r.Created, r.Now)),
	}
	if g.isEverywhere {
		row = append([]cell{text(r.Namespace)}, row...)
	}
	if g.output == formatWide {
		row = append(row, text(targetImages(r)), text(r.Why))
	}
	return row
}

// revisionPath is "3", or "2 -> 3" during an update.
func revisionPath(r view.Rollout) string {
	if r.Current.Name == r.Target.Name {
		return fmt.Sprint(r.Target.Number)
	}
	return fmt.Sprintf("%d -> %d", r.Current.Number, r.Target.Number)
}

func targetImages(r view.Rollout) string {
	for i := range r.Revisions {
		if r.Revisions[i].IsTarget {
			return strings.Join(r.Revisions[i].Images, ",")
		}
	}
	return "-"
}
