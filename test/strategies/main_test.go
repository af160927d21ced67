// Package strategies holds the pages under docs/strategies against the code.
// Timelines are drawn from the golden traces of the planner, and what a page shows
// of a set's conditions is compared with a set on a real control plane. So no page
// shows what does not happen. With -update the pages are written anew.
package strategies

import (
	"flag"
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

var update = flag.Bool("update", false, "write the pictures and conditions of docs/strategies anew")

func TestMain(m *testing.M) { cluster.Main(m) }
