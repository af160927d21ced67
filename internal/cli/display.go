package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/rollcall-dev/rollcall/internal/view"
)

// display shows a roll-out while it is followed.
type display interface {
	// show shows how it is now. lost is why the API server can't be reached, if so: what is shown is old then.
	show(rollout view.Rollout, lost error)
	// finish leaves the place to what is printed next.
	finish()
}

func (s *status) newDisplay() display {
	switch {
	case s.output != "":
		return noDisplay{}
	case s.Screen.IsTerminal:
		return &liveDisplay{out: s.Out, screen: s.Screen, paint: s.palette()}
	default:
		return &lineDisplay{out: s.Out}
	}
}

func (p *Program) palette() palette { return palette{hasColor: p.Screen.HasColor} }

// columns is the width of the terminal, 0 without one: nothing is cut then.
func (p *Program) columns() int {
	if p.Screen.Size == nil {
		return 0
	}
	columns, _ := p.Screen.Size()
	return columns
}

// noDisplay shows nothing.
type noDisplay struct{}

func (noDisplay) show(view.Rollout, error) {}
func (noDisplay) finish()                  {}

// lineDisplay prints a line for each change.
type lineDisplay struct {
	out  io.Writer
	last string
}

func (d *lineDisplay) show(rollout view.Rollout, lost error) {
	line := progressLine(rollout)
	if lost != nil {
		line = "no answer from the API server, trying again"
	}
	if line != "" && line != d.last {
		fmt.Fprintln(d.out, line)
		d.last = line
	}
}

func (*lineDisplay) finish() {}

// progressLine says how far a roll-out is; "" when it is over, for then more is said.
func progressLine(rollout view.Rollout) string {
	if !isPending(rollout) {
		return ""
	}
	return fmt.Sprintf("%s: %s", progress(rollout), rollout.Why)
}

// progress is the roll-out in numbers.
func progress(rollout view.Rollout) string {
	text := fmt.Sprintf("%d of %d pods updated and available", rollout.Done, rollout.Reached)
	if rollout.Partition > 0 {
		text += fmt.Sprintf(" (partition %d of %d)", rollout.Partition, rollout.Replicas)
	}
	return text
}

// liveDisplay draws over what it drew before.
type liveDisplay struct {
	out    io.Writer
	screen Screen
	paint  palette
	drawn  int
}

// Sequences that terminals understand: one line up, and wipe from here to the end.
const (
	lineUp = "\x1b[1A"
	wipe   = "\r\x1b[J"
)

func (d *liveDisplay) show(rollout view.Rollout, lost error) {
	columns, rows := d.screen.Size()
	lines := drawStatus(rollout, columns, d.paint)
	if lost != nil {
		lines = append(lines, d.paint.paint(red, fit("no answer from the API server, trying again", columns)))
	}
	lines = shorten(lines, rows-1)
	fmt.Fprint(d.out, strings.Repeat(lineUp, d.drawn)+wipe+strings.Join(lines, "\n")+"\n")
	d.drawn = len(lines)
}

func (*liveDisplay) finish() {}

// shorten leaves as many lines as there is room for. The first ones say most.
func shorten(lines []string, rows int) []string {
	if len(lines) <= rows || rows < 2 {
		return lines
	}
	kept := lines[:rows-1]
	return append(kept[:len(kept):len(kept)], fmt.Sprintf("  … and %d more", len(lines)-len(kept)))
}

// barWidth is how wide a bar is drawn.
const barWidth = 30

// drawStatus draws a roll-out: what it is, how far it is, why, and its pods by ordinal.
func drawStatus(rollout view.Rollout, columns int, paint palette) []string {
	tint := colorOfPhase(rollout.Phase)
	lines := wrap(headline(rollout), columns, bold, paint)
	lines = append(lines, bar(rollout.Done, rollout.Reached, paint, tint)+" "+fit(progress(rollout), left(columns, barWidth+3)))
	lines = append(lines, wrap(string(rollout.Phase)+": "+rollout.Why, columns, tint, paint)...)
	return append(lines, podTable(rollout).lines(columns, paint)...)
}

// headline names the set, its strategy, and where the roll-out leads.
func headline(rollout view.Rollout) string {
	text := fmt.Sprintf("%s/%s  %s", resource, rollout.Name, rollout.Strategy)
	if rollout.IsPaused {
		text += ", paused"
	}
	if rollout.Current.Name == rollout.Target.Name {
		return text + ", revision " + rollout.Target.String()
	}
	return text + ", revision " + rollout.Current.String() + " -> " + rollout.Target.String()
}

// bar is a picture of a fraction.
func bar(done, total int, paint palette, tint color) string {
	filled := barWidth
	if total > 0 {
		filled = min(barWidth, barWidth*done/total)
	}
	return "[" + paint.paint(tint, strings.Repeat("#", filled)) + strings.Repeat("-", barWidth-filled) + "]"
}

// podTable lists the pods.
func podTable(rollout view.Rollout) table {
	rows := table{{text("  POD"), text("REVISION"), text("STATE"), text("RESTARTS"), text("AGE"), text("REASON")}}
	for i := range rollout.Pods {
		pod := rollout.Pods[i]
		rows = append(rows, []cell{
			text("  " + pod.Name),
			{revisionWord(pod), colorOfRole(pod.Role)},
			{pod.State, colorOfPod(pod)},
			text(restartsWord(pod)), text(age(pod.Created, rollout.Now)), text(pod.Reason),
		})
	}
	return rows
}

// revisionWord is the revision's number and what that means to the update.
func revisionWord(pod view.Pod) string {
	number := fmt.Sprint(pod.Revision.Number)
	switch {
	case pod.State == "missing":
		return "-"
	case pod.Revision.Number == 0:
		number = pod.Revision.Name
	}
	if pod.Role == view.Target {
		return number
	}
	return number + " " + string(pod.Role)
}

func colorOfRole(role view.Role) color {
	switch role {
	case view.Outdated, view.Condemned:
		return dim
	case view.Stranger:
		return red
	default:
		return plain
	}
}

func restartsWord(pod view.Pod) string {
	if pod.State == "missing" {
		return "-"
	}
	return fmt.Sprint(pod.Restarts)
}

// age says how long ago something was, in one unit or two.
func age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(since))
}
