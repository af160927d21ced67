// Package behaviour plays the same scripts against the built-in controller with
// apps/v1 and against ours, and compares what can be seen: pods created and
// deleted, revisions, claims and status.
//
// For an ordered set the whole sequence of creations and deletions must agree.
// For a parallel one each pod's own sequence must: pods race each other there,
// under either controller. Differences that are meant are listed by name in
// differences_test.go, each with its reason.
package behaviour

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestMain(m *testing.M) {
	scenario.AtOnce(12)
	cluster.Main(m)
}
