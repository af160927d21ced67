package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/internal/view"
)

// follow shows what changes until somebody has seen enough.
func (g *get) follow(ctx context.Context, c client.Reader, s scope) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f, err := g.Program.follow(ctx, c, s)
	if err != nil {
		return err
	}
	if !g.Screen.IsTerminal {
		return g.printChanges(ctx, f, s)
	}
	columns, rows := g.Screen.Size()
	program := tea.NewProgram(liveView{scope: s, paint: g.palette()},
		tea.WithContext(ctx), tea.WithInput(g.In), tea.WithOutput(g.Out), tea.WithWindowSize(columns, rows))
	go func() { program.Send(endMsg{g.watchAll(ctx, f, s, func(seen seenMsg) { program.Send(seen) })}) }()
	last, err := program.Run()
	if ended, ok := last.(liveView); ok && ended.err != nil {
		return ended.err
	}
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
		return context.Canceled
	}
	return err
}

// watchAll looks again and again.
func (g *get) watchAll(ctx context.Context, f *follower, s scope, show func(seenMsg)) error {
	for {
		rollouts, err := g.survey(ctx, f, s)
		if err != nil {
			return err
		}
		show(seenMsg{rollouts, f.lost})
		if err := f.next(ctx); err != nil {
			return err
		}
	}
}

// printChanges prints a row whenever a set has changed.
func (g *get) printChanges(ctx context.Context, f *follower, s scope) error {
	last := map[string]string{}
	return g.watchAll(ctx, f, s, func(seen seenMsg) {
		for i := range seen.rollouts {
			rollout := seen.rollouts[i]
			key := rollout.Namespace + "/" + rollout.Name
			line := fmt.Sprintf("%s: %s, %s: %s", key, rollout.Phase, progress(rollout), rollout.Why)
			if last[key] != line {
				fmt.Fprintln(g.Out, line)
				last[key] = line
			}
		}
	})
}

// seenMsg brings what was seen to the view, endMsg that there will be no more.
type (
	seenMsg struct {
		rollouts []view.Rollout
		lost     error
	}
	endMsg struct{ err error }
)

// liveView is the full-screen view: a pure function from messages to pictures.
type liveView struct {
	scope scope
	paint palette
	// seen is nil until something was seen.
	seen          *seenMsg
	columns, rows int
	// top is the first line of the body that is shown.
	top int
	err error
}

// Init has nothing to start.
func (liveView) Init() tea.Cmd { return nil }

// Update takes in a message.
func (v liveView) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case seenMsg:
		v.seen = &message
	case endMsg:
		v.err = message.err
		return v, tea.Quit
	case tea.WindowSizeMsg:
		v.columns, v.rows = message.Width, message.Height
	case tea.KeyPressMsg:
		return v.press(message.String())
	}
	return v.scroll(0), nil
}

func (v liveView) press(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "esc", "ctrl+c":
		return v, tea.Quit
	case "up", "k":
		return v.scroll(-1), nil
	case "down", "j":
		return v.scroll(1), nil
	case "pgup":
		return v.scroll(-v.room()), nil
	case "pgdown", "space":
		return v.scroll(v.room()), nil
	case "home", "g":
		return v.scroll(-v.top), nil
	case "end", "G":
		return v.scroll(len(v.body())), nil
	default:
		return v, nil
	}
}

// scroll moves the body, within bounds.
func (v liveView) scroll(lines int) liveView {
	v.top = max(0, min(v.top+lines, len(v.body())-v.room()))
	return v
}

// room is how many lines the body has: the screen without title and footer.
func (v liveView) room() int { return max(1, v.rows-2) }

// View draws the picture.
func (v liveView) View() tea.View {
	picture := tea.NewView(strings.Join(v.lines(), "\n"))
	picture.AltScreen = true
	return picture
}

func (v liveView) lines() []string {
	body := v.body()
	shown := body[min(v.top, len(body)):min(v.top+v.room(), len(body))]
	lines := append([]string{v.title()}, shown...)
	for len(lines) < v.rows-1 {
		lines = append(lines, "")
	}
	return append(lines, v.footer(len(body), len(shown)))
}

func (v liveView) title() string {
	title := "kubectl rollcall: all namespaces"
	if v.scope.namespace != "" {
		title = "kubectl rollcall: namespace " + v.scope.namespace
	}
	if v.seen != nil && v.seen.lost != nil {
		return v.paint.paint(red, fit(title+", no answer from the API server, trying again", v.columns))
	}
	return v.paint.paint(bold, fit(title, v.columns))
}

func (v liveView) footer(all, shown int) string {
	text := "q quit"
	if all > shown {
		text = fmt.Sprintf("lines %d-%d of %d   up/down scroll   q quit", v.top+1, v.top+shown, all)
	}
	return v.paint.paint(dim, fit(text, v.columns))
}

// body draws a bar for each set and all trees in one table.
func (v liveView) body() []string {
	switch {
	case v.seen == nil:
		return []string{"Looking…"}
	case len(v.seen.rollouts) == 0:
		return []string{"There are no sets here."}
	}
	lines := bars(v.seen.rollouts, v.columns, v.paint)
	lines = append(lines, "")
	return append(lines, forest(v.seen.rollouts, v.scope.namespace == "").lines(v.columns, v.paint)...)
}

// bars draws how far each set is.
func bars(rollouts []view.Rollout, columns int, paint palette) []string {
	width := 0
	for i := range rollouts {
		width = max(width, len(rollouts[i].Name))
	}
	lines := make([]string, 0, len(rollouts))
	for i := range rollouts {
		r := rollouts[i]
		picture := bar(r.Done, r.Reached, paint, colorOfPhase(r.Phase))
		lines = append(lines, fit(pad(r.Name, width), columns)+" "+picture+" "+fit(progress(r), left(columns, width+barWidth+4)))
		if r.Phase != view.Complete {
			lines = append(lines, wrap(string(r.Phase)+": "+r.Why, columns, colorOfPhase(r.Phase), paint)...)
		}
	}
	return lines
}
