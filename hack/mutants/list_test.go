package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListIsUpToDate: every mistake can still be made, in one place.
func TestListIsUpToDate(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		source, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.from); n != 1 {
			t.Errorf("%s: %s has the text to change %d times", m.name, m.file, n)
		}
		if names[m.name] || m.from == m.to {
			t.Errorf("%s: the name is taken, or nothing is changed", m.name)
		}
		names[m.name] = true
	}
}
