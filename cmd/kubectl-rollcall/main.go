// Command kubectl-rollcall is the kubectl plugin of Rollcall, used as `kubectl rollcall`.
package main

import (
	"os"

	"github.com/rollcall-dev/rollcall/internal/cli"
)

func main() { os.Exit(cli.Main()) }
