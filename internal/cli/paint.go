package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/view"
)

// color is an escape sequence of terminals. Colours only repeat what the text says.
type color string

const (
	green  color = "\x1b[32m"
	yellow color = "\x1b[33m"
	red    color = "\x1b[31m"
	cyan   color = "\x1b[36m"
	bold   color = "\x1b[1m"
	dim    color = "\x1b[2m"
	plain  color = ""

	colorsOff = "\x1b[0m"
)

// palette paints, or does not.
type palette struct{ hasColor bool }

func (p palette) paint(c color, text string) string {
	if !p.hasColor || c == plain || text == "" {
		return text
	}
	return string(c) + text + colorsOff
}

// colorOfPhase: green is done, red needs somebody, yellow goes on.
func colorOfPhase(phase view.Phase) color {
	switch phase {
	case view.Complete, view.Staged:
		return green
	case view.Halted, view.Stuck, view.Deleting:
		return red
	default:
		return yellow
	}
}

// colorOfPod: as with phases; what is outdated and fine is dim.
func colorOfPod(pod view.Pod) color {
	switch {
	case pod.IsAvailable && pod.Role == view.Outdated:
		return dim
	case pod.IsAvailable:
		return green
	case isTroubleWord(pod):
		return red
	default:
		return yellow
	}
}

// isTroubleWord tells whether the reason is more than a stage that every pod goes through.
func isTroubleWord(pod view.Pod) bool {
	return pod.State == "failed" || pod.Role == view.Stranger || strings.Contains(pod.Reason, ":")
}

// fit cuts a text so that it takes at most so many columns.
func fit(text string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}

// left is how many columns are left; zero columns are endless.
func left(columns, used int) int {
	if columns <= 0 {
		return columns
	}
	return max(1, columns-used)
}

// wrap breaks a text into lines of at most so many columns, at spaces; what follows the first is indented. Zero columns are
// endless.
func wrap(text string, columns int, tint color, paint palette) []string {
	const indented = "  "
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		if line != "" && columns > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines = append(lines, line)
			line = indented + word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = paint.paint(tint, fit(lines[i], columns))
	}
	return lines
}

// pad fills a text up with spaces.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-utf8.RuneCountInString(text)))
}
