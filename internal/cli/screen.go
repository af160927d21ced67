package cli

import (
	"os"

	"golang.org/x/term"
)

// Screen is what is known of the terminal that output goes to. The zero value is no terminal: a pipe or a file.
type Screen struct {
	// IsTerminal: lines may be redrawn in place.
	IsTerminal bool
	// HasColor: the terminal shows colours, and the user wants them (https://no-color.org).
	HasColor bool
	// Size returns columns and rows at this moment; nil without a terminal.
	Size func() (columns, rows int)
}

func screenOf(out *os.File) Screen {
	descriptor := int(out.Fd())
	if !term.IsTerminal(descriptor) || os.Getenv("TERM") == "dumb" {
		return Screen{}
	}
	return Screen{
		IsTerminal: true,
		HasColor:   os.Getenv("NO_COLOR") == "",
		Size: func() (columns, rows int) {
			columns, rows, err := term.GetSize(descriptor)
			if err != nil || columns <= 0 || rows <= 0 {
				return defaultColumns, defaultRows
			}
			return columns, rows
		},
	}
}

// The size of a terminal that does not tell.
const (
	defaultColumns = 80
	defaultRows    = 24
)
