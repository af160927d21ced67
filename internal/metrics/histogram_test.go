package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/rollcall-dev/rollcall/internal/metrics"
)

// wantHistogram checks how much a histogram has seen, and of how much in all.
func wantHistogram(t *testing.T, m *metrics.Metrics, name, labels, count, sum string) {
	t.Helper()
	text, err := testutil.CollectAndFormat(m, expfmt.TypeTextPlain, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{name + "_count" + labels + " " + count, name + "_sum" + labels + " " + sum} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
