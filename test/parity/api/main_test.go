// Package api holds our StatefulSet against the one of apps/v1.
//
// The same manifest, but for its apiVersion, is sent to both on a real API server, as kubectl sends it (strict field
// validation), with our webhook running. Both must accept it or both must refuse it. If both accept, what is stored
// must agree: outside the template and the claims literally, inside them after the API server's own defaulting.
// Differences that we know and want are listed in known_test.go, and nowhere else.
package api

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
