// rollcall-local is a Kubernetes control plane in one file, with simulated
// nodes: for a laptop, for tests and for demos. Started under the name of one
// of the control plane's programs, it is that program.
package main

import (
	"os"
	"path/filepath"

	"github.com/rollcall-dev/rollcall/localcluster/cli"
	"github.com/rollcall-dev/rollcall/localcluster/leash"
	"github.com/rollcall-dev/rollcall/localcluster/programs"
)

func main() {
	leash.Hold()
	name := filepath.Base(os.Args[0])
	if program, found := programs.Find(name); found {
		program()
		return
	}
	if name == leash.Program {
		os.Exit(leash.Run(os.Args[1:]))
	}
	os.Exit(cli.Main())
}
