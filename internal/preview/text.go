package preview

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Text writes the preview for people.
func (p Preview) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "statefulset.apps.rollcall.dev/%s: %s.\n", p.Name, p.headline())
	fmt.Fprintf(&b, "%s.\n", p.manner())
	if len(p.Steps) > 0 {
		b.WriteString("\n")
		p.writeSteps(&b)
	}
	b.WriteString("\n")
	p.writeFigures(&b)
	p.writeTrouble(&b)
	for _, assumption := range p.Assumptions {
		fmt.Fprintf(&b, "Assumed: %s.\n", assumption)
	}
	return b.String()
}

// headline says what becomes of the pods, in a sentence.
func (p Preview) headline() string {
	var parts []string
	for _, part := range []struct {
		count int
		verb  string
	}{{p.Replaced, "replaced"}, {p.Created, "created"}, {p.Removed, "removed"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%s would be %s", countPods(part.count), part.verb))
		}
	}
	if len(parts) == 0 {
		return "no pod would be created, restarted or removed"
	}
	return strings.Join(parts, ", ")
}

// manner says by which rules.
func (p Preview) manner() string {
	text := fmt.Sprintf("Strategy %s, pods %s", p.Strategy, p.Policy)
	if p.Strategy == v1.RollingUpdateStrategy || p.Strategy == v1.EnforcedRollingUpdateStrategy {
		text += fmt.Sprintf(", at most %d unavailable at a time", p.Budget)
	}
	text += ", target revision " + p.Revision
	if p.IsNewRevision {
		text += " (new)"
	}
	return text
}

func (p Preview) writeSteps(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AFTER\tSTEP\tWHY")
	for _, step := range p.Steps {
		fmt.Fprintf(table, "%s\t%s\t%s\n", seconds(step.After), step.Action, step.Reason)
	}
	_ = table.Flush() // a strings.Builder takes everything
}

func (p Preview) writeFigures(b *strings.Builder) {
	fmt.Fprintf(b, "In the end: %s.\n", p.ending())
	if p.Duration > 0 {
		fmt.Fprintf(b, "Until then: about %s.\n", seconds(p.Duration))
	}
	switch {
	case p.Down.Most > 0:
		fmt.Fprintf(b, "Down at the same time: at most %s of %d.\n", countPods(p.Down.Most), p.Replicas)
	case p.Replicas > 0:
		fmt.Fprintln(b, "No pod that serves goes down.")
	}
	if p.Down.Pod != "" {
		fmt.Fprintf(b, "Down for the longest time: %s, about %s.\n", p.Down.Pod, seconds(p.Down.Longest))
	}
	if len(p.Down.ForGood) > 0 {
		fmt.Fprintf(b, "Down and not coming back: %s.\n", strings.Join(p.Down.ForGood, ", "))
	}
}

// ending is the outcome in words.
func (p Preview) ending() string {
	switch p.Outcome {
	case Unchanged:
		return "nothing is different; " + p.Controller
	case Stuck:
		return "it GETS STUCK; " + p.Controller
	default:
		return fmt.Sprintf("%s; %s", p.Outcome, p.Controller)
	}
}

// writeTrouble says why it would get stuck.
func (p Preview) writeTrouble(b *strings.Builder) {
	if p.Outcome != Stuck {
		return
	}
	for _, cause := range p.Causes {
		fmt.Fprintf(b, "Because: %s.\n", cause)
	}
	if p.Rule != "" {
		fmt.Fprintf(b, "Rule: %s.\n", p.Rule)
	}
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

func countPods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
