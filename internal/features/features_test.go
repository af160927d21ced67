package features_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/spf13/pflag"

	"github.com/rollcall-dev/rollcall/internal/features"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

func TestFeatureGatesFlag(t *testing.T) {
	tests := map[string]struct {
		flag    string
		want    plan.Gates
		wantErr string
	}{
		"default is all on": {
			want: plan.AllGates(),
		},
		"one off": {
			flag: "StatefulSetRecreateStrategy=false",
			want: plan.Gates{MaxUnavailable: true, EnforcedRollingUpdate: true, ProgressDeadline: true},
		},
		"all beta off but one": {
			flag: "AllBeta=false,MaxUnavailableStatefulSet=true",
			want: plan.Gates{MaxUnavailable: true},
		},
		"each gate reaches its own field": {
			flag: "MaxUnavailableStatefulSet=false,EnforcedRollingUpdateInStatefulSet=false",
			want: plan.Gates{Recreate: true, ProgressDeadline: true},
		},
		"unknown gate": {
			flag:    "Recreate=false",
			wantErr: "unrecognized feature gate: Recreate",
		},
		"not a boolean": {
			flag:    "StatefulSetProgressDeadline=maybe",
			wantErr: "invalid value of StatefulSetProgressDeadline=maybe",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := features.New()
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			set.AddFlag(flags)
			var args []string
			if test.flag != "" {
				args = []string{"--feature-gates=" + test.flag}
			}
			err := flags.Parse(args)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, set.Gates()); diff != "" {
				t.Errorf("gates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollector(t *testing.T) {
	set := features.New()
	if err := set.Assign("EnforcedRollingUpdateInStatefulSet=false"); err != nil {
		t.Fatal(err)
	}
	want := `
# HELP rollcall_feature_enabled Whether a feature gate is on (1) or off (0) in this process.
# TYPE rollcall_feature_enabled gauge
rollcall_feature_enabled{name="EnforcedRollingUpdateInStatefulSet",stage="BETA"} 0
rollcall_feature_enabled{name="MaxUnavailableStatefulSet",stage="BETA"} 1
rollcall_feature_enabled{name="StatefulSetProgressDeadline",stage="BETA"} 1
rollcall_feature_enabled{name="StatefulSetRecreateStrategy",stage="BETA"} 1
`
	if err := testutil.CollectAndCompare(set.Collector(), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
