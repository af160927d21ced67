package v1

import appsv1 "k8s.io/api/apps/v1"

// Labels on pods, the same as those of apps/v1, so that services, network
// policies and dashboards that select on them keep working.
const (
	// RevisionLabel names the ControllerRevision that a pod was created from.
	RevisionLabel = appsv1.ControllerRevisionHashLabelKey
	// PodNameLabel repeats the pod's name, for selecting a single pod.
	PodNameLabel = appsv1.StatefulSetPodNameLabel
	// PodIndexLabel is the pod's ordinal.
	PodIndexLabel = appsv1.PodIndexLabel
)
