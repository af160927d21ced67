package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBugsOfOthers plays the situations in which other controllers went wrong.
// Every property is judged at every step; beyond that, the pods are as wanted
// after the trace, and once nothing goes wrong any more.
func TestBugsOfOthers(t *testing.T) {
	tests := map[string]struct {
		trace, want, wantAtRest string
	}{
		"a stale view over-disrupts (kruise 844, opensearch-operator 1471)": {
			"setup replicas=3 policy=Parallel\nedits template=b\nlags pods\nedit\nreconcile\nfinish web-2\nreconcile\nreconcile",
			"0:a/available 1:a/available 2:-", "0:b/available 1:b/available 2:b/available",
		},
		"a phantom pod blocks a sync (k/k 136812)": {
			"setup replicas=2 policy=Parallel\nedits replicas=0\nlags pods\nmishaps 1 vanish\nedit\nvanish web-1\nreconcile",
			"0:a/terminating", "",
		},
		"a delete hits the successor (k/k 29522, lws 999)": {
			"setup replicas=2\nedits template=b\nlags pods\nmishaps 2 vanish squat\nedit\ndecide\nvanish web-1\nsquat web-1\nproceed\nproceed\nproceed",
			"0:a/available 1:other/pending!", "0:b/available 1:b/available",
		},
		"a live claim is deleted (K8SSAND-559, zookeeper-operator 312)": {
			"setup replicas=2 claims=1 whenScaled=Delete\nedits replicas=1 replicas=2\nlags claims\nedit\nreconcile\nedit\nsee claims\nreconcile",
			"0:a/available 1:a/terminating", "0:a/available 1:a/available",
		},
		"a pod on a claim that goes (k/k 74374, 89513, 113139)": {
			"setup replicas=2 claims=1\nmishaps 2 drop-claim evict\ndrop-claim data0-web-1\nevict web-1\nreconcile\nfinish web-1\nreconcile",
			"0:a/available 1:-", "0:a/available 1:a/available",
		},
		"minReadySeconds is ignored by the budget (k/k 112307, 119234, 112066)": {
			"setup replicas=2 minReady=10 policy=Parallel\nedits template=b\nedit\nreconcile\nfinish web-1\nreconcile\nstart web-1\nreconcile",
			"0:a/available 1:b/ready", "0:b/available 1:b/available",
		},
		"failures at low ordinals are not counted (kruise 1480, 898)": {
			"setup replicas=3 policy=Parallel partition=1\nedits template=b\nmishaps 1 unready\nunready web-0\nedit\nreconcile",
			"0:a/running 1:a/available 2:a/available", "0:a/available 1:b/available 2:b/available",
		},
		"broken old pods eat the budget (k/k 137409, kruise 1134)": {
			"setup replicas=2 policy=Parallel\nedits template=x template=b\nedit\nreconcile\nfinish web-1\nreconcile\nstart web-1\nedit\nreconcile",
			"0:a/available 1:x/terminating", "0:b/available 1:b/available",
		},
		"a stuck roll-out (k/k 67250, 60164, 109597)": {
			"setup replicas=2 strategy=EnforcedRollingUpdate\nedits template=x template=b\nedit\nreconcile\nfinish web-1\nreconcile\nstart web-1\nedit\nreconcile",
			"0:a/available 1:x/terminating", "0:b/available 1:b/available",
		},
		"one terminating pod freezes the rest (kruise 2109)": {
			"setup replicas=3 policy=Parallel maxUnavailable=2\nedits template=b\nmishaps 1 hold\nhold web-2\nedit\nreconcile\nfinish web-1\nreconcile",
			"0:a/available 1:b/pending 2:a/terminating", "0:b/available 1:b/available 2:b/available",
		},
		"the wrong revision after a loss (k/k 70442, 119684, 121534, 128529)": {
			"setup replicas=2 start=3 partition=1\nedits template=b\nmishaps 1 evict\nedit\nevict web-3\nfinish web-3\nreconcile",
			"3:a/pending 4:a/available", "3:a/available 4:b/available",
		},
		"a restart although nothing changed (k/k 134773, lws 797)": {
			"setup replicas=2\nedits template=a\nedit\nreconcile",
			"0:a/available 1:a/available", "0:a/available 1:a/available",
		},
		"a storm of revisions (k/k 56355, 85690)": {
			"setup replicas=1 history=1\nedits template=b template=c template=d\nfaults 1 refuse\nedit\nreconcile\nedit\nrefuse @1\nedit\nreconcile\nreconcile",
			"0:a/terminating", "0:d/available",
		},
		"a negative count (origin 17435)": {
			"setup replicas=2\nedits template=b template=a\nedit\nreconcile\nfinish web-1\nedit\nreconcile\nreconcile",
			"0:a/available 1:a/pending", "0:a/available 1:a/available",
		},
		"complete, and awake, by minReadySeconds (k/k 136831, 112871, 135428)": {
			"setup replicas=1 minReady=10\nedits template=b\nedit\nreconcile\nfinish web-0\nreconcile\nstart web-0\nreconcile\nreconcile",
			"0:b/ready", "0:b/available",
		},
		"a hot loop over a pod that no node takes (k/k 89067, 122709)": {
			"setup replicas=1\nscratch\nmishaps 1 fail\nreconcile\nreconcile\nstart web-0\nfail web-0\nreconcile",
			"0:a/failed", "0:a/available",
		},
		"a succeeded pod is ignored (k/k 120398)": {
			"setup replicas=1\nmishaps 1 succeed\nsucceed web-0\nreconcile",
			"0:-", "0:a/available",
		},
		"a refused create blocks the scale-down (k/k 140858)": {
			"setup replicas=2 policy=Parallel\nedits start=1\nfaults 1 refuse\nedit\nrefuse @1",
			"0:a/terminating 1:a/available 2:-", "1:a/available 2:a/available",
		},
		"adoption races with garbage collection (k/k 42639, 131284, redpanda-operator 1795)": {
			"setup replicas=1\nedits deleted=background\nlags set\nmishaps 1 orphan\norphan web-0\nedit\nreconcile",
			"0:a/available!", "0:a/available!",
		},
		"a negative history limit (k/k 129301)": {
			"setup replicas=1 history=-1\nedits template=b\nedit\nreconcile",
			"0:a/terminating", "0:b/available",
		},
		"OnDelete never converges (k/k 136833)": {
			"setup replicas=2 strategy=OnDelete\nedits template=b\nmishaps 2 evict\nedit\nevict web-0\nevict web-1\nreconcile",
			"0:a/terminating 1:a/terminating", "0:b/available 1:b/available",
		},
		"a plain ordered update waits for ever for a broken pod, as promised (L5)": {
			"setup replicas=2\nedits template=x template=b\nedit\nreconcile\nfinish web-1\nreconcile\nstart web-1\nedit\nreconcile",
			"0:a/available 1:x/running", "0:a/available 1:x/running",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := replay(t, test.trace)
			if diff := cmp.Diff(test.want, w.Describe()); diff != "" {
				t.Errorf("after the trace (-want +got):\n%s", diff)
			}
			rested, err := bringToRest(w)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wantAtRest, rested.Describe()); diff != "" {
				t.Errorf("at rest (-want +got):\n%s", diff)
			}
		})
	}
}

