package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Scenario says what is explored: a set, what its user does, and what may go
// wrong. Its text form stands at the head of every trace.
type Scenario struct {
	// Setup is the set at the beginning: "replicas=3 strategy=Recreate" (see settings.go).
	Setup string
	// Scratch: the set is new; otherwise it is at rest with all its pods.
	Scratch bool
	// Edits are what the user does, in this order, whenever.
	Edits []string
	// Lags are the kinds of which the view may be behind.
	Lags []Kind
	// Mishaps are what may happen to pods and claims, at most MaxMishaps times.
	Mishaps    []Verb
	MaxMishaps int
	// Faults are what may go wrong with the controller, at most MaxFaults times.
	Faults    []Verb
	MaxFaults int
	// Off are the feature gates that are off, by the names of their fields.
	Off []string
}

// gates are the feature gates of the process.
func (s *Scenario) gates() plan.Gates {
	return plan.Gates{
		MaxUnavailable:        !slices.Contains(s.Off, "MaxUnavailable"),
		Recreate:              !slices.Contains(s.Off, "Recreate"),
		EnforcedRollingUpdate: !slices.Contains(s.Off, "EnforcedRollingUpdate"),
		ProgressDeadline:      !slices.Contains(s.Off, "ProgressDeadline"),
	}
}

// lags tells whether the view of a kind may be behind.
func (s *Scenario) lags(kind Kind) bool { return slices.Contains(s.Lags, kind) }

// String writes the scenario as ParseScenario reads it, a line per field.
func (s *Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "setup %s\n", s.Setup)
	if s.Scratch {
		b.WriteString("scratch\n")
	}
	for _, line := range []struct {
		key   string
		words []string
	}{
		{"edits", s.Edits},
		{"off", s.Off},
		{"lags", texts(s.Lags)},
		{"mishaps " + strconv.Itoa(s.MaxMishaps), texts(s.Mishaps)},
		{"faults " + strconv.Itoa(s.MaxFaults), texts(s.Faults)},
	} {
		if len(line.words) > 0 {
			fmt.Fprintf(&b, "%s %s\n", line.key, strings.Join(line.words, " "))
		}
	}
	return b.String()
}

// ParseScenario reads a scenario from its text form.
func ParseScenario(text string) (*Scenario, error) {
	s := &Scenario{}
	for line := range strings.Lines(text) {
		if err := s.parseLine(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("read the line %q of a scenario: %w", strings.TrimSpace(line), err)
		}
	}
	if _, err := parseSettings(s.Setup); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Scenario) parseLine(words []string) error {
	if len(words) == 0 {
		return nil
	}
	key, rest := words[0], words[1:]
	var err error
	switch key {
	case "setup":
		s.Setup = strings.Join(rest, " ")
	case "scratch":
		s.Scratch = true
	case "edits":
		s.Edits = rest
	case "off":
		s.Off = rest
	case "lags":
		s.Lags = fromTexts[Kind](rest)
	case "mishaps":
		s.MaxMishaps, s.Mishaps, err = parseAllowance(rest)
	case "faults":
		s.MaxFaults, s.Faults, err = parseAllowance(rest)
	default:
		err = fmt.Errorf("%q is no field of a scenario", key)
	}
	return err
}

// parseAllowance reads how often which verbs may happen.
func parseAllowance(words []string) (int, []Verb, error) {
	if len(words) == 0 {
		return 0, nil, fmt.Errorf("a number is missing")
	}
	most, err := strconv.Atoi(words[0])
	return most, fromTexts[Verb](words[1:]), err
}

func texts[T ~string](values []T) []string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = string(value)
	}
	return words
}

func fromTexts[T ~string](words []string) []T {
	values := make([]T, len(words))
	for i, word := range words {
		values[i] = T(word)
	}
	return values
}

// isScenarioLine tells whether a line of a trace belongs to its scenario.
func isScenarioLine(line string) bool {
	for _, key := range []string{"setup", "scratch", "edits", "off", "lags", "mishaps", "faults"} {
		if line == key || strings.HasPrefix(line, key+" ") {
			return true
		}
	}
	return false
}
