package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSet is a set of pods with stable identities whose updates recover by themselves. It takes every manifest
// that apps/v1 takes, with the same meaning, and adds the update strategies Recreate and EnforcedRollingUpdate, a
// progress timeout for rolling updates, and paused.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=statefulsets,shortName=rsts,categories=all,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Pods that the set should have"
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`,description="Pods at the update revision"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Pods that are Ready"
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`,description="Pods that have been Ready for minReadySeconds"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Strategy",type=string,priority=1,JSONPath=`.spec.updateStrategy.type`,description="How pods are replaced when the template changes"
// +kubebuilder:printcolumn:name="Current",type=string,priority=1,JSONPath=`.status.currentRevision`,description="Revision that the last complete update ended at"
// +kubebuilder:printcolumn:name="Update",type=string,priority=1,JSONPath=`.status.updateRevision`,description="Revision of the template in spec"
// +kubebuilder:printcolumn:name="Images",type=string,priority=1,JSONPath=`.spec.template.spec.containers[*].image`,description="Image of the first container (a printer column shows one value)"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",fieldPath=".metadata.name",message="must be a DNS label, because pods and their host names are made from it: lower case letters, digits and '-', no dots, beginning and ending with a letter or digit"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52",fieldPath=".metadata.name",message="must have at most 52 characters: the pod name <name>-<ordinal> and the revision <name>-<hash> are label values, which end at 63; choose a shorter name"
// +kubebuilder:validation:XValidation:rule="!has(self.metadata.generateName) || self.metadata.generateName.matches('^([a-z0-9][-a-z0-9]*)?$')",fieldPath=".metadata.generateName",message="must begin a DNS label: lower case letters, digits and '-', no dots, beginning with a letter or digit"
type StatefulSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the set.
	Spec StatefulSetSpec `json:"spec"`
	// status is what the controller last observed. A set that it has not seen yet says so by observedGeneration 0.
	// +optional
	// +kubebuilder:default={observedGeneration: 0}
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
//
// +kubebuilder:validation:XValidation:rule="(has(self.volumeClaimTemplates) ? self.volumeClaimTemplates : []) == (has(oldSelf.volumeClaimTemplates) ? oldSelf.volumeClaimTemplates : [])",fieldPath=".volumeClaimTemplates",message="field is immutable: restore the stored value, or delete the set with --cascade=orphan and create it anew"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchLabels) || self.selector.matchLabels.size() == 0 || (has(self.template.metadata) && has(self.template.metadata.labels) && self.selector.matchLabels.all(k, k in self.template.metadata.labels && self.template.metadata.labels[k] == self.selector.matchLabels[k]))",fieldPath=".template.metadata.labels",message="must match spec.selector: give the template every label of selector.matchLabels with the same value"
// +kubebuilder:validation:XValidation:rule="!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, has(self.template.metadata) && has(self.template.metadata.labels) && e.key in self.template.metadata.labels ? e.operator == 'Exists' || (e.operator == 'In' && has(e.values) && self.template.metadata.labels[e.key] in e.values) || (e.operator == 'NotIn' && !(has(e.values) && self.template.metadata.labels[e.key] in e.values)) : e.operator in ['NotIn', 'DoesNotExist'])",fieldPath=".template.metadata.labels",message="must match spec.selector: give the template labels that satisfy every one of selector.matchExpressions"
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec) || !has(self.template.spec.restartPolicy) || self.template.spec.restartPolicy.size() == 0 || self.template.spec.restartPolicy == 'Always'",fieldPath=".template.spec.restartPolicy",message="must be Always or absent: the pods of a StatefulSet run for good",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec) || !has(self.template.spec.activeDeadlineSeconds)",fieldPath=".template.spec.activeDeadlineSeconds",message="must not be set: the pods of a StatefulSet run for good",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.updateStrategy.rollingUpdate) || !has(self.updateStrategy.rollingUpdate.podProgressTimeoutSeconds) || self.updateStrategy.rollingUpdate.podProgressTimeoutSeconds > (has(self.minReadySeconds) ? self.minReadySeconds : 0)",fieldPath=".updateStrategy.rollingUpdate.podProgressTimeoutSeconds",message="must be greater than spec.minReadySeconds: raise the timeout or lower minReadySeconds"
type StatefulSetSpec struct {
	// replicas is how many pods the set should have.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// selector finds the pods of the set. It must match the labels of the template, must not be empty and can't be
	// changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="field is immutable: restore the stored selector, or delete the set with --cascade=orphan and create it anew"
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="must not be empty: an empty selector would match every pod; name at least one label"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",fieldPath=".matchExpressions",message="each operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && e.values.size() > 0))",fieldPath=".matchExpressions",message="values must be given with In and NotIn, and left out with Exists and DoesNotExist"
	Selector *metav1.LabelSelector `json:"selector"`

	// template is what each pod is made from. A change of it is an update, carried out by updateStrategy; no other change
	// is. To restart the pods, set the annotation kubectl.kubernetes.io/restartedAt here.
	Template corev1.PodTemplateSpec `json:"template"`

	// volumeClaimTemplates are the claims that each pod gets, named <template>-<pod>. A claim stays with its ordinal:
	// a new pod finds the data of the one before it. Each needs a name, an access mode and a storage request. They can't
	// be changed.
	// +optional
	// +listType=atomic
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// serviceName is the headless service that gives the pods their DNS names, <pod>.<serviceName>.<namespace>.svc.
	// It can't be changed.
	// +optional
	// +default=""
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="field is immutable: restore the stored value, or delete the set with --cascade=orphan and create it anew"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a service: lower case letters, digits and '-', beginning and ending with a letter or digit"
	ServiceName string `json:"serviceName"`

	// podManagementPolicy says in which order pods are created and removed. OrderedReady creates them from the lowest
	// ordinal up, each when those below it are available, and removes them from the highest down. Parallel creates and
	// removes them all at once. It can't be changed.
	// +optional
	// +default="OrderedReady"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="field is immutable: restore the stored value, or delete the set with --cascade=orphan and create it anew"
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty"`

	// updateStrategy says how pods are replaced when the template changes:
	//
	// RollingUpdate (the default) replaces them from the highest ordinal down and waits for each to become available.
	// A pod that never does holds the update, which is safe, until somebody steps in. Set
	// rollingUpdate.podProgressTimeoutSeconds to have such a pod replaced by itself.
	//
	// OnDelete replaces a pod when somebody deletes it. For operators and people who decide the order themselves.
	//
	// Recreate deletes all pods, waits until every one is gone, and creates them anew. For software whose old and new
	// version must never run at the same time, and for test environments; there is a downtime.
	//
	// EnforcedRollingUpdate is a rolling update that replaces outdated pods whatever their state, so a corrected
	// template gets past pods that an earlier, broken one left behind. It halts when the newest pod does not get ready.
	// +optional
	// +kubebuilder:default={type: "RollingUpdate", rollingUpdate: {partition: 0, maxUnavailable: 1}}
	UpdateStrategy UpdateStrategy `json:"updateStrategy,omitzero"`

	// revisionHistoryLimit is how many revisions that no pod runs are kept for a rollback. 0 keeps none.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// minReadySeconds is how long a pod must have been ready, without interruption, to count as available. 0 means
	// that a pod is available as soon as it is ready.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`

	// persistentVolumeClaimRetentionPolicy says what becomes of the claims made from volumeClaimTemplates when the set
	// is deleted or scaled down.
	// +optional
	// +kubebuilder:default={whenDeleted: "Retain", whenScaled: "Retain"}
	PersistentVolumeClaimRetentionPolicy *PersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// ordinals says where the numbering of the pods starts; at 0 when absent.
	// +optional
	Ordinals *Ordinals `json:"ordinals,omitempty"`

	// paused holds updates back while scaling and healing go on, as it does for a Deployment. Extension of apps/v1,
	// since v0.1.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// PodManagementPolicyType is the order in which pods are created and removed.
//
// +kubebuilder:validation:Enum=OrderedReady;Parallel
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
	// whenDeleted applies to all claims when the set is deleted: Retain keeps them with their data, Delete removes
	// them.
	// +optional
	// +default="Retain"
	WhenDeleted RetentionPolicyType `json:"whenDeleted,omitempty"`
	// whenScaled applies to the claims of pods that a scale-down removes: Retain keeps them, so that a later scale-up
	// finds the data again, Delete removes them once their pods are gone.
	// +optional
	// +default="Retain"
	WhenScaled RetentionPolicyType `json:"whenScaled,omitempty"`
}

// RetentionPolicyType is what becomes of a claim.
//
// +kubebuilder:validation:Enum=Retain;Delete
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
	// +default=0
	// +kubebuilder:validation:Minimum=0
	Start int32 `json:"start"`
}
