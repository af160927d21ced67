package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

func newDiffCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use:   "diff NAME [REVISION [REVISION]]",
		Short: "Show how the pod template changed",
		Long: "Show how the pod template changed, as a unified diff: from one revision to another, or to the template in spec. Without a\n" +
			"revision, from what was rolled out before: the current revision during an update, else the one before.",
		Example: "  # What does the update that is going on change?\n" +
			"  kubectl rollcall diff web\n\n" +
			"  # What would an undo to revision 3 take back?\n" +
			"  kubectl rollcall diff web 3\n\n" +
			"  kubectl rollcall diff web 3 5",
		Args: between(1, "NAME", "REVISION", "REVISION"),
		ValidArgsFunction: func(command *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return p.completeSets(command, args, word)
			}
			return p.completeRevisions(command, args, word)
		},
		RunE: func(command *cobra.Command, args []string) error {
			return p.diff(command.Context(), args[0], args[1:])
		},
	}
}

func (p *Program) diff(ctx context.Context, argument string, wanted []string) error {
	c, set, err := p.open(ctx, argument)
	if err != nil {
		return err
	}
	revisions, err := readRevisions(ctx, c, set)
	if err != nil {
		return err
	}
	from, to, err := sides(set, revisions, wanted)
	if err != nil {
		return err
	}
	difference, err := compare(from, to)
	if err != nil {
		return err
	}
	if difference == "" {
		fmt.Fprintf(p.ErrOut, "%s and %s are the same\n", from.label, to.label)
		return nil
	}
	fmt.Fprint(p.Out, colorDiff(difference, p.palette()))
	return nil
}

// side is one of the two templates that are compared.
type side struct {
	label    string
	template *corev1.PodTemplateSpec
	// cause is what somebody wrote as the reason for the change.
	cause string
}

// sides finds what is to be compared.
func sides(set *v1.StatefulSet, revisions []*appsv1.ControllerRevision, wanted []string) (from, to side, err error) {
	to = side{label: "spec.template", template: &set.Spec.Template}
	older := previous(set, revisions)
	if len(wanted) > 0 {
		older, err = findRevision(set, revisions, wanted[0])
	}
	if err == nil && older == nil {
		err = failf("%s/%s has no earlier revision to compare with", resource, set.Name)
	}
	if err == nil {
		from, err = sideOf(older)
	}
	if err == nil && len(wanted) > 1 {
		var newer *appsv1.ControllerRevision
		if newer, err = findRevision(set, revisions, wanted[1]); err == nil {
			to, err = sideOf(newer)
		}
	}
	return from, to, err
}

func sideOf(stored *appsv1.ControllerRevision) (side, error) {
	template, err := revision.Template(stored)
	label := fmt.Sprintf("revision %d (%s)", stored.Revision, stored.Name)
	return side{label: label, template: template, cause: stored.Annotations[changeCause]}, err
}

// previous is what an undo leads to: during an update the revision that was last rolled out completely, else the one before
// the newest. Nil if there is none.
func previous(set *v1.StatefulSet, sorted []*appsv1.ControllerRevision) *appsv1.ControllerRevision {
	if set.Status.CurrentRevision != set.Status.UpdateRevision {
		for _, stored := range sorted {
			if stored.Name == set.Status.CurrentRevision {
				return stored
			}
		}
	}
	if len(sorted) < 2 {
		return nil
	}
	return sorted[len(sorted)-2]
}

// findRevision finds a revision by its number, or its name.
func findRevision(set *v1.StatefulSet, sorted []*appsv1.ControllerRevision, wanted string) (*appsv1.ControllerRevision, error) {
	numbers := make([]string, 0, len(sorted))
	for _, stored := range sorted {
		number := strconv.FormatInt(stored.Revision, 10)
		if wanted == number || wanted == stored.Name {
			return stored, nil
		}
		numbers = append(numbers, number)
	}
	if len(numbers) == 0 {
		return nil, failf("%s/%s has no revisions yet: the operator has not seen it; is it running?", resource, set.Name)
	}
	return nil, failf("%s/%s has no revision %s: it has %s", resource, set.Name, wanted, strings.Join(numbers, ", "))
}

// compare returns the unified diff of two templates; "" if they are the same.
func compare(from, to side) (string, error) {
	before, err := yaml.Marshal(from.template)
	if err != nil {
		return "", fmt.Errorf("writing the template of %s: %w", from.label, err)
	}
	after, err := yaml.Marshal(to.template)
	if err != nil {
		return "", fmt.Errorf("writing the template of %s: %w", to.label, err)
	}
	return udiff.Unified(from.label, to.label, string(before), string(after)), nil
}

// colorDiff paints what was added and removed.
func colorDiff(difference string, paint palette) string {
	lines := strings.SplitAfter(difference, "\n")
	for i, line := range lines {
		body, end := strings.TrimSuffix(line, "\n"), ""
		if body != line {
			end = "\n"
		}
		lines[i] = paint.paint(colorOfLine(body), body) + end
	}
	return strings.Join(lines, "")
}

func colorOfLine(line string) color {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "+"):
		return green
	default:
		return plain
	}
}
