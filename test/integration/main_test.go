// Package integration shows the parts at work together on a real control plane.
package integration

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(8)
	cluster.Main(m)
}
