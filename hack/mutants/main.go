// Command mutants shows that the model checker has teeth. It breaks the planner
// on purpose, one change at a time, and has internal/simulation explore each
// broken one: some property must not hold. It prints the table of
// docs/verification.md and fails if a mutant survives.
//
//	go run ./hack/mutants            all of them
//	go run ./hack/mutants -run wake  those whose names contain "wake"
//	go run ./hack/mutants -at-once 2 so many at a time
//
// The tree is left as it is: the go command is given the changed file as an overlay.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	filter := flag.String("run", "", "only mutants whose names contain this")
	atOnce := flag.Int("at-once", 1, "how many mutants are explored at the same time")
	flag.Parse()
	survivors, err := hunt(*filter, *atOnce)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	if survivors > 0 {
		fmt.Fprintf(os.Stderr, "mutants: %d survived\n", survivors)
		os.Exit(1)
	}
}

// fate is what became of a mutant.
type fate struct {
	mutant mutant
	// killer is the property that catches it, or nothing.
	killer string
	err    error
}

// hunt tries the mutants, so many at once, and returns how many survive.
func hunt(filter string, atOnce int) (survivors int, err error) {
	fmt.Println("| mutant | file | caught by |\n|---|---|---|")
	for fate := range fates(filter, atOnce) {
		f := <-fate
		if f.err != nil {
			return survivors, fmt.Errorf("mutant %q: %w", f.mutant.name, f.err)
		}
		if f.killer == "" {
			f.killer = "**nothing**"
			survivors++
		}
		fmt.Printf("| %s | %s | %s |\n", f.mutant.name, f.mutant.file, f.killer)
	}
	return survivors, nil
}

// fates yields what will have become of the mutants, in the order of the list.
func fates(filter string, atOnce int) <-chan chan fate {
	all, places := make(chan chan fate, len(mutants)), make(chan struct{}, atOnce)
	for _, m := range mutants {
		if !strings.Contains(m.name, filter) {
			continue
		}
		one := make(chan fate, 1)
		all <- one
		go func() {
			places <- struct{}{}
			defer func() { <-places }()
			killer, err := m.explore()
			one <- fate{m, killer, err}
		}()
	}
	close(all)
	return all
}

// explore returns the property that catches the mutant, or nothing.
func (m mutant) explore() (killer string, err error) {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", fmt.Errorf("make a folder for the changed file: %w", err)
	}
	defer os.RemoveAll(folder)
	overlay, err := m.overlay(folder)
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "test", "-vet=off", "-timeout=0", "-count=1", "-overlay", overlay, "-run", "TestExplore", "./internal/simulation", "-first")
	output, runErr := command.CombinedOutput()
	if runErr == nil {
		return "", nil
	}
	found := violation.FindSubmatch(output)
	if found == nil {
		return "", fmt.Errorf("the tests fail without a violation: %w\n%s", runErr, output)
	}
	return string(found[1]), nil
}

// violation is how the tests tell of one, be it on the way to where the search begins.
var violation = regexp.MustCompile(`(?m)^violation: (?:begin the scenario: )?([A-Z]\d+ [^:\n]+): `)

// overlay writes the changed file, and what tells the go command of it.
func (m mutant) overlay(folder string) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", m.file, err)
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("read the file to change, from the root of the repository: %w", err)
	}
	if n := strings.Count(string(source), m.from); n != 1 {
		return "", fmt.Errorf("%s has the text to change %d times: bring the list up to date", m.file, n)
	}
	changed := filepath.Join(folder, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), m.from, m.to, 1)), 0o600); err != nil {
		return "", fmt.Errorf("write the changed file: %w", err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return overlay, nil
}
