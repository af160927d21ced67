// Package scenarios holds what is played and measured, as data: each file beside
// this one is a number of sets, the acts that are played with them one after
// another, and the targets that the figures of an act are held against.
package scenarios

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

//go:embed *.yaml
var files embed.FS

// Contestant is who plays a scenario.
type Contestant string

// The contestants.
const (
	// BuiltIn is the StatefulSet controller of Kubernetes, with sets of apps/v1.
	BuiltIn Contestant = "built-in"
	// Rollcall is ours.
	Rollcall Contestant = "rollcall"
	// Floor does the same deletes and creates and nothing else: no sets, no status, no events.
	Floor Contestant = "floor"
)

// Suite is what is played in one go.
type Suite string

// The suites.
const (
	// Comparison holds us against the others and the targets.
	Comparison Suite = "comparison"
	// Curve shows, together with some of the comparison, how cost grows with the number of pods.
	Curve Suite = "curve"
)

// Kind is what happens in an act.
type Kind string

// The kinds of acts.
const (
	// Create creates the sets and ends when all pods are ready.
	Create Kind = "create"
	// Update changes the image and ends when all pods are ready with the new one.
	Update Kind = "update"
	// Scale changes replicas and ends when there are as many pods, all ready.
	Scale Kind = "scale"
	// Break updates to an image that never runs and ends when every set is stuck with it.
	Break Kind = "break"
	// Fix updates to one that runs; the act is given up after its time.
	Fix Kind = "fix"
	// Rest is a time without edits.
	Rest Kind = "rest"
	// Restart stops the controller, edits a set and starts it: the act ends with its first write to a pod.
	Restart Kind = "restart"
)

// Scenario is a number of equal sets and what happens to them.
type Scenario struct {
	Name string `json:"name"`
	// About says what the scenario is there for.
	About string `json:"about"`
	// Suite is which scenarios it is played with.
	Suite Suite `json:"suite"`
	// Group is the table in which the scenario appears.
	Group               string                     `json:"group"`
	Sets                int                        `json:"sets"`
	Pods                int                        `json:"pods"`
	PodManagementPolicy v1.PodManagementPolicyType `json:"podManagementPolicy"`
	// Terms hold from the first act on.
	Terms
	Contestants []Contestant `json:"contestants"`
	// Rounds is how often it is played; the floor, a yardstick, plays in the first FloorRounds of them.
	Rounds      int   `json:"rounds"`
	FloorRounds int   `json:"floorRounds"`
	Acts        []Act `json:"acts"`
}

// Terms are what an update has to keep to.
type Terms struct {
	MaxUnavailable string                               `json:"maxUnavailable,omitempty"`
	Strategies     map[Contestant]v1.UpdateStrategyType `json:"strategies,omitempty"`
}

// Strategy is the update strategy of a contestant's sets.
func (t Terms) Strategy(contestant Contestant) v1.UpdateStrategyType {
	return cmp.Or(t.Strategies[contestant], v1.RollingUpdateStrategy)
}

// Act is one thing that happens, and is measured.
type Act struct {
	Kind Kind `json:"act"`
	// Name tells acts of a kind apart.
	Name string `json:"name,omitempty"`
	// Terms that are given here hold from this act on.
	Terms
	// Limit is the time that pods need to stop and start on the critical path: nobody can be faster.
	Limit metav1.Duration `json:"limit"`
	// Replicas is what Scale scales to.
	Replicas int `json:"replicas"`
	// For is how long a Rest lasts, and when a Fix is given up.
	For     metav1.Duration `json:"for"`
	Targets []Target        `json:"targets"`
}

// Target bounds a figure of ours.
type Target struct {
	Figure string `json:"figure"`
	// Over is whose figure ours is divided by: a contestant's, the act's limit ("limit"), or nobody's.
	Over string  `json:"over"`
	Most float64 `json:"most"`
}

// TermsOf are the terms that hold in an act: of each, what was given last.
func (s Scenario) TermsOf(act int) Terms {
	terms := s.Terms
	for _, earlier := range s.Acts[:act+1] {
		terms.MaxUnavailable = cmp.Or(earlier.MaxUnavailable, terms.MaxUnavailable)
		if earlier.Strategies != nil {
			terms.Strategies = earlier.Strategies
		}
	}
	return terms
}

// Turns are who plays in a round, and in which order: another one begins each time.
func (s Scenario) Turns(round int) []Contestant {
	var turns []Contestant
	for i := range s.Contestants {
		contestant := s.Contestants[(i+round)%len(s.Contestants)]
		if contestant != Floor || round < s.FloorRounds {
			turns = append(turns, contestant)
		}
	}
	return turns
}

// Title is how an act appears in tables.
func (a Act) Title() string {
	switch {
	case a.Name != "":
		return a.Name
	case a.Kind == Scale:
		return fmt.Sprintf("scale to %d", a.Replicas)
	default:
		return string(a.Kind)
	}
}

// All returns the scenarios in the order of their files.
func All() ([]Scenario, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, entry := range entries {
		content, err := files.ReadFile(entry.Name())
		if err != nil {
			return nil, err
		}
		scenario, err := parse(content)
		if err != nil {
			return nil, fmt.Errorf("reading scenario %s: %w", entry.Name(), err)
		}
		all = append(all, scenario)
	}
	return all, nil
}

func parse(content []byte) (Scenario, error) {
	scenario := Scenario{Suite: Comparison, Rounds: 3, FloorRounds: 1, Contestants: []Contestant{BuiltIn, Rollcall}, Terms: Terms{MaxUnavailable: "1"}}
	if err := yaml.UnmarshalStrict(content, &scenario); err != nil {
		return Scenario{}, err
	}
	return scenario, scenario.check()
}

var kinds = []Kind{Create, Update, Scale, Break, Fix, Rest, Restart}

func (s Scenario) check() error {
	var wrong []string
	complain := func(isWrong bool, format string, args ...any) {
		if isWrong {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	complain(s.Name == "" || s.Group == "", "name and group must be given")
	complain(s.Suite != Comparison && s.Suite != Curve, "unknown suite %q", s.Suite)
	complain(s.Sets < 1 || s.Pods < 1 || s.Rounds < 1, "sets, pods and rounds must be 1 or more")
	complain(len(s.Acts) == 0 || s.Acts[0].Kind != Create, "the first act must be %s", Create)
	for _, contestant := range s.Contestants {
		complain(!slices.Contains([]Contestant{BuiltIn, Rollcall, Floor}, contestant), "unknown contestant %q", contestant)
	}
	for _, act := range s.Acts {
		complain(!slices.Contains(kinds, act.Kind), "unknown act %q", act.Kind)
		complain((act.Kind == Rest || act.Kind == Fix) && act.For.Duration <= 0, "act %s needs a time (for)", act.Kind)
		complain(act.Kind == Scale && act.Replicas < 1, "act %s needs replicas", act.Kind)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}
