package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// UpdateStrategy says how pods are replaced when the template changes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.rollingUpdate) || self.type == 'RollingUpdate'",fieldPath=".rollingUpdate",message="only allowed with type RollingUpdate: remove rollingUpdate or change the type"
// +kubebuilder:validation:XValidation:rule="!has(self.enforcedRollingUpdate) || self.type == 'EnforcedRollingUpdate'",fieldPath=".enforcedRollingUpdate",message="only allowed with type EnforcedRollingUpdate: remove enforcedRollingUpdate or change the type"
// +kubebuilder:validation:XValidation:rule="!has(self.enforcedRollingUpdate) || !has(self.enforcedRollingUpdate.podProgressTimeoutSeconds)",fieldPath=".enforcedRollingUpdate.podProgressTimeoutSeconds",message="only allowed in rollingUpdate: EnforcedRollingUpdate waits for no outdated pod, so it has no timeout",reason=FieldValueForbidden
type UpdateStrategy struct {
	// type names the strategy: RollingUpdate waits for every pod, OnDelete leaves the replacing to you, Recreate stops
	// all pods before it starts new ones, EnforcedRollingUpdate replaces outdated pods whatever their state. Recreate
	// and EnforcedRollingUpdate are extensions of apps/v1, since v0.1.
	// +optional
	// +default="RollingUpdate"
	Type UpdateStrategyType `json:"type,omitempty"`
	// rollingUpdate tunes the RollingUpdate strategy and is allowed with no other.
	// +optional
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
	// enforcedRollingUpdate tunes the EnforcedRollingUpdate strategy and is allowed with no other. Extension of
	// apps/v1, since v0.1.
	// +optional
	EnforcedRollingUpdate *RollingUpdate `json:"enforcedRollingUpdate,omitempty"`
}

// UpdateStrategyType names an update strategy.
//
// +kubebuilder:validation:Enum=RollingUpdate;OnDelete;Recreate;EnforcedRollingUpdate
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
	// partition is the first ordinal, counted from the start ordinal, that is updated; pods below it keep their
	// revision. Lower it step by step for a staged roll-out. A partition above replicas updates nobody.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	Partition *int32 `json:"partition,omitempty"`
	// maxUnavailable is how many pods may be unavailable during an update: a number, or a percentage of
	// replicas that is rounded down but never below 1. A number above replicas means all of them.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 2147483647 : self.matches('^0*(100|[1-9][0-9]?)%$')",message="must be a whole number from 1 up, or a percentage from 1% to 100% such as 25%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// podProgressTimeoutSeconds is how old a pod that has never been ready may grow during an update before it is
	// replaced, at most three times in a row. It must be greater than minReadySeconds. Without it such a pod holds the
	// update for good. Only for the RollingUpdate strategy. Extension of apps/v1, since v0.1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	PodProgressTimeoutSeconds *int32 `json:"podProgressTimeoutSeconds,omitempty"`
}
