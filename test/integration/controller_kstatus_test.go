package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Whoever waits for a set with kstatus sees it in progress from the edit to the end, without a glimpse of anything else,
// and sees it fail when it can't go on.
func TestKstatus(t *testing.T) {
	t.Parallel()
	const current, inProgress, failed = status.CurrentStatus, status.InProgressStatus, status.FailedStatus
	tests := map[string]struct {
		set  []scenario.Edit
		edit scenario.Edit
		want []status.Status
	}{
		"RollingUpdate":         {nil, scenario.Image("web:2"), []status.Status{current, inProgress, current}},
		"Parallel":              {[]scenario.Edit{scenario.Parallel(), scenario.MaxUnavailable("2")}, scenario.Image("web:2"), []status.Status{current, inProgress, current}},
		"EnforcedRollingUpdate": {[]scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy)}, scenario.Image("web:2"), []status.Status{current, inProgress, current}},
		"Recreate":              {[]scenario.Edit{scenario.Strategy(v1.RecreateStrategy)}, scenario.Image("web:2"), []status.Status{current, inProgress, current}},
		"OnDelete":              {[]scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy)}, scenario.Image("web:2"), []status.Status{current, inProgress, current}},
		"scaling up":            {nil, scenario.Replicas(5), []status.Status{current, inProgress, current}},
		"scaling down":          {nil, scenario.Replicas(1), []status.Status{current, inProgress, current}},
		"timeout, halted":       {[]scenario.Edit{scenario.ProgressTimeout(1)}, scenario.Image("web:2-crash-loop"), []status.Status{current, inProgress, failed}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := given(t, test.set...)
			chronicle := story.Chronicle()
			story.When(test.edit)
			story.Eventually(t, fmt.Sprintf("it went %v", test.want), func(context.Context) error {
				if got := verdicts(t, chronicle); !slices.Equal(got, test.want) {
					return fmt.Errorf("it went %v", got)
				}
				return nil
			})
			story.ThenSettled()
			if got := verdicts(t, chronicle); !slices.Equal(got, test.want) {
				t.Errorf("in the end it went %v, want %v", got, test.want)
			}
		})
	}
}

// verdicts are what kstatus said of the versions of a set, one entry for each change.
func verdicts(t *testing.T, chronicle *scenario.Chronicle) []status.Status {
	t.Helper()
	var said []status.Status
	for _, set := range chronicle.Versions() {
		set.SetGroupVersionKind(v1.Kind)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
		if err != nil {
			t.Fatal(err)
		}
		result, err := status.Compute(&unstructured.Unstructured{Object: content})
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, result.Status)
	}
	return slices.Compact(said)
}
