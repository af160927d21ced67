// Command rollcall is the operator: its controller and its webhook are subcommands of one program.
package main

import (
	"os"

	"github.com/rollcall-dev/rollcall/internal/operator"
)

func main() {
	os.Exit(operator.Main())
}
