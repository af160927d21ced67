package play

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// replay plays a history such as "+0a 0r -1a x1a +1b": created, ready, told to go, gone; with the image behind the ordinal.
func replay(t *testing.T, judge *judge, members fleet, history string) (condemned []string) {
	t.Helper()
	for _, word := range strings.Fields(history) {
		number, err := strconv.Atoi(word[1:2])
		if err != nil {
			t.Fatalf("reading %q: %v", word, err)
		}
		seen := members[number]
		kind := watch.Modified
		switch word[0] {
		case '+':
			kind = watch.Added
			seen = pod{uid: types.UID(word + strconv.Itoa(len(members))), ordinal: number, image: word[2:]}
		case 'r':
			seen.isReady, seen.isAvailable = true, true
		case '-':
			seen.isStopping, seen.isAvailable = true, false
		case 'x':
			kind = watch.Deleted
		}
		if violation := judge.condemn(members.apply(kind, seen), members); violation != "" {
			condemned = append(condemned, violation)
		}
	}
	return condemned
}

// running is a fleet of available pods with an image.
func running(count int, image string) fleet {
	members := fleet{}
	for number := range count {
		members[number] = pod{uid: types.UID(image + strconv.Itoa(number)), ordinal: number, image: image, isReady: true, isAvailable: true}
	}
	return members
}

// TestJudge shows that judges condemn what they should, and nothing else: a judge that never does proves nothing.
func TestJudge(t *testing.T) {
	ordered := scenarios.Scenario{PodManagementPolicy: v1.OrderedReady, Terms: scenarios.Terms{MaxUnavailable: "1"}}
	two := scenarios.Scenario{PodManagementPolicy: v1.OrderedReady, Terms: scenarios.Terms{MaxUnavailable: "2"}}
	parallel := scenarios.Scenario{PodManagementPolicy: v1.Parallel, Terms: scenarios.Terms{MaxUnavailable: "50%"}}
	recreate := scenarios.Scenario{PodManagementPolicy: v1.Parallel, Terms: scenarios.Terms{Strategies: map[scenarios.Contestant]v1.UpdateStrategyType{scenarios.Rollcall: v1.RecreateStrategy}}}
	tests := map[string]struct {
		scenario scenarios.Scenario
		kind     scenarios.Kind
		from     fleet
		slots    int
		history  string
		want     string
	}{
		"created in order":            {ordered, scenarios.Create, fleet{}, 2, "+0b r0 +1b r1", ""},
		"created too early":           {ordered, scenarios.Create, fleet{}, 2, "+0b +1b", "pod 1 was created while 1 below it were unavailable"},
		"created at once in parallel": {parallel, scenarios.Create, fleet{}, 2, "+0b +1b", ""},
		"updated one by one":          {ordered, scenarios.Update, running(2, "a"), 2, "-1 x1 +1b r1 -0 x0 +0b r0", ""},
		"updated from the bottom":     {ordered, scenarios.Update, running(2, "a"), 2, "-0 x0 +0b r0 -1", "pod 1 was taken after pod 0"},
		"over budget":                 {ordered, scenarios.Update, running(3, "a"), 3, "-2 -1", "2 pods were unavailable, 1 may be"},
		"a batch within budget":       {two, scenarios.Update, running(3, "a"), 3, "-2 -1 x2 +2b x1 +1b r2 r1 -0", ""},
		"percent of the slots":        {parallel, scenarios.Update, running(4, "a"), 4, "-2 -3 -1", "3 pods were unavailable, 2 may be"},
		"all down, then all up":       {recreate, scenarios.Update, running(2, "a"), 2, "-0 -1 x1 x0 +0b +1b", ""},
		"old and new at a time":       {recreate, scenarios.Update, running(2, "a"), 2, "-0 -1 x0 +0b", "pod 0 was created while pod 1 was there with the old image"},
		"scaled down in order":        {ordered, scenarios.Scale, running(3, "b"), 1, "-2 x2 -1 x1", ""},
		"scaled down two at a time":   {ordered, scenarios.Scale, running(3, "b"), 1, "-2 -1", "pod 1 was taken while pod 2 above it was there"},
		"scaled down from below":      {ordered, scenarios.Scale, running(3, "b"), 1, "-1", "pod 1 was taken while pod 2 above it was there"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.scenario.Acts = []scenarios.Act{{Kind: test.kind}}
			judge := newJudge(test.scenario, scenarios.Rollcall, 0, goal{image: "b", replicas: test.slots})
			if got := strings.Join(replay(t, judge, test.from, test.history), "; "); got != test.want {
				t.Errorf("condemned: %q, want %q", got, test.want)
			}
		})
	}
}

func TestGoal(t *testing.T) {
	broken := running(2, "a")
	broken[1] = pod{ordinal: 1, image: "b"}
	stopping := running(2, "b")
	stopping[1] = pod{ordinal: 1, image: "b", isReady: true, isStopping: true}
	tests := map[string]struct {
		goal goal
		now  fleet
		want bool
	}{
		"there":             {goal{image: "a", replicas: 2}, running(2, "a"), true},
		"outdated":          {goal{image: "b", replicas: 2}, running(2, "a"), false},
		"too many":          {goal{image: "a", replicas: 1}, running(2, "a"), false},
		"one is going":      {goal{image: "b", replicas: 2}, stopping, false},
		"stuck":             {goal{image: "b", replicas: 2, isStuck: true}, broken, true},
		"not stuck, but up": {goal{image: "b", replicas: 2, isStuck: true}, running(2, "b"), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.goal.reached(test.now); got != test.want {
				t.Errorf("reached: %v, want %v", got, test.want)
			}
		})
	}
}
