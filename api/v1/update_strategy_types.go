package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// UpdateStrategy says how pods are replaced when the template changes.
type UpdateStrategy struct {
	// type names the strategy.
	// +optional
	Type UpdateStrategyType `json:"type,omitempty"`
	// rollingUpdate tunes the RollingUpdate strategy and is allowed with no other.
	// +optional
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
	// enforcedRollingUpdate tunes the EnforcedRollingUpdate strategy and is allowed with no other.
	// Extension of apps/v1.
	// +optional
	EnforcedRollingUpdate *RollingUpdate `json:"enforcedRollingUpdate,omitempty"`
}

// UpdateStrategyType names an update strategy.
type UpdateStrategyType string

const (
	// RollingUpdateStrategy replaces pods from the highest ordinal down and waits for each to become available.
	// A pod that never does holds the update, unless podProgressTimeoutSeconds is set.
	RollingUpdateStrategy UpdateStrategyType = "RollingUpdate"
	// OnDeleteStrategy replaces a pod when somebody deletes it.
	OnDeleteStrategy UpdateStrategyType = "OnDelete"
	// RecreateStrategy deletes all pods, waits until they are gone, and creates them anew.
	RecreateStrategy UpdateStrategyType = "Recreate"
	// EnforcedRollingUpdateStrategy is a rolling update that replaces outdated pods whatever their state.
	EnforcedRollingUpdateStrategy UpdateStrategyType = "EnforcedRollingUpdate"
)

// RollingUpdate tunes a rolling update.
type RollingUpdate struct {
	// partition is the first ordinal, counted from the start ordinal, that is updated; pods below it keep their revision.
	// +optional
	Partition *int32 `json:"partition,omitempty"`
	// maxUnavailable is how many pods may be unavailable during an update: a number, or a percentage of
	// replicas that is rounded down but never below 1.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// podProgressTimeoutSeconds is how old a pod that has never been ready may grow during an update before it is
	// replaced. Only for the RollingUpdate strategy. Extension of apps/v1.
	// +optional
	PodProgressTimeoutSeconds *int32 `json:"podProgressTimeoutSeconds,omitempty"`
}
