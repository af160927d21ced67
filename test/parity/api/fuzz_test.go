package api

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// maxChanges keeps a fuzzed manifest readable.
const maxChanges = 8

// FuzzSpecParity changes the base manifest at random and asks for the same verdict and the same stored spec in both
// groups. Each two bytes of the input are a change. One that does not fit (an index into a number) is left out.
func FuzzSpecParity(f *testing.F) {
	for i := range palette {
		where := byte(i)
		f.Add([]byte{where, 0})
		f.Add([]byte{where, 1})
		f.Add([]byte{where, 7})
		f.Add([]byte{where, 6 + 8*where, where + 31, 2, where + 67, 3})
	}
	o := newOracle(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		m := mutate(t, input)
		ours, theirs := o.create(t.Context(), oursVersion, m), o.create(t.Context(), theirsVersion, m)
		if disagreement := o.disagreement(t, m, ours, theirs); disagreement != "" {
			text, _ := yaml.Marshal(m)
			t.Errorf("%s\nours: %s\napps/v1: %s\nmanifest:\n%s", disagreement, ours, theirs, text)
		}
	})
}

func mutate(t *testing.T, input []byte) manifest {
	t.Helper()
	m := parse(t, base)
	for i := 0; i+1 < min(len(input), 2*maxChanges); i += 2 {
		if next := manifest(runtime.DeepCopyJSON(m)); next.apply(changeFor(input[i], input[i+1])) == nil {
			m = next
		}
	}
	return m
}

// disagreement says in what the answers differ beyond the known differences.
func (o *oracle) disagreement(t *testing.T, m manifest, ours, theirs answer) string {
	t.Helper()
	difference, differs := known(m)
	switch {
	case differs && difference.stricter:
		if ours.accepted() {
			return "a manifest that should be refused is accepted: " + difference.name
		}
		return ""
	case ours.accepted() != theirs.accepted():
		return "one accepts what the other refuses"
	case !ours.accepted() || differs:
		return ""
	}
	diff, err := o.compareStored(t.Context(), ours.object, theirs.object)
	if err != nil {
		t.Fatal(err)
	}
	return diff
}