// replay replays a trace in which every property holds.
func replay(t *testing.T, text string) *World {
	t.Helper()
	trace, err := ParseTrace(text)
	if err != nil {
		t.Fatal(err)
	}
	w, violation, err := Replay(trace, func(transition *Transition) { t.Log(transition.Tell()) })
	if err != nil {
		t.Fatal(err)
	}
	if violation != nil {
		t.Fatal(violation)
	}
	return w
}

// TestKnownLimits pins what docs/verification.md calls known limits: should one
// of them be overcome, this test says so.
func TestKnownLimits(t *testing.T) {
	tests := map[string]struct{ trace, want string }{
		"a view that goes back": {
			"setup replicas=2\nedits template=b template=c\nlags pods\nfaults 1 relist\n" +
				"edit\nreconcile\nfinish web-1\nsee pods\nreconcile\nstart web-1\nsee pods\nreconcile\nsee pods\nreconcile\nedit\nrelist pods\nreconcile",
			"G7 the budget holds in truth",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			trace, err := ParseTrace(test.trace)
			if err != nil {
				t.Fatal(err)
			}
			_, violation, err := Replay(trace, nil)
			if err != nil {
				t.Fatal(err)
			}
			if violation == nil || violation.Property != test.want {
				t.Errorf("violated is %v, want %s", violation, test.want)
			}
		})
	}
}
