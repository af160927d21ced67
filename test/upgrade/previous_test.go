package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// leashed is a main for the operator of before: like the test binaries, it ends when the test that started it is gone.
const leashed = `package main

import (
	"io"
	"os"

	"github.com/rollcall-dev/rollcall/internal/operator"
)

func main() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	os.Exit(operator.Main())
}
`

// release is an operator with its CRD.
type release struct {
	name string
	// program is empty for the operator of now, which this test binary can become.
	program string
	crd     string
}

func newRelease() release {
	return release{name: "now", crd: filepath.Join("..", "..", "config", "crd")}
}

// buildPrevious unpacks and builds the operator of before.
func buildPrevious(t *testing.T) release {
	t.Helper()
	folder := t.TempDir()
	command(t, "", "tar", "-xzf", filepath.Join("testdata", "previous.tar.gz"), "-C", folder)
	main := filepath.Join(folder, "cmd", "leashed")
	if err := os.Mkdir(main, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(main, "main.go"), []byte(leashed), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "previous")
	command(t, folder, "go", "build", "-buildvcs=false", "-o", program, "./cmd/leashed")
	return release{name: "before", program: program, crd: filepath.Join(folder, "config", "crd")}
}

// command runs a program in a folder.
func command(t testing.TB, folder, name string, args ...string) {
	t.Helper()
	run := exec.Command(name, args...)
	run.Dir = folder
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
