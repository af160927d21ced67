package cli

import "testing"

func TestVersion(t *testing.T) {
	if got := (&user{t: t}).must("version"); got == "" {
		t.Error("the plugin does not tell its version")
	}
}
