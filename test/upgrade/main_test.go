// Package upgrade tests what happens to sets when the operator is upgraded and downgraded: nothing.
//
// The operator of before is built from the sources in testdata, which hack/archive-previous.sh stores.
package upgrade

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }
