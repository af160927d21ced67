// Package docs holds what is written about Rollcall to what is there.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = ".."

var (
	// alias is a row such as "| `planner` | `internal/planner` |", by which tests are called planner.TestScale.
	alias = regexp.MustCompile("(?m)^\\| `([a-z0-9]+)` \\| `([a-z0-9/]+)` \\|$")
	// quoted is what stands between backquotes.
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// test is a test, maybe with the name of a case: "planner.TestScale/up".
	test = regexp.MustCompile(`^([a-z0-9]+)\.((?:Test|Fuzz)\w*)(?:/(.+))?$`)
	// path is a file or folder of the repository.
	path = regexp.MustCompile(`^(?:api|charts|cmd|config|docs|examples|hack|internal|localcluster|test)/[\w./-]*$`)
)

// page is a document and the short names of packages that it introduces.
type page struct {
	text    string
	folders map[string]string
}

func readPage(t *testing.T, name string) page {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := page{text: string(content), folders: map[string]string{}}
	for _, row := range alias.FindAllStringSubmatch(p.text, -1) {
		p.folders[row[1]] = row[2]
	}
	return p
}

// TestSeeds: every test, case, file and folder that seeds.md and slo.md name is there. A test that is renamed without
// its mention leaves a requirement without a proof.
func TestSeeds(t *testing.T) {
	fewest := map[string]int{"seeds.md": 250, "slo.md": 5}
	for name, least := range fewest {
		t.Run(name, func(t *testing.T) {
			p := readPage(t, name)
			mentions := 0
			for _, found := range quoted.FindAllStringSubmatch(p.text, -1) {
				isMention, err := p.check(found[1])
				if isMention {
					mentions++
				}
				if err != nil {
					t.Error(err)
				}
			}
			if mentions < least {
				t.Errorf("%d tests and files are mentioned, want at least %d: are they still recognised?", mentions, least)
			}
		})
	}
}

// check tells whether a text is the name of a test or file, and if so, whether there is one.
func (p page) check(text string) (isMention bool, err error) {
	switch {
	case test.MatchString(text):
		return true, p.checkTest(test.FindStringSubmatch(text))
	case path.MatchString(text):
		_, err := os.Stat(filepath.Join(root, text))
		return true, err
	default:
		return false, nil
	}
}

// checkTest looks for a test in its folder, and for the name of a case beside it.
func (p page) checkTest(parts []string) error {
	mention, name, subtest := parts[0], parts[2], parts[3]
	folder, ok := p.folders[parts[1]]
	if !ok {
		return fmt.Errorf("%s: the page does not say which folder %s is", mention, parts[1])
	}
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		return err
	}
	isThere, hasCase := false, subtest == ""
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		isThere = isThere || strings.Contains(string(content), "\nfunc "+name+"(")
		hasCase = hasCase || strings.Contains(string(content), strconv.Quote(subtest))
	}
	if !isThere || !hasCase {
		return fmt.Errorf("%s: there is no such test in %s", mention, folder)
	}
	return nil
}

// TestCheck shows that what is missing is found to be.
func TestCheck(t *testing.T) {
	p := page{folders: map[string]string{"docs": "docs"}}
	tests := map[string]struct{ isMention, isMissing bool }{
		"docs.TestCheck":           {true, false},
		"docs.TestCheck/a case":    {true, true},
		"docs.TestSeeds/seeds.md":  {true, false},
		"docs.TestNothing":         {true, true},
		"other.TestCheck":          {true, true},
		"docs/seeds_test.go":       {true, false},
		"docs/no-such-page.md":     {true, true},
		"Progressing=True":         {false, false},
		"kubectl get rsts -o yaml": {false, false},
	}
	for text, want := range tests {
		isMention, err := p.check(text)
		if isMention != want.isMention || (err != nil) != want.isMissing {
			t.Errorf("%q: a mention %t, error %v; want a mention %t, missing %t", text, isMention, err, want.isMention, want.isMissing)
		}
	}
}
