package conformance

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

var (
	seed     = flag.Uint64("seed", 1, "seed of the first sequence of commands")
	length   = flag.Int("commands", 80, "commands in a sequence")
	attempts = flag.Int("sequences", 2, "sequences of commands, each with claims and without, each with the next seed")
)

// side is one of the two that are compared.
type side interface {
	// play carries out a command and returns the class of the answer; empty if it went well.
	play(c command) (answer string, err error)
	// picture shows all objects, in words that do not depend on the side.
	picture() ([]string, error)
	// remember keeps the objects as they are, for commands that are based on an older view.
	remember() error
}

// setups are what the sequences begin with.
var setups = map[string]string{
	"pods and revisions": "replicas=2",
	"claims, too":        "replicas=2 claims=1 whenScaled=Delete whenDeleted=Delete",
}

func TestModelAnswersAsTheServer(t *testing.T) {
	for name, setup := range setups {
		t.Run(name, func(t *testing.T) {
			for i := range *attempts {
				compareSides(t, setup, *seed+uint64(i))
			}
		})
	}
}

// compareSides plays one sequence on the model and on a real server.
func compareSides(t *testing.T, setup string, seed uint64) {
	t.Helper()
	space := cluster.Namespace(t, cluster.Nodes)
	model, err := newModel(setup)
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t, space, model)
	eventually := func(what string, agree func() error) {
		space.Eventually(t, what, func(context.Context) error { return agree() })
	}
	played, err := playBoth(model, server, rand.New(rand.NewPCG(seed, 0)), eventually)
	t.Logf("seed %d: %d commands, answers: %v", seed, played.commands, played.answers)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	server.awaitCollector(t)
	if err := agree(model, server); err != nil {
		t.Errorf("seed %d: after the garbage collector was seen at work: %v", seed, err)
	}
}

// tally counts what was played.
type tally struct {
	commands int
	answers  map[string]int
}

// playBoth plays commands on both sides up to the first answer that differs. That
// their objects agree is waited for.
func playBoth(model *model, other side, random *rand.Rand, eventually func(what string, agree func() error)) (tally, error) {
	played := tally{answers: map[string]int{}}
	for played.commands < *length {
		c, ok := model.draw(random)
		if !ok {
			continue
		}
		played.commands++
		want, err := model.play(c)
		if err != nil {
			return played, fmt.Errorf("command %d, %s, on the model: %w", played.commands, c, err)
		}
		got, err := other.play(c)
		if err != nil {
			return played, fmt.Errorf("command %d, %s: %w", played.commands, c, err)
		}
		if got != want {
			return played, fmt.Errorf("command %d, %s: the model answers %q, the server %q", played.commands, c, want, got)
		}
		played.answers[c.verb()+" "+got]++
		eventually(fmt.Sprintf("both sides agree after command %d, %s", played.commands, c), func() error { return agree(model, other) })
		if err := rememberBoth(model, other); err != nil {
			return played, err
		}
	}
	return played, nil
}

func rememberBoth(model, other side) error {
	if err := model.remember(); err != nil {
		return err
	}
	return other.remember()
}

// agree tells how the objects of both sides differ.
func agree(model, other side) error {
	want, err := model.picture()
	if err != nil {
		return err
	}
	got, err := other.picture()
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("objects (-model +server):\n%s", diff)
	}
	return nil
}
