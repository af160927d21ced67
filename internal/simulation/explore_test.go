package simulation

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	depth     = flag.String("profile", "quick", "what to explore: quick, deep (ten minutes) or wide (hours)")
	journal   = flag.String("journal", "", "file that keeps what has been explored, so that it can be resumed")
	maxStates = flag.Int("max-states", 5_000_000, "how many states one scenario may have")
	seed      = flag.Uint64("seed", 1, "seed of the first random walk")
	walkCount = flag.Int("walks", 1, "random walks per scenario")
	walkSteps = flag.Int("steps", 5000, "steps of a random walk")
	isFirst   = flag.Bool("first", false, "stop everything at the first violation, as hack/mutants does")
	traceFile = flag.String("trace", "", "trace to replay with -run TestReplay -v")
)

// TestExplore explores every scenario of the profile, to the end.
func TestExplore(t *testing.T) {
	profiles, isKnown := map[string][]profile{"quick": quick, "deep": deep, "wide": wide}[*depth]
	if !isKnown {
		t.Fatalf("there is no profile %q", *depth)
	}
	for _, p := range profiles {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			scenarios, err := p.scenarios()
			if err != nil {
				t.Fatal(err)
			}
			for _, scenario := range scenarios {
				explore(t, scenario)
			}
		})
	}
}

// explore explores one scenario, unless the journal has it.
func explore(t *testing.T, scenario *Scenario) {
	t.Helper()
	if isInJournal(t, scenario) {
		return
	}
	start := time.Now()
	report, err := Explore(scenario, *maxStates)
	if err != nil {
		leaveIfFirst(err)
		t.Fatal(err)
	}
	t.Logf("%d states, %d transitions, depth %d, %s: %s",
		report.States, report.Transitions, report.Depth, time.Since(start).Round(time.Millisecond), scenario.Setup)
	switch {
	case report.Counterexample != nil:
		leaveIfFirst(report.Counterexample.Violation)
		t.Error(tell(*report.Counterexample))
	case !report.IsComplete:
		t.Errorf("not explored to the end: %s", scenario)
	default:
		addToJournal(t, scenario, report, time.Since(start))
	}
}

// leaveIfFirst ends the process at the first violation, if that is all that is
// asked for: hack/mutants wants to know that there is one, and quickly.
func leaveIfFirst(violation error) {
	if *isFirst {
		fmt.Println("violation:", violation)
		os.Exit(1)
	}
}

// TestWalk takes random walks through big sets.
func TestWalk(t *testing.T) {
	for _, p := range walks {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			scenarios, err := p.scenarios()
			if err != nil {
				t.Fatal(err)
			}
			for _, scenario := range scenarios {
				for i := range *walkCount {
					walk(t, scenario, *seed+uint64(i))
				}
			}
		})
	}
}

func walk(t *testing.T, scenario *Scenario, seed uint64) {
	t.Helper()
	report, err := Walk(scenario, seed, *walkSteps)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %d steps, %d edits, %d mishaps, %d faults: %s",
		seed, report.Transitions, report.Edits, report.Mishaps, report.Faults, scenario.Setup)
	if report.Counterexample != nil {
		t.Errorf("seed %d: %s", seed, tell(*report.Counterexample))
	}
}

// TestReplay replays a trace from a file and tells what happens in it.
func TestReplay(t *testing.T) {
	if *traceFile == "" {
		t.Skip("no -trace is given")
	}
	text, err := os.ReadFile(*traceFile)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := ParseTrace(string(text))
	if err != nil {
		t.Fatal(err)
	}
	_, violation, err := Replay(trace, func(transition *Transition) { t.Log(transition.Tell()) })
	if err != nil {
		t.Fatal(err)
	}
	if violation != nil {
		t.Error(violation)
	}
}

// tell shrinks a counterexample and says what it is and how to replay it.
func tell(found Counterexample) string {
	short := Shrink(found)
	var story strings.Builder
	_, _, err := Replay(short.Trace, func(t *Transition) { story.WriteString(t.Tell()) })
	if err != nil {
		fmt.Fprintf(&story, "the trace does not replay: %v\n", err)
	}
	return fmt.Sprintf("%v\n\ntrace, to be put into a file and replayed with\n"+
		"    go test ./internal/simulation -run TestReplay -v -trace FILE\n\n%s\nwhat happens in it:\n%s", short.Violation, short.Trace, story.String())
}

// isInJournal tells whether an earlier run explored the scenario to the end.
func isInJournal(t *testing.T, scenario *Scenario) bool {
	t.Helper()
	if *journal == "" {
		return false
	}
	text, err := os.ReadFile(*journal)
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("read the journal: %v", err)
	}
	return strings.Contains(string(text), entry(scenario))
}

// addToJournal notes that a scenario is done.
func addToJournal(t *testing.T, scenario *Scenario, report Report, took time.Duration) {
	t.Helper()
	if *journal == "" {
		return
	}
	file, err := os.OpenFile(*journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatalf("open the journal: %v", err)
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%s %d states, %d transitions, depth %d, %s\n",
		entry(scenario), report.States, report.Transitions, report.Depth, took.Round(time.Millisecond)); err != nil {
		t.Fatalf("write the journal: %v", err)
	}
}

// entry is the scenario on one line.
func entry(scenario *Scenario) string {
	return strings.ReplaceAll(strings.TrimSpace(scenario.String()), "\n", "; ") + " |"
}
