// The program performance measures how fast Rollcall is and what it costs, side
// by side with the built-in StatefulSet controller and with a driver that does
// just the same deletes and creates.
//
//	go run ./test/performance                      # the comparison, as `make bench`
//	go run ./test/performance -suite curve         # more sizes, as `make bench-curve`
//	go run ./test/performance -only '1 x 10' -rounds 1
//
// It prints a table, holds the figures against the targets of the scenarios, and
// writes everything down as JSON. It fails when a target is missed or a promise
// of order or budget was broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/test/performance/play"
	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
	"github.com/rollcall-dev/rollcall/test/performance/stage"
)

// nodes hold the largest scenario: the simulator's nodes take 250 pods each.
const nodes = 24

// options are the command line.
type options struct {
	suite  string
	only   string
	rounds int
	out    string
	pprof  string
	by     string
	keep   string
}

func main() {
	var o options
	flag.StringVar(&o.suite, "suite", string(scenarios.Comparison), "scenarios to play: comparison or curve")
	flag.StringVar(&o.only, "only", "", "play only scenarios whose name matches this regular expression")
	flag.IntVar(&o.rounds, "rounds", 0, "play every scenario so often, whatever it says itself")
	flag.StringVar(&o.out, "out", "performance.json", "file that the figures go to")
	flag.StringVar(&o.by, "by", "", "have only this contestant play: built-in, rollcall or floor")
	flag.StringVar(&o.pprof, "pprof", "", "address at which our controller serves profiles while it plays, as 127.0.0.1:6060")
	flag.StringVar(&o.keep, "keep", "", "folder in which audit log, logs and (while it runs) a kubeconfig of the control plane stay behind")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if err := bench(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}

// bench plays the chosen scenarios, reports, and returns an error if something is not as it should be.
func bench(ctx context.Context, o options, out io.Writer) error {
	chosen, err := choose(o)
	if err != nil {
		return err
	}
	run, err := playAll(ctx, chosen, stage.Settings{Nodes: nodes, Pprof: o.pprof, Keep: o.keep})
	if run == nil {
		return err
	}
	return errors.Join(err, report(run, o.out, out))
}

// report writes down what was measured and prints it.
func report(run *result.Run, path string, out io.Writer) error {
	if err := run.Write(path); err != nil {
		return err
	}
	if err := run.Print(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%.0f s in all; the figures are in %s\n", run.Seconds, path)
	return check(run)
}

// check fails for broken promises and missed targets.
func check(run *result.Run) error {
	missed := 0
	for _, verdict := range run.Verdicts() {
		if verdict.Standing == result.Missed {
			missed++
		}
	}
	if broken := len(run.Violations()); broken+missed > 0 {
		return fmt.Errorf("%d targets were missed and %d promises broken", missed, broken)
	}
	return nil
}

func choose(o options) ([]scenarios.Scenario, error) {
	pattern, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("reading -only: %w", err)
	}
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	var chosen []scenarios.Scenario
	for _, scenario := range all {
		if string(scenario.Suite) != o.suite || !pattern.MatchString(scenario.Name) {
			continue
		}
		if o.rounds > 0 {
			scenario.Rounds, scenario.FloorRounds = o.rounds, o.rounds
		}
		if o.by != "" {
			scenario.Contestants = []scenarios.Contestant{scenarios.Contestant(o.by)}
		}
		chosen = append(chosen, scenario)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no scenario of suite %q matches %q", o.suite, o.only)
	}
	return chosen, nil
}

// playAll plays scenarios on one stage. Whatever happens, it returns what was measured until then.
func playAll(ctx context.Context, chosen []scenarios.Scenario, settings stage.Settings) (*result.Run, error) {
	start := time.Now()
	load, err := stage.Load()
	if err != nil {
		return nil, err
	}
	on, err := stage.Build(settings)
	if err != nil {
		return nil, err
	}
	run := &result.Run{Suite: chosen[0].Suite, Scenarios: chosen, Machine: result.Machine{
		Cores: runtime.NumCPU(), Go: runtime.Version(), Date: start.UTC().Format(time.DateOnly), Load: load,
	}}
	for _, scenario := range chosen {
		if err = playRounds(ctx, on, scenario, run, start); err != nil {
			break
		}
	}
	run.Seconds = time.Since(start).Seconds()
	return run, errors.Join(err, on.Strike())
}

// playRounds plays one scenario, contestants taking turns.
func playRounds(ctx context.Context, on *stage.Stage, scenario scenarios.Scenario, run *result.Run, start time.Time) error {
	for round := range scenario.Rounds {
		for _, contestant := range scenario.Turns(round) {
			fmt.Fprintf(os.Stderr, "%4.0f s  %s, round %d, %s\n", time.Since(start).Seconds(), scenario.Name, round+1, contestant)
			samples, err := play.Play(ctx, on, scenario, contestant, round)
			run.Samples = append(run.Samples, samples...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
