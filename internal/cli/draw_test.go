package cli

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
	"github.com/rollcall-dev/rollcall/internal/view"
)

// rollout is a set with the history "ab" and pods as noted, as the operator sees it.
func rollout(builder *testkit.SetBuilder, fleet string) view.Rollout {
	o := testkit.Observe(builder.Obj(), "ab", fleet)
	o.Revisions[1].Annotations = map[string]string{changeCause: "try b"}
	o.Set.Status = planner.Compute(o).Status
	return view.Of(o)
}

func updating(replicas int32) *testkit.SetBuilder {
	return testkit.MakeSet("web").Replicas(replicas).Template("b").Current("a")
}

var pictures = map[string]view.Rollout{
	"complete": rollout(testkit.MakeSet("web").Replicas(2).Template("b").Current("b"), "0:b/available 1:b/available"),
	"updating": rollout(updating(4), "0:a/available 1:a/available 2:- 3:b/available"),
	"stuck":    rollout(updating(3), "0:a/available 1:a/available 2:b/pulling"),
	"staged":   rollout(updating(5).Partition(3).Paused(), "0:a/available 1:a/available 2:a/available 3:b/available 4:b/available"),
	"enforced": rollout(updating(3).Strategy(v1.EnforcedRollingUpdateStrategy), "0:a/available 1:a/failed 2:b/crashing 3:a/leaving"),
}

func TestDrawStatus(t *testing.T) {
	for name, picture := range pictures {
		t.Run(name, func(t *testing.T) {
			golden(t, "status/"+name, strings.Join(drawStatus(picture, 0, palette{}), "\n")+"\n")
		})
	}
}

func TestDrawStatusOnATerminal(t *testing.T) {
	for _, hasColor := range []bool{true, false} {
		lines := drawStatus(pictures["stuck"], 60, palette{hasColor: hasColor})
		for _, line := range lines {
			for _, code := range []color{green, yellow, red, bold, dim, colorsOff} {
				line = strings.ReplaceAll(line, string(code), "")
			}
			if width := len([]rune(line)); width > 60 {
				t.Errorf("a line of %d columns on a terminal with 60: %q", width, line)
			}
		}
		if got := strings.Contains(strings.Join(lines, ""), "\x1b"); got != hasColor {
			t.Errorf("colours %t, want %t", got, hasColor)
		}
	}
}

func TestLiveDisplayDrawsInPlace(t *testing.T) {
	var out strings.Builder
	display := &liveDisplay{out: &out, screen: Screen{IsTerminal: true, Size: func() (int, int) { return 80, 24 }}}
	display.show(pictures["updating"], nil)
	drawn := strings.Count(out.String(), "\n")
	out.Reset()
	display.show(pictures["complete"], errors.New("gone"))
	if got := strings.Count(out.String(), lineUp); got != drawn {
		t.Errorf("%d lines up before drawing anew, want the %d that were drawn", got, drawn)
	}
	if !strings.Contains(out.String(), "no answer from the API server") {
		t.Errorf("an outage goes unmentioned:\n%s", out.String())
	}
}

func TestLiveDisplayStaysOnTheScreen(t *testing.T) {
	var out strings.Builder
	display := &liveDisplay{out: &out, screen: Screen{IsTerminal: true, Size: func() (int, int) { return 80, 6 }}}
	display.show(pictures["staged"], nil)
	if got := strings.Count(out.String(), "\n"); got != 5 {
		t.Errorf("%d lines on a screen of 6, want 5", got)
	}
	if !strings.Contains(out.String(), "… and 6 more") {
		t.Errorf("what was left out goes unmentioned:\n%s", out.String())
	}
}

func TestLineDisplayPrintsChangesOnly(t *testing.T) {
	var out strings.Builder
	display := &lineDisplay{out: &out}
	for _, name := range []string{"updating", "updating", "stuck", "updating"} {
		display.show(pictures[name], nil)
	}
	display.show(pictures["updating"], errors.New("gone"))
	golden(t, "status/lines", out.String())
}

func TestDrawTrees(t *testing.T) {
	for name, picture := range pictures {
		t.Run(name, func(t *testing.T) {
			golden(t, "get/"+name, strings.Join(forest([]view.Rollout{picture}, false).lines(0, palette{}), "\n")+"\n")
		})
	}
}

func TestDrawSummary(t *testing.T) {
	g := &get{Program: &Program{}, isEverywhere: true, output: formatWide}
	rows := g.summary([]view.Rollout{pictures["complete"], pictures["stuck"], pictures["staged"]})
	golden(t, "get/summary", strings.Join(rows.lines(0, palette{}), "\n")+"\n")
}

func TestDrawHistory(t *testing.T) {
	golden(t, "history", strings.Join(historyTable(pictures["updating"]).lines(0, palette{}), "\n")+"\n")
}

// send brings messages to a live view, as bubbletea would.
func send(v tea.Model, messages ...tea.Msg) (liveView, tea.Cmd) {
	var command tea.Cmd
	for _, message := range messages {
		v, command = v.Update(message)
	}
	return v.(liveView), command
}

func frame(v liveView) string { return v.View().Content + "\n" }

func TestLiveView(t *testing.T) {
	start := liveView{scope: scope{namespace: testkit.Namespace}}
	size := tea.WindowSizeMsg{Width: 90, Height: 12}
	all := seenMsg{rollouts: []view.Rollout{pictures["stuck"], pictures["staged"]}}
	down, end, up := tea.KeyPressMsg{Code: tea.KeyDown}, tea.KeyPressMsg{Code: tea.KeyEnd}, tea.KeyPressMsg{Code: tea.KeyUp}
	tests := map[string][]tea.Msg{
		"looking":     {size},
		"nothing":     {size, seenMsg{}},
		"one":         {size, seenMsg{rollouts: []view.Rollout{pictures["updating"]}}},
		"several":     {size, all},
		"scrolled":    {size, all, down, down, down, up},
		"at the end":  {size, all, end, down},
		"lost":        {size, seenMsg{all.rollouts, errors.New("gone")}},
		"grown again": {size, all, end, tea.WindowSizeMsg{Width: 60, Height: 30}},
	}
	for name, messages := range tests {
		t.Run(name, func(t *testing.T) {
			v, command := send(start, messages...)
			if command != nil {
				t.Error("the view wants to do something")
			}
			golden(t, "live/"+strings.ReplaceAll(name, " ", "-"), frame(v))
		})
	}
}

func TestLiveViewEnds(t *testing.T) {
	for _, key := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: tea.KeyEscape}, {Code: 'c', Mod: tea.ModCtrl}} {
		if _, command := send(liveView{}, key); command == nil {
			t.Errorf("%s does not end the view", key)
		}
	}
	gone := errors.New("the API server is gone")
	if v, command := send(liveView{}, endMsg{gone}); command == nil || !errors.Is(v.err, gone) {
		t.Errorf("an error does not end the view, or is lost: %v", v.err)
	}
}
