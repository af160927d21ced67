package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// history lists the revisions of a set, or shows one.
type history struct {
	*Program
	revision int64
	output   string
}

func newHistoryCommand(p *Program) *cobra.Command {
	h := &history{Program: p}
	command := &cobra.Command{
		Use:   "history NAME",
		Short: "List the revisions of a set, and which pods run them",
		Long: "List the revisions of a set: which is current and which the target of an update, which pods run them, and why they were\n" +
			"made, as far as somebody wrote it into the annotation kubernetes.io/change-cause together with the change.",
		Example: "  kubectl rollcall history web\n\n" +
			"  # The pod template of one revision\n" +
			"  kubectl rollcall history web --revision=3 -o yaml",
		Args:              exactly("NAME"),
		ValidArgsFunction: p.completeSets,
		RunE:              func(command *cobra.Command, args []string) error { return h.run(command.Context(), args[0]) },
	}
	command.Flags().Int64Var(&h.revision, "revision", 0, "Show this revision, with its pod template.")
	command.Flags().StringVarP(&h.output, "output", "o", "", "json or yaml.")
	mustComplete(command, "revision", p.completeRevisions)
	mustComplete(command, "output", oneOf(formatJSON, formatYAML))
	return command
}

func (h *history) run(ctx context.Context, argument string) error {
	if err := checkFormat(h.output, formatJSON, formatYAML); err != nil {
		return err
	}
	c, set, err := h.open(ctx, argument)
	if err != nil {
		return err
	}
	observation, err := h.observe(ctx, c, set)
	if err != nil {
		return err
	}
	rollout := view.Of(observation)
	switch {
	case h.revision != 0:
		return h.showOne(ctx, c, set, rollout)
	case h.output != "":
		return write(h.Out, h.output, rollout.Revisions)
	case len(rollout.Revisions) == 0:
		return failf("%s/%s has no revisions yet: the operator has not seen it; is it running?", resource, set.Name)
	}
	for _, line := range historyTable(rollout).lines(h.columns(), h.palette()) {
		fmt.Fprintln(h.Out, line)
	}
	return nil
}

// historyTable lists the revisions, the newest last, where the eye is.
func historyTable(rollout view.Rollout) table {
	rows := table{{text("REVISION"), text("NAME"), text("STATE"), text("AGE"), text("PODS"), text("IMAGES"), text("CHANGE-CAUSE")}}
	for _, entry := range rollout.Revisions {
		rows = append(rows, []cell{
			text(strconv.FormatInt(entry.Number, 10)), text(entry.Name),
			{stateOf(entry), colorOfRevision(entry)},
			text(age(entry.Created, rollout.Now)), text(podsWord(rollout.Name, entry.Pods)),
			text(strings.Join(entry.Images, ",")), text(orNone(entry.Cause)),
		})
	}
	return rows
}

// stateOf says what a revision is to the set.
func stateOf(entry view.Revision) string {
	switch {
	case entry.IsTarget && entry.IsCurrent:
		return "rolled out"
	case entry.IsTarget:
		return "target"
	case entry.IsCurrent:
		return "current"
	default:
		return "-"
	}
}

func colorOfRevision(entry view.Revision) color {
	switch {
	case entry.IsTarget && entry.IsCurrent:
		return green
	case entry.IsTarget:
		return yellow
	default:
		return plain
	}
}

// podsWord counts pods and names their ordinals: "4 (0-2,5)".
func podsWord(set string, pods []string) string {
	if len(pods) == 0 {
		return "-"
	}
	var ranges []string
	first, last := -2, -2
	flush := func() {
		switch {
		case first < 0:
		case first == last:
			ranges = append(ranges, strconv.Itoa(first))
		default:
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		}
	}
	for _, pod := range pods { // by ordinal
		number, _ := ordinal.Parse(set, pod)
		if number != last+1 {
			flush()
			first = number
		}
		last = number
	}
	flush()
	return fmt.Sprintf("%d (%s)", len(pods), strings.Join(ranges, ","))
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

// revisionDetail is a revision with its template.
type revisionDetail struct {
	view.Revision
	Template *corev1.PodTemplateSpec `json:"template"`
}

// showOne shows a revision with its template.
func (h *history) showOne(ctx context.Context, c client.Reader, set *v1.StatefulSet, rollout view.Rollout) error {
	revisions, err := readRevisions(ctx, c, set)
	if err != nil {
		return err
	}
	stored, err := findRevision(set, revisions, strconv.FormatInt(h.revision, 10))
	if err != nil {
		return err
	}
	shown, err := sideOf(stored)
	if err != nil {
		return err
	}
	detail := revisionDetail{Template: shown.template}
	for _, entry := range rollout.Revisions {
		if entry.Name == stored.Name {
			detail.Revision = entry
		}
	}
	if h.output != "" {
		return write(h.Out, h.output, detail)
	}
	return h.describe(set, detail, rollout)
}

func (h *history) describe(set *v1.StatefulSet, detail revisionDetail, rollout view.Rollout) error {
	template, err := yaml.Marshal(detail.Template)
	if err != nil {
		return fmt.Errorf("writing the template of revision %d: %w", detail.Number, err)
	}
	h.said(set, "revision %s", detail.RevisionRef)
	rows := table{
		{text("State:"), text(stateOf(detail.Revision))},
		{text("Age:"), text(age(detail.Created, rollout.Now))},
		{text("Pods:"), text(podsWord(set.Name, detail.Pods))},
		{text("Change-Cause:"), text(orNone(detail.Cause))},
		{text("Template:")},
	}
	for _, line := range rows.lines(0, palette{}) {
		fmt.Fprintln(h.Out, line)
	}
	for line := range strings.Lines(string(template)) {
		fmt.Fprint(h.Out, "  "+line)
	}
	return nil
}

// write prints a value as JSON or YAML.
func write(out io.Writer, format string, value any) error {
	encoded, err := json.MarshalIndent(value, "", "  ")
	if err == nil && format == formatYAML {
		encoded, err = yaml.JSONToYAML(encoded)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", format, err)
	}
	_, err = fmt.Fprintln(out, strings.TrimRight(string(encoded), "\n"))
	return err
}
