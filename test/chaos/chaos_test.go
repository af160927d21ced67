package chaos

import (
	"testing"
	"time"
)

// acts are the performances, each with who plays and how often, in the short and in the long version.
var acts = []struct {
	mischief
	players     []style
	short, long int
}{
	{killed, styles, 1, 10},
	{garbled, styles, 1, 6},
	{shaken, styles, 1, 8},
	{deposed, styles, 1, 12},
	{skewed("clock ahead", 5*time.Second), styles, 1, 3},
	{skewed("clock behind", -3*time.Second), styles, 1, 3},
	{absent, styles[:3], 1, 2},
}

// TestChaos plays all acts one after the other, since they share a control plane, and sums up.
func TestChaos(t *testing.T) {
	t.Logf("seed %d", chosenSeed())
	var sum report
	for _, act := range acts {
		rollOuts := act.short
		if *isLong {
			rollOuts = act.long
		}
		t.Run(act.name, func(t *testing.T) {
			started := time.Now()
			s := newStage(t)
			s.perform(act.mischief, act.players, rollOuts)
			if t.Failed() {
				t.Fatal("there is no rest to judge")
			}
			judged := s.judge()
			t.Logf("%s: %s; %s", act.name, &judged, time.Since(started).Round(time.Second))
			sum.add(judged)
		})
	}
	t.Logf("in all: %s", &sum)
}
