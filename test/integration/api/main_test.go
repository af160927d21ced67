// Package api shows the API at work on a real API server: the feature gates, the samples, the commands that users give,
// and the webhook as a process. That it agrees with apps/v1 is shown in test/parity/api.
package api

import (
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }
