package certificate

import (
	"crypto/tls"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func TestExpiryMetric(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	issued, _, err := issue([]string{"web", "127.0.0.1"}, now, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := issued.load()
	tests := map[string]struct {
		err  error
		want float64
	}{
		"served": {nil, float64(now.Add(lifetime).Unix())},
		"none":   {errors.New("there is no certificate yet"), 0},
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			collector := NewExpiryCollector(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return loaded, test.err })
			if got := testutil.ToFloat64(collector); got != test.want {
				t.Errorf("expires at %v, want %v", got, test.want)
			}
			var problems []promlint.Problem
			if problems, err = testutil.CollectAndLint(collector); err != nil || len(problems) > 0 {
				t.Errorf("lint: %v %v", problems, err)
			}
		})
	}
}
