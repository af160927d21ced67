package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// defaulted is the spec of a set that says nothing.
func defaulted(change func(*v1.StatefulSetSpec)) v1.StatefulSetSpec {
	spec := v1.StatefulSetSpec{
		Replicas:             new(int32(1)),
		RevisionHistoryLimit: new(int32(10)),
		PodManagementPolicy:  v1.OrderedReady,
		UpdateStrategy:       v1.UpdateStrategy{Type: v1.RollingUpdateStrategy, RollingUpdate: tuning(0, intstr.FromInt32(1))},
		PersistentVolumeClaimRetentionPolicy: &v1.PersistentVolumeClaimRetentionPolicy{
			WhenDeleted: v1.Retain, WhenScaled: v1.Retain,
		},
	}
	change(&spec)
	return spec
}

func tuning(partition int32, maxUnavailable intstr.IntOrString) *v1.RollingUpdate {
	return &v1.RollingUpdate{Partition: &partition, MaxUnavailable: &maxUnavailable}
}

func TestSetDefaults(t *testing.T) {
	half := intstr.FromString("50%")
	tests := map[string]struct {
		spec v1.StatefulSetSpec
		want v1.StatefulSetSpec
	}{
		"nothing said": {
			want: defaulted(func(*v1.StatefulSetSpec) {}),
		},
		"zeros that were said stay": {
			spec: v1.StatefulSetSpec{Replicas: new(int32(0)), RevisionHistoryLimit: new(int32(0))},
			want: defaulted(func(s *v1.StatefulSetSpec) { *s.Replicas, *s.RevisionHistoryLimit = 0, 0 }),
		},
		"half a retention policy is completed": {
			spec: v1.StatefulSetSpec{PersistentVolumeClaimRetentionPolicy: &v1.PersistentVolumeClaimRetentionPolicy{WhenScaled: v1.Delete}},
			want: defaulted(func(s *v1.StatefulSetSpec) { s.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.Delete }),
		},
		"RollingUpdate without parameters gets them": {
			spec: v1.StatefulSetSpec{UpdateStrategy: v1.UpdateStrategy{Type: v1.RollingUpdateStrategy}},
			want: defaulted(func(*v1.StatefulSetSpec) {}),
		},
		"half the parameters are completed": {
			spec: v1.StatefulSetSpec{UpdateStrategy: v1.UpdateStrategy{RollingUpdate: &v1.RollingUpdate{MaxUnavailable: &half}}},
			want: defaulted(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate = tuning(0, half) }),
		},
		"EnforcedRollingUpdate gets parameters of its own": {
			spec: v1.StatefulSetSpec{UpdateStrategy: v1.UpdateStrategy{Type: v1.EnforcedRollingUpdateStrategy}},
			want: defaulted(func(s *v1.StatefulSetSpec) {
				s.UpdateStrategy = v1.UpdateStrategy{
					Type: v1.EnforcedRollingUpdateStrategy, EnforcedRollingUpdate: tuning(0, intstr.FromInt32(1)),
				}
			}),
		},
		"Recreate has no parameters": {
			spec: v1.StatefulSetSpec{UpdateStrategy: v1.UpdateStrategy{Type: v1.RecreateStrategy}},
			want: defaulted(func(s *v1.StatefulSetSpec) { s.UpdateStrategy = v1.UpdateStrategy{Type: v1.RecreateStrategy} }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := &v1.StatefulSet{Spec: test.spec}
			v1.SetDefaults(set)
			if diff := cmp.Diff(test.want, set.Spec); diff != "" {
				t.Errorf("defaulted spec (-want +got):\n%s", diff)
			}
			again := set.DeepCopy()
			if v1.SetDefaults(again); !cmp.Equal(set, again) {
				t.Error("defaulting twice changes more than defaulting once")
			}
		})
	}
}
