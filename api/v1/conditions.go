package v1

// Condition types of a set, each with its reasons beneath. Ready, Reconciling and Stalled follow kstatus, the
// convention by which Helm, Flux and Argo CD wait: Reconciling and Stalled are only present while they are True.
const (
	// ConditionReady is True when every slot is available at the revision it should have, and nothing is left to do
	// but what somebody held back (paused, partition, OnDelete). It is there from the first status write.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the controller works towards the spec.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the controller can't go on until somebody changes something.
	ConditionStalled = "Stalled"
	// ConditionProgressing is about the update: True while one advances and after it completed, False when it is held
	// up.
	ConditionProgressing = "Progressing"
	// ConditionUpdateStrategy names the strategy in force. It is False when that is not the strategy asked for, because
	// a feature gate is off.
	ConditionUpdateStrategy = "StatefulSetUpdateStrategy"
	// ConditionReplicaFailure is True when the API server refused to create or delete a pod or claim.
	ConditionReplicaFailure = "ReplicaFailure"
)

// Reasons of ConditionReady. ReasonScaling, ReasonInvalidSpec and ReasonNamesakeInCharge are reasons of it too.
const (
	// ReasonAllAvailable: every slot is available at the revision it should have.
	ReasonAllAvailable = "AllAvailable"
	// ReasonUnavailable: slots are missing or not available.
	ReasonUnavailable = "Unavailable"
	// ReasonOutdated: all slots are available, but the update has not reached every one of them.
	ReasonOutdated = "Outdated"
)

// Reasons of ConditionReconciling.
const (
	// ReasonScaling: pods are created or removed to meet replicas.
	ReasonScaling = "Scaling"
	// ReasonUpdating: outdated pods are being replaced.
	ReasonUpdating = "Updating"
	// ReasonHealing: pods that were lost or failed are being replaced, or became unavailable.
	ReasonHealing = "Healing"
)

// Reasons of ConditionStalled. ReasonProgressHalted, ReasonSafetyHalt, ReasonFailedCreate and ReasonFailedDelete are
// reasons of it too.
const (
	// ReasonInvalidSpec: the stored spec can't be acted on; the message says which field and why.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNamesakeInCharge: a StatefulSet of apps/v1 with the same name controls the pods. The set takes over as soon
	// as they are handed over, and does nothing until then.
	ReasonNamesakeInCharge = "NamesakeInCharge"
)

// Reasons of ConditionProgressing.
const (
	// ReasonUpdateInProgress: pods are being replaced.
	ReasonUpdateInProgress = "UpdateInProgress"
	// ReasonUpdateComplete: all slots are at the target revision and available.
	ReasonUpdateComplete = "UpdateComplete"
	// ReasonUpdateStaged: all slots at or above the partition are updated; those below it wait for it to be lowered.
	ReasonUpdateStaged = "UpdateStaged"
	// ReasonUpdateWaiting: with OnDelete, outdated pods wait for somebody to delete them.
	ReasonUpdateWaiting = "UpdateWaiting"
	// ReasonUpdatePaused: spec.paused holds the update back.
	ReasonUpdatePaused = "UpdatePaused"
	// ReasonProgressDeadlineExceeded: a pod did not get ready within podProgressTimeoutSeconds and is being replaced.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonProgressingResumed: the replacement of such a pod is ready and the update goes on.
	ReasonProgressingResumed = "ProgressingResumed"
	// ReasonProgressHalted: a pod was replaced as often as is allowed and still does not get ready; the update waits
	// for a new template.
	ReasonProgressHalted = "ProgressHalted"
	// ReasonSafetyHalt: with EnforcedRollingUpdate, the highest slot is at the target revision and not ready, so
	// nothing below it is taken.
	ReasonSafetyHalt = "SafetyHalt"
	// ReasonRecreateInProgress: with Recreate, pods are being deleted, awaited or created; the message says which.
	ReasonRecreateInProgress = "RecreateInProgress"
	// ReasonRecreateComplete: with Recreate, all pods are at the target revision and available.
	ReasonRecreateComplete = "RecreateComplete"
)

// Reasons of ConditionUpdateStrategy are the names of the strategies while it is True, and else:
const (
	// ReasonFeatureGateDisabled: the strategy asked for is switched off in the controller, which acts as RollingUpdate.
	ReasonFeatureGateDisabled = "FeatureGateDisabled"
)

// Reasons of ConditionReplicaFailure.
const (
	// ReasonFailedCreate: a pod or claim could not be created, for example for want of quota or because of PodSecurity.
	ReasonFailedCreate = "FailedCreate"
	// ReasonFailedDelete: a pod could not be deleted.
	ReasonFailedDelete = "FailedDelete"
)
