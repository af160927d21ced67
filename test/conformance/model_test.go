package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// model is the side of the model checker.
type model struct {
	world *simulation.World
	// views are the objects after every command, the latest last.
	views  []simulation.Store
	artist *artist
}

// edits are what users do in all sequences, in this order, and over again.
var edits = []string{
	"template=b", "template=b", "replicas=3", "deleted=background", "recreated", "minReady=10", "deleted=orphan", "recreated",
	"replicas=1", "deleted=foreground", "recreated", "paused=true", "template=a", "deleted=orphan", "recreated",
}

var mishaps = []simulation.Verb{
	simulation.Unready, simulation.Fail, simulation.Succeed, simulation.Evict, simulation.Vanish, simulation.Hold,
	simulation.Unlabel, simulation.Orphan, simulation.Squat, simulation.DropClaim,
}

func newModel(setup string) (*model, error) {
	scenario := &simulation.Scenario{Setup: setup, Scratch: true, Edits: slices.Repeat(edits, 20), Mishaps: mishaps, MaxMishaps: 1 << 20}
	world, err := simulation.Begin(scenario)
	if err != nil {
		return nil, err
	}
	return &model{world: world, views: []simulation.Store{world.Truth}, artist: newArtist()}, nil
}

// draw draws a command that makes sense now.
func (m *model) draw(random *rand.Rand) (command, bool) {
	if random.IntN(5) < 3 {
		c := drawWrite(random, len(m.views))
		seen := m.seen(c)
		if c.write == statusWrite {
			return c, seen.Set != nil
		}
		return c, writes[c.write](seen, c) != nil
	}
	var steps []simulation.Step
	for _, step := range m.world.Enabled() {
		if step.Verb != simulation.Reconcile && step.Verb != simulation.Tick && step.Verb != simulation.Collect {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return command{}, false
	}
	step := steps[random.IntN(len(steps))]
	isRare := step.Verb == simulation.Edit || step.Verb == simulation.Squat || step.Verb == simulation.Vanish
	return command{step: step}, !isRare || random.IntN(4) == 0
}

// seen is what the operator saw when it decided on a command.
func (m *model) seen(c command) simulation.Store { return m.views[max(0, len(m.views)-1-c.age)] }

func (m *model) play(c command) (string, error) {
	answer, err := m.request(c)
	if err != nil {
		return "", err
	}
	return answer, m.collectAll()
}

func (m *model) request(c command) (string, error) {
	if c.write == "" {
		t, err := simulation.Apply(m.world, c.step)
		if err != nil {
			return "", err
		}
		m.world = t.After
		return "", nil
	}
	var err error
	seen := m.seen(c)
	if c.write == statusWrite {
		m.world, err = simulation.WriteStatus(m.world, seen.Set, statusOf(seen.Set, c))
	} else {
		m.world, err = simulation.Perform(m.world, writes[c.write](seen, c))
	}
	return classOf(err), nil
}

// collectAll lets the garbage collector do all that it has to do.
func (m *model) collectAll() error {
	for range 1000 {
		i := slices.IndexFunc(m.world.Enabled(), func(step simulation.Step) bool { return step.Verb == simulation.Collect })
		if i < 0 {
			return nil
		}
		t, err := simulation.Apply(m.world, m.world.Enabled()[i])
		if err != nil {
			return err
		}
		m.world = t.After
	}
	return fmt.Errorf("the garbage collector of the model has never done: %s", m.world.Describe())
}

func (m *model) picture() ([]string, error) { return m.artist.draw(m.world.Truth), nil }

func (m *model) remember() error {
	m.views = append(m.views, m.world.Truth)
	m.artist.sign(m.world.Truth)
	return nil
}

// classOf is what an answer means to a client.
func classOf(err error) string {
	if err == nil {
		return ""
	}
	return string(apierrors.ReasonForError(err))
}
