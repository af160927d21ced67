package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// Values of absent fields, the same as those of apps/v1.
const (
	DefaultReplicas             int32 = 1
	DefaultRevisionHistoryLimit int32 = 10
	DefaultPartition            int32 = 0
	DefaultMaxUnavailable             = 1
)

// SetDefaults gives every absent field outside the template and the claims the value that its absence means, so that
// the code which acts on a set need not know about absence.
//
// It is for sets in memory. What is stored is defaulted by the schema of the CRD, which leaves three things open that
// mean the same: an absent rollingUpdate next to type RollingUpdate (apps/v1 stores none there either), an absent
// enforcedRollingUpdate, and anything written by a client past the schema.
func SetDefaults(set *StatefulSet) {
	spec := &set.Spec
	spec.Replicas = orElse(spec.Replicas, DefaultReplicas)
	spec.RevisionHistoryLimit = orElse(spec.RevisionHistoryLimit, DefaultRevisionHistoryLimit)
	if spec.PodManagementPolicy == "" {
		spec.PodManagementPolicy = OrderedReady
	}
	setRetentionDefaults(spec)
	setStrategyDefaults(&spec.UpdateStrategy)
}

func setRetentionDefaults(spec *StatefulSetSpec) {
	if spec.PersistentVolumeClaimRetentionPolicy == nil {
		spec.PersistentVolumeClaimRetentionPolicy = &PersistentVolumeClaimRetentionPolicy{}
	}
	policy := spec.PersistentVolumeClaimRetentionPolicy
	if policy.WhenDeleted == "" {
		policy.WhenDeleted = Retain
	}
	if policy.WhenScaled == "" {
		policy.WhenScaled = Retain
	}
}

// setStrategyDefaults fills in the parameters of the strategy in force and leaves those of others alone.
func setStrategyDefaults(strategy *UpdateStrategy) {
	if strategy.Type == "" {
		strategy.Type = RollingUpdateStrategy
	}
	switch strategy.Type {
	case RollingUpdateStrategy:
		strategy.RollingUpdate = withDefaults(strategy.RollingUpdate)
	case EnforcedRollingUpdateStrategy:
		strategy.EnforcedRollingUpdate = withDefaults(strategy.EnforcedRollingUpdate)
	case OnDeleteStrategy, RecreateStrategy:
	}
}

func withDefaults(tuning *RollingUpdate) *RollingUpdate {
	if tuning == nil {
		tuning = &RollingUpdate{}
	}
	tuning.Partition = orElse(tuning.Partition, DefaultPartition)
	tuning.MaxUnavailable = orElse(tuning.MaxUnavailable, intstr.FromInt32(DefaultMaxUnavailable))
	return tuning
}

func orElse[T any](value *T, fallback T) *T {
	if value == nil {
		return &fallback
	}
	return value
}
