package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/scenario"
)

var update = flag.Bool("update", false, "write what docs/kubectl-rollcall.md shows anew")

// page is the documentation of the plugin.
const page = "../../docs/kubectl-rollcall.md"

var (
	// playedBlock is a block of commands that begin with $, and what they print.
	playedBlock = regexp.MustCompile("(?s)(<!-- played -->\n```console\n)(.*?)(```\n)")
	// passing lines are on the way from one state to the next: which of them are seen depends on the moment.
	passing = regexp.MustCompile(`(?m)^\d+ of \d+ pods updated and available.*\n`)
	// clocks are times of the day.
	clocks = regexp.MustCompile(`\d\d:\d\d:\d\d UTC`)
)

// TestDocs plays the page from top to bottom, with a set of three pods.
func TestDocs(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
	user := newUser(t, story.Space)
	user.rolledOut()
	played := playedBlock.ReplaceAllStringFunc(string(content), func(block string) string {
		parts := playedBlock.FindStringSubmatch(block)
		return parts[1] + strings.ReplaceAll(user.play(parts[2]), story.Name, "default") + parts[3]
	})
	if *update {
		if err := os.WriteFile(page, []byte(played), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(settled(string(content)), settled(played)); diff != "" {
		t.Errorf("the page shows what does not happen; write it anew with -update (-page +played):\n%s", diff)
	}
}

// settled leaves out of a page what differs from run to run.
func settled(text string) string {
	return strings.ReplaceAll(plainly(passing.ReplaceAllString(clocks.ReplaceAllString(text, "CLOCK"), "")), "\n ", "\n")
}

// play runs the commands of a block and returns them with what they print now.
func (u *user) play(block string) string {
	u.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(block) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !isCommand {
			continue
		}
		out.WriteString("$ " + command + "\n")
		command, showsCode := strings.CutSuffix(command, `; echo "exit code $?"`)
		got := u.shell(command)
		out.WriteString(got.out + got.err)
		if showsCode {
			out.WriteString("exit code " + strconv.Itoa(got.code) + "\n")
		}
	}
	return out.String()
}

// shell runs a command line: the plugin in this process, all else of kubectl as one of its own.
func (u *user) shell(line string) outcome {
	u.t.Helper()
	words := split(line)
	if len(words) > 1 && words[1] == "rollcall" {
		return u.run(words[2:]...)
	}
	kubectl, err := filepath.Abs(filepath.Join("..", "..", "bin", words[0]))
	if err != nil {
		u.t.Fatal(err)
	}
	var out strings.Builder
	command := exec.CommandContext(u.t.Context(), kubectl, append([]string{"--kubeconfig=" + u.kubeconfig}, words[1:]...)...)
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		u.t.Errorf("%s: %v\n%s", line, err, out.String())
	}
	return outcome{out: out.String()}
}

// split takes a command line apart as a shell does, as far as quotes go.
func split(line string) []string {
	var words []string
	var word strings.Builder
	quote := rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}
