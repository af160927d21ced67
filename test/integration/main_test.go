// Package integration shows the parts at work together on a real control plane.
package integration

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
