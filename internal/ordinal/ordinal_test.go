package ordinal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		set, name   string
		wantOrdinal int
		wantOK      bool
	}{
		"first":                       {"web", "web-0", 0, true},
		"two digits":                  {"web", "web-12", 12, true},
		"set with dashes and digits":  {"web-1", "web-1-2", 2, true},
		"largest":                     {"web", "web-2147483647", 2147483647, true},
		"beyond 32 bits":              {"web", "web-2147483648", 0, false},
		"far beyond 64 bits":          {"web", "web-99999999999999999999999999", 0, false},
		"of a set with a longer name": {"web", "web-1-2", 0, false},
		"of another set":              {"web", "db-0", 0, false},
		"leading zero":                {"web", "web-007", 0, false},
		"sign":                        {"web", "web-+1", 0, false},
		"negative":                    {"web", "web--1", 0, false},
		"no ordinal":                  {"web", "web-", 0, false},
		"no dash":                     {"web", "web0", 0, false},
		"the set itself":              {"web", "web", 0, false},
		"word":                        {"web", "web-a", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := Parse(test.set, test.name)
			if got != test.wantOrdinal || ok != test.wantOK {
				t.Errorf("Parse(%q, %q) = %d, %t, want %d, %t", test.set, test.name, got, ok, test.wantOrdinal, test.wantOK)
			}
		})
	}
}

func TestParseInvertsPodName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.StringMatching(`[a-z][a-z0-9.-]{0,20}`).Draw(t, "set")
		ordinal := rapid.IntRange(0, 1<<31-1).Draw(t, "ordinal")
		got, ok := Parse(set, PodName(set, ordinal))
		if !ok || got != ordinal {
			t.Fatalf("Parse(%q, %q) = %d, %t", set, PodName(set, ordinal), got, ok)
		}
	})
}

func TestRangeOf(t *testing.T) {
	tests := map[string]struct {
		spec v1.StatefulSetSpec
		want Range
	}{
		"default":          {v1.StatefulSetSpec{}, Range{Start: 0, Count: 1}},
		"replicas":         {v1.StatefulSetSpec{Replicas: new(int32(3))}, Range{Start: 0, Count: 3}},
		"none":             {v1.StatefulSetSpec{Replicas: new(int32(0))}, Range{Start: 0, Count: 0}},
		"never below none": {v1.StatefulSetSpec{Replicas: new(int32(-1))}, Range{Start: 0, Count: 0}},
		"start": {
			v1.StatefulSetSpec{Replicas: new(int32(2)), Ordinals: &v1.Ordinals{Start: 5}},
			Range{Start: 5, Count: 2},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := RangeOf(&v1.StatefulSet{Spec: test.spec})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("RangeOf (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContains(t *testing.T) {
	r := Range{Start: 5, Count: 2}
	for ordinal, want := range map[int]bool{4: false, 5: true, 6: true, 7: false} {
		if got := r.Contains(ordinal); got != want {
			t.Errorf("%+v.Contains(%d) = %t, want %t", r, ordinal, got, want)
		}
	}
}
