package cli

import (
	"strings"
	"unicode/utf8"
)

// cell is a text of a table with its colour. The text itself has none, so that it can be measured.
type cell struct {
	text  string
	color color
}

func text(s string) cell { return cell{text: s} }

// table is rows of cells; the first row is the heading.
type table [][]cell

// lines lays the table out, two spaces between columns, and cuts what is too wide. Zero columns are endless.
func (t table) lines(columns int, paint palette) []string {
	widths := t.widths()
	lines := make([]string, 0, len(t))
	for _, row := range t {
		lines = append(lines, layOut(row, widths, columns, paint))
	}
	return lines
}

func (t table) widths() []int {
	var widths []int
	for _, row := range t {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

func layOut(row []cell, widths []int, columns int, paint palette) string {
	var line strings.Builder
	used := 0
	for i, c := range row {
		words := c.text
		if i < len(row)-1 {
			words = pad(words, widths[i]) + "  "
		}
		if columns > 0 {
			words = fit(words, max(0, columns-used))
			if columns == used {
				break
			}
		}
		used += utf8.RuneCountInString(words)
		line.WriteString(paint.paint(c.color, words))
	}
	return trimRight(line.String())
}

// trimRight drops spaces at the end of a line that has no colour there.
func trimRight(line string) string { return strings.TrimRight(line, " ") }
