// Package endurance runs the operator as a process of its own: killed again and
// again while it works, and left alone when there is nothing to do.
package endurance

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }
