package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSet is a set of pods with stable identities whose updates recover by themselves.
//
// +kubebuilder:object:root=true
type StatefulSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the set.
	Spec StatefulSetSpec `json:"spec"`
	// status is what the controller last observed.
	// +optional
	Status StatefulSetStatus `json:"status,omitempty"`
}

// StatefulSetList is a list of StatefulSets.
//
// +kubebuilder:object:root=true
type StatefulSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []StatefulSet `json:"items"`
}

// StatefulSetSpec is the desired state of a set.
type StatefulSetSpec struct {
	// replicas is how many pods the set should have.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// selector finds the pods of the set. It must match the labels of the template and can't be changed.
	Selector *metav1.LabelSelector `json:"selector"`

	// template is what each pod is made from. A change of it is an update.
	Template corev1.PodTemplateSpec `json:"template"`

	// volumeClaimTemplates are the claims that each pod gets, named <template>-<pod>. They can't be changed.
	// +optional
	// +listType=atomic
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// serviceName is the headless service that gives the pods their DNS names. It can't be changed.
	// +optional
	ServiceName string `json:"serviceName"`

	// podManagementPolicy says whether pods are created and removed one after another or all at once.
	// It can't be changed.
	// +optional
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// updateStrategy says how pods are replaced when the template changes.
	// +optional
	UpdateStrategy UpdateStrategy `json:"updateStrategy,omitempty"`

	// revisionHistoryLimit is how many revisions that no pod runs are kept for a rollback.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// minReadySeconds is how long a pod must have been ready to count as available.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`

	// persistentVolumeClaimRetentionPolicy says what becomes of claims when the set is deleted or scaled down.
	// +optional
	PersistentVolumeClaimRetentionPolicy *PersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// ordinals says where the numbering of the pods starts.
	// +optional
	Ordinals *Ordinals `json:"ordinals,omitempty"`

	// paused holds updates back while scaling and healing go on. Extension of apps/v1.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// PodManagementPolicyType is the order in which pods are created and removed.
type PodManagementPolicyType string

const (
	// OrderedReady creates pods from the lowest ordinal up, each when those below it are available,
	// and removes them from the highest down.
	OrderedReady PodManagementPolicyType = "OrderedReady"
	// Parallel creates and removes pods all at once.
	Parallel PodManagementPolicyType = "Parallel"
)

// PersistentVolumeClaimRetentionPolicy says what becomes of the claims of a set.
type PersistentVolumeClaimRetentionPolicy struct {
	// whenDeleted applies to all claims when the set is deleted.
	// +optional
	WhenDeleted RetentionPolicyType `json:"whenDeleted,omitempty"`
	// whenScaled applies to the claims of pods that a scale-down removes.
	// +optional
	WhenScaled RetentionPolicyType `json:"whenScaled,omitempty"`
}

// RetentionPolicyType is what becomes of a claim.
type RetentionPolicyType string

const (
	// Retain keeps the claim and its data.
	Retain RetentionPolicyType = "Retain"
	// Delete removes the claim with its pod.
	Delete RetentionPolicyType = "Delete"
)

// Ordinals says how pods are numbered.
type Ordinals struct {
	// start is the ordinal of the first pod; the pods are numbered start to start+replicas-1.
	// +optional
	Start int32 `json:"start"`
}

// StatefulSetStatus is what the controller last observed. Counts are written even when they are zero.
type StatefulSetStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of pods that exist.
	// +optional
	Replicas int32 `json:"replicas"`
	// readyReplicas is the number of pods that are Running and Ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// availableReplicas is the number of pods that have been Ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
	// currentReplicas is the number of pods at currentRevision.
	// +optional
	CurrentReplicas int32 `json:"currentReplicas"`
	// updatedReplicas is the number of pods at updateRevision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// currentRevision is the revision that the last complete update ended at.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`
	// updateRevision is the revision of the template in spec, the target of an update.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`
	// collisionCount counts hash collisions between names of revisions.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`

	// conditions summarize the state of the set.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// selector is spec.selector in its text form, for the scale subresource. Extension of apps/v1.
	// +optional
	Selector string `json:"selector,omitempty"`

	// podProgress remembers the pods that podProgressTimeoutSeconds replaced. Extension of apps/v1.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	PodProgress []PodProgress `json:"podProgress,omitempty"`
}

// PodProgress counts the replacements of one pod by podProgressTimeoutSeconds.
type PodProgress struct {
	// ordinal is the ordinal of the pod.
	Ordinal int32 `json:"ordinal"`
	// revision is the revision at which the replacements are counted.
	Revision string `json:"revision"`
	// replacements is how many times in a row the pod was replaced at this revision.
	Replacements int32 `json:"replacements"`
	// lastReplacementTime is when the pod was last replaced.
	LastReplacementTime metav1.Time `json:"lastReplacementTime"`
}
