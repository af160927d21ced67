// Package examples runs the scripts under examples/ as a user would, and looks
// at what they leave behind. Their user has no right to delete a pod: a set that
// recovers was helped by the operator alone.
package examples

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
