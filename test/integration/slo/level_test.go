package slo

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// level is a service level: so large a share of the samples must be within the limit.
type level struct {
	what    string
	limit   time.Duration
	share   float64
	samples []time.Duration
}

// kept tells whether the level is. Without samples nothing is known, so it is not.
func (l level) kept() bool {
	within := 0
	for _, sample := range l.samples {
		if sample <= l.limit {
			within++
		}
	}
	return within > 0 && float64(within) >= l.share*float64(len(l.samples))
}

// String is the distribution of the samples.
func (l level) String() string {
	return fmt.Sprintf("%s: %d samples, p50 %s, p90 %s, p99 %s, max %s; %g%% must be within %s",
		l.what, len(l.samples), l.quantile(0.5), l.quantile(0.9), l.quantile(0.99), l.quantile(1), 100*l.share, l.limit)
}

// quantile is the smallest sample that so large a share of all does not exceed.
func (l level) quantile(share float64) time.Duration {
	if len(l.samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l.samples))
	index := int(share*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(index, 0), len(sorted)-1)].Round(time.Millisecond)
}

// check prints the distribution and fails the test if the level is not kept.
func (l level) check(t *testing.T) {
	t.Helper()
	t.Log(l)
	if !l.kept() {
		t.Errorf("the service level is not kept: %s", l)
	}
}

// verdict collects what must never happen.
type verdict []string

// condemn adds the pods to which it happened in a trial.
func (v *verdict) condemn(went course, pods []string) {
	for _, pod := range pods {
		*v = append(*v, fmt.Sprintf("%s (%s)", pod, went.trial))
	}
}

// check prints the count and fails the test unless it is 0.
func (v verdict) check(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d", what, len(v))
	for _, found := range v {
		t.Errorf("%s: %s", what, found)
	}
}

func TestLevel(t *testing.T) {
	hundred := level{limit: 99 * time.Second, share: 0.99}
	for second := range 100 {
		hundred.samples = append(hundred.samples, time.Duration(100-second)*time.Second)
	}
	if got := [3]time.Duration{hundred.quantile(0.5), hundred.quantile(0.99), hundred.quantile(1)}; got != [3]time.Duration{50 * time.Second, 99 * time.Second, 100 * time.Second} {
		t.Errorf("quantiles %v, want 50s, 99s and 100s", got)
	}
	stricter := hundred
	stricter.limit--
	for name, test := range map[string]struct {
		level level
		want  bool
	}{"one of a hundred is late": {hundred, true}, "two are": {stricter, false}, "nothing was measured": {level{}, false}} {
		if got := test.level.kept(); got != test.want {
			t.Errorf("%s: kept is %t, want %t", name, got, test.want)
		}
	}
}
