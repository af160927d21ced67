package strategies

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const traces = "../../internal/planner/testdata/rollouts"

func TestTimelinesShowTheTraces(t *testing.T) {
	shown, drawn := blocks(t, "timeline"), map[string]string{}
	for name := range shown {
		picture, err := drawTrace(readFile(t, filepath.Join(traces, name)))
		if err != nil {
			t.Fatalf("drawing %s: %v", name, err)
		}
		drawn[name] = picture
	}
	if *update {
		rewrite(t, "timeline", drawn)
	} else if diff := cmp.Diff(drawn, shown); diff != "" {
		t.Errorf("the timelines are not those of the traces; write them anew with -update (-traces +pages):\n%s", diff)
	}
}

func TestDrawTrace(t *testing.T) {
	tests := map[string]struct {
		trace string
		want  string
		err   string
	}{
		"a state lasts until the next line": {
			trace: `
## create the set
    +0s  0:- 1:-
## template b
    +5s  0:a/available 1:a/available
         delete pod web-1 (why)
   +10s  0:a/available 1:a/terminating
   +25s  0:a/available 1:-
   +30s  0:a/available 1:b/pending
## pod 1 is removed
   +35s  0:a/failed
`,
			want: `
       1     2
web-0  AAAAAAa
web-1  A~~~.b

1  at +5s: template b
2  at +35s: pod 1 is removed
`,
		},
		"an empty section": {trace: "## one\n    +0s  0:-\n## two\n", err: `nothing happens in section "two"`},
		"one section":      {trace: "## create the set\n    +0s  0:-\n", err: "1 sections"},
		"an unknown state": {trace: "## one\n    +0s  0:\n", err: `"0:" is not the state of a pod`},
		"an unknown time":  {trace: "## one\n    +0x  0:-\n", err: "unknown unit"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := drawTrace(test.trace)
			if (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("error: got %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("picture (-want +got):\n%s", diff)
			}
		})
	}
}
