package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const (
	page = "../../docs/kubectl-rollcall.md"
	// referenceMark is where the generated part of the page begins; nothing else follows.
	referenceMark = "<!-- reference -->\n"
)

// TestReference holds the page's reference against what the verbs say of themselves.
func TestReference(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	written, reference, isMarked := strings.Cut(string(content), referenceMark)
	if !isMarked {
		t.Fatalf("%s has no place for a reference: %s", page, referenceMark)
	}
	want := helpOfAll(t)
	if *update {
		if err := os.WriteFile(page, []byte(written+referenceMark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, reference); diff != "" {
		t.Errorf("the reference is not what the verbs say; write it anew with -update (-verbs +page):\n%s", diff)
	}
}

// helpOfAll is the help of every verb, one after the other.
func helpOfAll(t *testing.T) string {
	t.Helper()
	streams, _, out, _ := genericclioptions.NewTestIOStreams()
	program := &Program{IOStreams: streams}
	var page bytes.Buffer
	for _, verb := range program.newCommand().Commands() {
		if verb.Example == "" {
			continue // version, options, completion
		}
		out.Reset()
		if code := program.Run(t.Context(), verb.Name(), "--help"); code != codeDone {
			t.Fatalf("the help of %s ends with code %d", verb.Name(), code)
		}
		page.WriteString("### " + verb.Name() + "\n```text\n" + strings.TrimRight(out.String(), "\n") + "\n```\n\n")
	}
	return strings.TrimRight(page.String(), "\n") + "\n"
}
