package conformance

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/simulation"
)

// liar is a server that gets one thing wrong.
type liar struct {
	*model
	// forge changes a write before it is made.
	forge func(action plan.Action) plan.Action
	// fakes is what is answered in place of an error.
	fakes map[string]string
}

func (l *liar) play(c command) (string, error) {
	if c.write == "" || c.write == statusWrite {
		return l.model.play(c)
	}
	var err error
	action := writes[c.write](l.seen(c), c)
	if l.forge != nil {
		action = l.forge(action)
	}
	l.world, err = simulation.Perform(l.world, action)
	answer := classOf(err)
	if fake, ok := l.fakes[answer]; ok {
		answer = fake
	}
	return answer, l.collectAll()
}

// TestLiesAreNoticed: the comparison can fail. A second model plays the server
// and gets one thing wrong; with none it passes.
func TestLiesAreNoticed(t *testing.T) {
	tests := map[string]struct {
		liar liar
		want string
	}{
		"no lie":              {liar{}, ""},
		"a conflict hidden":   {liar{fakes: map[string]string{"Conflict": ""}}, `the model answers "Conflict", the server ""`},
		"a name not taken":    {liar{fakes: map[string]string{"AlreadyExists": ""}}, `the model answers "AlreadyExists", the server ""`},
		"deletes do not wait": {liar{forge: withoutVersion}, `the model answers "Conflict", the server ""`},
		"labels are not kept": {liar{forge: withoutLabels}, "objects (-model +server)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			noticed := playAgainst(t, &test.liar)
			if test.want == "" && noticed != "" || !strings.Contains(noticed, test.want) {
				t.Errorf("noticed is %q, want %q", noticed, test.want)
			}
		})
	}
}

// playAgainst returns the first difference that is noticed, in a few sequences.
func playAgainst(t *testing.T, l *liar) (noticed string) {
	t.Helper()
	for seed := range uint64(10) {
		honest, err := newModel(setups["claims, too"])
		if err != nil {
			t.Fatal(err)
		}
		if l.model, err = newModel(setups["claims, too"]); err != nil {
			t.Fatal(err)
		}
		note := func(_ string, agree func() error) {
			if err := agree(); err != nil && noticed == "" {
				noticed = err.Error()
			}
		}
		if _, err := playBoth(honest, l, rand.New(rand.NewPCG(seed, 0)), note); err != nil && noticed == "" {
			noticed = err.Error()
		}
		if noticed != "" {
			return noticed
		}
	}
	return ""
}

func withoutVersion(action plan.Action) plan.Action {
	if remove, ok := action.(plan.DeletePod); ok {
		remove.IfUnchanged = false
		return remove
	}
	return action
}

func withoutLabels(action plan.Action) plan.Action {
	if label, ok := action.(plan.UpdatePod); ok {
		label.Labels = nil
		return label
	}
	return action
}
