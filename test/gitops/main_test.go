// Package gitops holds the health checks of gitops/ against sets on a real control plane: every version of a set that a
// watch shows, in all stages of a roll-out, is judged by Lua as in Argo CD, and by CEL as in Flux. Nothing is
// recorded in files, so nothing recorded can grow old.
package gitops

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(8)
	cluster.Main(m)
}
