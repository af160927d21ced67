package strategies

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const folder = "../../docs/strategies"

// block is something in a page that a test vouches for: a comment that says what
// it shows, and a fenced block beneath.
//
//	<!-- timeline: enforced.txt -->
//	```text
//	…
//	```
var block = regexp.MustCompile("(?s)<!-- (timeline|conditions): ([^\n]+) -->\n```(?:text|console)\n(.*?)```\n")

// prompt is what stands above conditions in a page.
const prompt = "$ conditions web\n"

// blocks returns the blocks of a kind in all pages, by what they show.
func blocks(t *testing.T, kind string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range pages(t) {
		for _, match := range block.FindAllStringSubmatch(readFile(t, file), -1) {
			if match[1] == kind {
				found[match[2]] = match[3]
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no page in %s shows %s", folder, kind)
	}
	return found
}

// rewrite replaces blocks of a kind in the pages.
func rewrite(t *testing.T, kind string, contents map[string]string) {
	t.Helper()
	for _, file := range pages(t) {
		page := block.ReplaceAllStringFunc(readFile(t, file), func(old string) string {
			match := block.FindStringSubmatch(old)
			content, ok := contents[match[2]]
			if match[1] != kind || !ok {
				return old
			}
			return strings.TrimSuffix(old, match[3]+"```\n") + content + "```\n"
		})
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
