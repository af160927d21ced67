package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const example = `setup replicas=2 strategy=Recreate
scratch
edits template=b replicas=3
off Recreate
lags set pods
mishaps 2 unready evict
faults 1 crash blur
edit
reconcile
see pods
crash @2
evict web-0
proceed lose @1
`

func TestTraceReadsWhatItWrites(t *testing.T) {
	trace, err := ParseTrace("# a remark\n" + example)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example, trace.String()); diff != "" {
		t.Errorf("the trace (-want +got):\n%s", diff)
	}
}

func TestParseTraceRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown setting":     "setup colour=blue",
		"a number that is none":  "setup replicas=many",
		"a fault without bound":  "setup replicas=1\nfaults crash",
		"a write without number": "setup replicas=1\ncrash @soon",
	} {
		if _, err := ParseTrace(text); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestShrink: of a trace with many steps those stay that the violation needs.
func TestShrink(t *testing.T) {
	trace, err := ParseTrace("setup replicas=3\nmishaps 3 unready\nunready web-1\nrecover web-1\nreconcile\nunready web-2\nreconcile\nunready web-0")
	if err != nil {
		t.Fatal(err)
	}
	Safety = append(Safety, Property{"no pod is unready", func(t *Transition, s *scene) error {
		if t.Step == (Step{Verb: Reconcile}) && s.unavailable() > 0 {
			return errBehind
		}
		return nil
	}})
	defer func() { Safety = Safety[:len(Safety)-1] }()
	_, violation, err := Replay(trace, nil)
	if err != nil || violation == nil {
		t.Fatalf("the trace violates nothing: %v", err)
	}
	short := Shrink(Counterexample{Trace: trace, Violation: violation})
	if got := len(short.Trace.Steps); got != 2 {
		t.Errorf("%d steps are left:\n%s", got, short.Trace)
	}
}

// TestDigest: worlds that differ only in UIDs and the time of day are the same,
// worlds with another future are not.
func TestDigest(t *testing.T) {
	begin := func(text string) *World {
		trace, err := ParseTrace("setup replicas=2\nmishaps 2 vanish unready\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		w, _, err := Replay(trace, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Mishaps = 0
		return w
	}
	fresh := begin("tick")
	same := begin("vanish web-1\nreconcile\nstart web-1\nreconcile\nreconcile\ntick\ntick")
	if fresh.Digest() != same.Digest() {
		t.Error("another UID makes another world")
	}
	if fresh.Digest() == begin("tick\nunready web-1").Digest() {
		t.Error("a pod that is not ready makes no difference")
	}
}

// TestWalkRepeats: the same seed takes the same steps.
func TestWalkRepeats(t *testing.T) {
	scenario, err := ParseScenario(walks[1].rest + "\nsetup replicas=3")
	if err != nil {
		t.Fatal(err)
	}
	one, err := Walk(scenario, 7, 300)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Walk(scenario, 7, 300)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Errorf("two walks differ:\n%s", diff)
	}
}
