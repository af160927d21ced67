package strategies

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A timeline has a row for each pod and a column for each tick of the trace (5
// seconds), and a letter is the revision:
//
//	A  available at revision a
//	a  there at revision a, but not available: it starts, is broken, or has not been ready for long enough
//	~  terminating
//	.  missing
//
// A number above a column is an edit, named beneath.

// tick is how far the clock of a trace moves at a time.
const tick = 5 * time.Second

// moment is the state of all pods from a time on.
type moment struct {
	at   time.Duration
	pods map[int]rune
}

// section is what follows an edit.
type section struct {
	title   string
	moments []moment
}

var (
	momentLine = regexp.MustCompile(`^ *\+(\S+)  (\d.*)$`)
	podState   = regexp.MustCompile(`^(\d+):(?:-|(\w)/(\w+))$`)
)

// parse reads a trace. Lines about actions and conditions are none of a picture's
// business.
func parse(trace string) ([]section, error) {
	var sections []section
	for line := range strings.Lines(trace) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, section{title: title})
			continue
		}
		match := momentLine.FindStringSubmatch(line)
		if match == nil || len(sections) == 0 {
			continue
		}
		read, err := parseMoment(match[1], match[2])
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", line, err)
		}
		last := &sections[len(sections)-1]
		last.moments = append(last.moments, read)
	}
	return sections, nil
}

func parseMoment(at, states string) (moment, error) {
	elapsed, err := time.ParseDuration(at)
	if err != nil {
		return moment{}, err
	}
	read := moment{at: elapsed, pods: map[int]rune{}}
	for _, state := range strings.Fields(states) {
		match := podState.FindStringSubmatch(state)
		if match == nil {
			return moment{}, fmt.Errorf("%q is not the state of a pod", state)
		}
		ordinal, err := strconv.Atoi(match[1])
		if err != nil {
			return moment{}, err
		}
		read.pods[ordinal] = letter(match[2], match[3])
	}
	return read, nil
}

// letter stands for the state of a pod.
func letter(revision, state string) rune {
	switch {
	case revision == "":
		return '.'
	case state == "terminating":
		return '~'
	case state == "available":
		return rune(strings.ToUpper(revision)[0])
	default:
		return rune(revision[0])
	}
}

// drawTrace draws a trace from its second section on: how a set is created is the same
// everywhere.
func drawTrace(trace string) (string, error) {
	sections, err := parse(trace)
	if err != nil {
		return "", err
	}
	if len(sections) < 2 {
		return "", fmt.Errorf("the trace has %d sections; one to create the set and one to change it are needed", len(sections))
	}
	if i := slices.IndexFunc(sections, func(s section) bool { return len(s.moments) == 0 }); i >= 0 {
		return "", fmt.Errorf("nothing happens in section %q", sections[i].title)
	}
	var out strings.Builder
	edits, moments := flatten(sections[1:])
	fmt.Fprintln(&out, strings.TrimRight("       "+edits, " "))
	for _, ordinal := range ordinals(moments) {
		fmt.Fprintln(&out, strings.TrimRight(fmt.Sprintf("web-%d  %s", ordinal, row(moments, ordinal)), " "))
	}
	fmt.Fprintln(&out)
	for i, s := range sections[1:] {
		fmt.Fprintf(&out, "%d  at +%s: %s\n", i+1, s.moments[0].at, s.title)
	}
	return out.String(), nil
}

// flatten joins the sections, and returns the line with the numbers of edits.
func flatten(sections []section) (string, []moment) {
	var edits strings.Builder
	var moments []moment
	start := sections[0].moments[0].at
	for i, s := range sections {
		edits.WriteString(strings.Repeat(" ", max(0, column(start, s.moments[0].at)-edits.Len())))
		fmt.Fprint(&edits, i+1)
		moments = append(moments, s.moments...)
	}
	return edits.String(), moments
}

// column is where a time is in a picture.
func column(start, at time.Duration) int { return int((at - start) / tick) }

func ordinals(moments []moment) []int {
	var all []int
	for _, m := range moments {
		for ordinal := range m.pods {
			if !slices.Contains(all, ordinal) {
				all = append(all, ordinal)
			}
		}
	}
	slices.Sort(all)
	return all
}

// row is one pod through all ticks; a state lasts until the next moment.
func row(moments []moment, ordinal int) string {
	var out strings.Builder
	start := moments[0].at
	for i, m := range moments {
		end := column(start, m.at) + 1
		if i+1 < len(moments) {
			end = column(start, moments[i+1].at)
		}
		state, ok := m.pods[ordinal]
		if !ok {
			state = ' '
		}
		out.WriteString(strings.Repeat(string(state), end-column(start, m.at)))
	}
	return out.String()
}
