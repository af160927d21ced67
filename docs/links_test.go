package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// link is what stands in the round brackets of "[text](target)".
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// block is text that is shown as it is.
	block = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	// heading is one of any level.
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// unspoken is what GitHub leaves out when it makes an anchor of a heading.
	unspoken = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks: every link from a page of the repository to another leads somewhere, down to the heading.
func TestLinks(t *testing.T) {
	pages := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md", "charts/*/*.md", "test/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range found {
			pages = append(pages, strings.TrimPrefix(page, root+string(filepath.Separator)))
		}
	}
	checked := 0
	for _, page := range pages {
		for _, target := range links(t, page) {
			checked++
			checkLink(t, page, target)
		}
	}
	if checked < len(pages) {
		t.Errorf("%d links on %d pages: are they still recognised?", checked, len(pages))
	}
}

// links are those of a page that stay in the repository.
func links(t *testing.T, page string) []string {
	t.Helper()
	var targets []string
	for _, found := range link.FindAllStringSubmatch(block.ReplaceAllString(read(t, page), ""), -1) {
		if target := found[1]; !strings.Contains(target, "://") && !strings.HasPrefix(target, "mailto:") {
			targets = append(targets, target)
		}
	}
	return targets
}

func checkLink(t *testing.T, page, target string) {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	destination := page
	if file != "" {
		destination = filepath.Join(filepath.Dir(page), file)
	}
	if _, err := os.Stat(filepath.Join(root, destination)); err != nil {
		t.Errorf("%s leads to %s, which is not there", page, target)
		return
	}
	if anchor != "" && !slices.Contains(anchors(read(t, destination)), anchor) {
		t.Errorf("%s leads to %s, which has no such heading", page, target)
	}
}

// anchors are what GitHub makes of the headings of a page.
func anchors(text string) []string {
	var made []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		spoken := unspoken.ReplaceAllString(strings.ToLower(strings.TrimSpace(found[1])), "")
		made = append(made, strings.ReplaceAll(spoken, " ", "-"))
	}
	return made
}

func read(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
