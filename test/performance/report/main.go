// The program report writes the figures of runs into docs/performance.md: what
// stands there between "begin" and "end" comments is made from the JSON that
// `make bench` and `make bench-curve` leave, the text around it is not touched.
//
//	go run ./test/performance/report -to docs dist/performance.json dist/performance-curve.json
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rollcall-dev/rollcall/test/performance/result"
)

func main() {
	to := flag.String("to", "docs", "folder with performance.md; figures and plot go beside it")
	flag.Parse()
	if err := report(flag.Args(), *to); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func report(from []string, to string) error {
	runs, err := read(from)
	if err != nil {
		return err
	}
	page := filepath.Join(to, "performance.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	filled, err := fill(string(text), blocks(runs))
	if err != nil {
		return fmt.Errorf("filling in %s: %w", page, err)
	}
	if err := os.WriteFile(page, []byte(filled), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	plot := filepath.Join(to, "performance.svg")
	if err := os.WriteFile(plot, []byte(draw(result.Join(runs))), 0o644); err != nil {
		return fmt.Errorf("writing the plot: %w", err)
	}
	return result.Join(runs).Write(filepath.Join(to, "performance.json"))
}

func read(paths []string) ([]*result.Run, error) {
	if len(paths) == 0 {
		return nil, errors.New("name the files with figures that `make bench` and `make bench-curve` wrote")
	}
	var runs []*result.Run
	for _, path := range paths {
		run, err := result.Read(path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

var block = regexp.MustCompile(`(?s)(<!-- begin: ([a-z-]+) -->\n).*?(<!-- end -->)`)

// fill puts blocks in their places. Each must have one, and each place its block.
func fill(page string, texts map[string]string) (string, error) {
	used := map[string]bool{}
	var unknown []string
	filled := block.ReplaceAllStringFunc(page, func(found string) string {
		parts := block.FindStringSubmatch(found)
		text, ok := texts[parts[2]]
		if !ok {
			unknown = append(unknown, parts[2])
		}
		used[parts[2]] = true
		return parts[1] + strings.TrimRight(text, "\n") + "\n" + parts[3]
	})
	for name := range texts {
		if !used[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return "", fmt.Errorf("blocks and places do not match: %v", unknown)
	}
	return filled, nil
}
