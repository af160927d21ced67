// Package result is what was measured, and what follows from it: medians with
// their spread, ratios between contestants, and whether targets are met.
package result

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// The figures that are measured. Those per pod are divided by the pods that an act was about.
const (
	// Wall is seconds from the first edit to the last pod.
	Wall = "wall"
	// CPU is processor seconds of the controller, CPUPerPod milliseconds.
	CPU       = "cpu"
	CPUPerPod = "cpuPerPod"
	// APIServerCPU is processor seconds of kube-apiserver.
	APIServerCPU = "apiServerCPU"
	// Resident and Anonymous are the controller's memory at the end, in MiB.
	Resident  = "resident"
	Anonymous = "anonymous"
	// RequestsPerPod are all but watches; the next three are parts of it.
	RequestsPerPod     = "requestsPerPod"
	StatusWritesPerPod = "statusWritesPerPod"
	EventsPerPod       = "eventsPerPod"
	ReadsPerPod        = "readsPerPod"
	// ReactionMedian and ReactionP99 are milliseconds from a node's write to the controller's next.
	ReactionMedian = "reactionMedian"
	ReactionP99    = "reactionP99"
	// RestRequests are those in a time without edits.
	RestRequests = "restRequests"
	// Stuck is how many sets never reached the goal.
	Stuck = "stuck"
)

// Sample is one act, played once.
type Sample struct {
	Scenario   string               `json:"scenario"`
	Act        int                  `json:"act"`
	Contestant scenarios.Contestant `json:"contestant"`
	Round      int                  `json:"round"`
	// Pods is how many pods the act was about.
	Pods    int                `json:"pods"`
	Figures map[string]float64 `json:"figures"`
	// Requests counts requests by verb and resource.
	Requests map[string]int `json:"requests,omitempty"`
	// Violations are broken promises: an order or a budget that was not kept.
	Violations []string `json:"violations,omitempty"`
}

// Machine is where it was measured.
type Machine struct {
	Cores   int    `json:"cores"`
	Go      string `json:"go"`
	Version string `json:"version"`
	Date    string `json:"date"`
	// Load is the load average before the run began: what else the machine was busy with.
	Load float64 `json:"load"`
}

// Run is all that was measured in one go.
type Run struct {
	Suite   scenarios.Suite `json:"suite"`
	Machine Machine         `json:"machine"`
	// Seconds is how long it took.
	Seconds   float64              `json:"seconds"`
	Scenarios []scenarios.Scenario `json:"scenarios"`
	Samples   []Sample             `json:"samples"`
}

// Write writes a run down.
func (r *Run) Write(path string) error {
	content, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the figures: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}

// Read reads a run.
func Read(path string) (*Run, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading figures: %w", err)
	}
	run := &Run{}
	if err := json.Unmarshal(content, run); err != nil {
		return nil, fmt.Errorf("reading the figures in %s: %w", path, err)
	}
	return run, nil
}

// Join puts the scenarios of several runs into one table. Where and when it was measured is said of the first.
func Join(runs []*Run) *Run {
	joined := &Run{Suite: runs[0].Suite, Machine: runs[0].Machine, Seconds: runs[0].Seconds}
	for _, run := range runs {
		joined.Scenarios = append(joined.Scenarios, run.Scenarios...)
		joined.Samples = append(joined.Samples, run.Samples...)
	}
	return joined
}

// Spread is a figure over the rounds.
type Spread struct{ Median, Least, Most float64 }

// Spread returns a figure of a contestant in an act, and whether there is one.
func (r *Run) Spread(scenario string, act int, contestant scenarios.Contestant, figure string) (Spread, bool) {
	var values []float64
	for _, sample := range r.Samples {
		value, ok := sample.Figures[figure]
		if ok && sample.Scenario == scenario && sample.Act == act && sample.Contestant == contestant {
			values = append(values, value)
		}
	}
	return spreadOf(values)
}

func spreadOf(values []float64) (Spread, bool) {
	if len(values) == 0 {
		return Spread{}, false
	}
	slices.Sort(values)
	return Spread{Median: median(values), Least: values[0], Most: values[len(values)-1]}, true
}

// median of sorted values.
func median(values []float64) float64 {
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// Requests returns a contestant's mean number of requests per pod in an act, by verb and resource.
func (r *Run) Requests(scenario string, act int, contestant scenarios.Contestant) map[string]float64 {
	mean := map[string]float64{}
	rounds := 0.0
	for _, sample := range r.Samples {
		if sample.Scenario != scenario || sample.Act != act || sample.Contestant != contestant {
			continue
		}
		rounds++
		for what, count := range sample.Requests {
			mean[what] += float64(count) / float64(max(1, sample.Pods))
		}
	}
	for what := range mean {
		mean[what] /= rounds
	}
	return mean
}

// Violations returns all broken promises.
func (r *Run) Violations() []string {
	var all []string
	for _, sample := range r.Samples {
		for _, violation := range sample.Violations {
			all = append(all, fmt.Sprintf("%s, %s: %s", sample.Scenario, sample.Contestant, violation))
		}
	}
	return all
}
