package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StatefulSetStatus is what the controller last observed. Counts are written even when they are zero.
type StatefulSetStatus struct {
	// observedGeneration is the generation of the spec that this status describes. While it is lower than
	// metadata.generation, the rest of the status is about an older spec.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of pods that exist.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`
	// readyReplicas is the number of pods that are Running and Ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas int32 `json:"readyReplicas"`
	// availableReplicas is the number of pods that have been Ready for minReadySeconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AvailableReplicas int32 `json:"availableReplicas"`
	// currentReplicas is the number of pods at currentRevision.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CurrentReplicas int32 `json:"currentReplicas"`
	// updatedReplicas is the number of pods at updateRevision.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// currentRevision is the revision that the last complete update ended at.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`
	// updateRevision is the revision of the template in spec, the target of an update.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`
	// collisionCount counts hash collisions between names of revisions.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// conditions summarize the state of the set: Ready, Reconciling, Stalled, Progressing,
	// StatefulSetUpdateStrategy and ReplicaFailure.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// selector is spec.selector in its text form, for the scale subresource. Extension of apps/v1, since v0.1.
	// +optional
	Selector string `json:"selector,omitempty"`

	// podProgress remembers the pods that podProgressTimeoutSeconds replaced. Extension of apps/v1, since v0.1.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	PodProgress []PodProgress `json:"podProgress,omitempty"`
}

// PodProgress counts the replacements of one pod by podProgressTimeoutSeconds.
type PodProgress struct {
	// ordinal is the ordinal of the pod.
	// +kubebuilder:validation:Minimum=0
	Ordinal int32 `json:"ordinal"`
	// revision is the revision at which the replacements are counted.
	Revision string `json:"revision"`
	// replacements is how many times in a row the pod was replaced at this revision.
	// +kubebuilder:validation:Minimum=0
	Replacements int32 `json:"replacements"`
	// lastReplacementTime is when the pod was last replaced.
	LastReplacementTime metav1.Time `json:"lastReplacementTime"`
	// lastReplacedUID is the UID of the pod that was last replaced. It is counted once, however often its deletion has to be tried.
	// +optional
	LastReplacedUID types.UID `json:"lastReplacedUID,omitempty"`
}
