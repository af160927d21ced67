package explain_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// answerCase is a set of three pods in some trouble.
type answerCase struct {
	set     *testkit.SetBuilder
	history string
	fleet   string
	// edit brings in what the notation can't say.
	edit  func(q *explain.Question)
	state explain.State
	first explain.Code
}

func (c answerCase) question() explain.Question {
	set := c.set.Obj()
	set.Status.ObservedGeneration = set.Generation
	q := explain.Question{Observation: testkit.Observe(set, c.history, c.fleet), Nodes: map[string]*corev1.Node{}}
	for _, claim := range q.Observation.Claims {
		claim.Status.Phase = corev1.ClaimBound
	}
	if c.edit != nil {
		c.edit(&q)
	}
	return q
}

// three is the set that most cases begin with: from a to b.
func three() *testkit.SetBuilder {
	return testkit.MakeSet("web").Replicas(3).Template("b").Current("a")
}

func atRest() *testkit.SetBuilder { return testkit.MakeSet("web").Replicas(3).Current("a") }

var answerCases = map[string]answerCase{
	"all is well": {set: atRest(), history: "a", fleet: "0:a/available 1:a/available 2:a/available", state: explain.Done},
	"bad image": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling",
		state: explain.Stuck, first: explain.ImagePull,
		edit: func(q *explain.Question) {
			status := &podNamed(q, "web-2").Status.ContainerStatuses[0]
			status.State.Waiting.Message = `Back-off pulling image "b"`
			q.Events = append(q.Events, event("Pod", "web-2", "Failed", `Failed to pull image "b": not found`))
		},
	},
	"bad image with timeout": {
		set: three().ProgressTimeout(3600), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling",
		state: explain.Waiting, first: explain.ImagePull,
	},
	"progress halted": {
		set: three().ProgressTimeout(60), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling",
		state: explain.Stuck, first: explain.ImagePull,
		edit: func(q *explain.Question) {
			q.Observation.Set.Status.UpdateRevision = testkit.RevisionName(q.Observation.Set, "b")
			q.Observation.Set.Status.PodProgress = []v1.PodProgress{{
				Ordinal: 2, Revision: testkit.RevisionName(q.Observation.Set, "b"), Replacements: 3,
				LastReplacementTime: metav1.NewTime(testkit.Now.Add(-time.Hour)),
			}}
		},
	},
	"safety halt": {
		set: three().Strategy(v1.EnforcedRollingUpdateStrategy), history: "ab", fleet: "0:a/available 1:a/available 2:b/crashing",
		state: explain.Stuck, first: explain.CrashLoop, edit: crash("web-2", 137, "OOMKilled", ""),
	},
	"crash loop": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/crashing",
		state: explain.Stuck, first: explain.CrashLoop, edit: crash("web-2", 3, "Error", "cannot read /etc/web.conf:\n no such file"),
	},
	"outdated pod in the way": {
		set: testkit.MakeSet("web").Replicas(3).Template("c").Current("a"), history: "abc",
		fleet: "0:a/available 1:a/available 2:b/pulling", state: explain.Stuck, first: explain.ImagePull,
	},
	"crash loop at rest": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/crashing", state: explain.Stuck, first: explain.CrashLoop,
		edit: crash("web-1", 1, "Error", ""),
	},
	"config error": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling", state: explain.Stuck, first: explain.ConfigError,
		edit: waiting("web-2", "CreateContainerConfigError", `secret "web" not found`),
	},
	"another reason to wait": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling", state: explain.Stuck, first: explain.ContainerWaiting,
		edit: waiting("web-2", "PostStartHookError", "command exited with 126"),
	},
	"unschedulable": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.Unschedulable,
		edit: func(q *explain.Question) {
			pod := podNamed(q, "web-2")
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500")}
			unschedule(pod, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful.")
		},
	},
	"scheduling gate": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.Unschedulable,
		edit: func(q *explain.Question) {
			pod := podNamed(q, "web-2")
			pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
			unschedule(pod, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates")
		},
	},
	"claim unbound": {
		set: three().Claims("data"), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.ClaimUnbound,
		edit: func(q *explain.Question) {
			q.Observation.Claims["data-web-2"].Status.Phase = corev1.ClaimPending
			unschedule(podNamed(q, "web-2"), "Unschedulable", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
			q.Events = append(q.Events, event("PersistentVolumeClaim", "data-web-2", "ProvisioningFailed", `storageclass.storage.k8s.io "fast" not found`))
		},
	},
	"claim waits for its pod": {
		set: three().Claims("data"), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.Unschedulable,
		edit: func(q *explain.Question) {
			q.Observation.Claims["data-web-2"].Status.Phase = corev1.ClaimPending
			unschedule(podNamed(q, "web-2"), "Unschedulable", "0/3 nodes are available: 3 Insufficient memory.")
			wait := event("PersistentVolumeClaim", "data-web-2", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
			wait.Type = corev1.EventTypeNormal
			q.Events = append(q.Events, wait)
		},
	},
	"claim lost": {
		set: three().Claims("data"), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.ClaimLost,
		edit: func(q *explain.Question) {
			q.Observation.Claims["data-web-2"].Status.Phase = corev1.ClaimLost
			q.Observation.Claims["data-web-2"].Spec.VolumeName = "pv-7"
		},
	},
	"claim missing": {
		set: three().Claims("data"), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Progressing, first: explain.ClaimMissing,
		edit: func(q *explain.Question) { delete(q.Observation.Claims, "data-web-2") },
	},
	"claim terminating": {
		set: atRest().Claims("data"), history: "a", fleet: "0:a/available 1:a/available 2:a/available", state: explain.Stuck, first: explain.ClaimTerminating,
		edit: func(q *explain.Question) {
			q.Observation.Pods = q.Observation.Pods[:2]
			claim := q.Observation.Claims["data-web-2"]
			claim.DeletionTimestamp = &metav1.Time{Time: testkit.Now.Add(-time.Minute)}
			claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
		},
	},
	"volume does not mount": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Stuck, first: explain.VolumeProblem,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").Spec.NodeName = "node-1"
			q.Events = append(q.Events, event("Pod", "web-2", "FailedMount", "MountVolume.SetUp failed for volume \"web\" : configmap \"web\" not found"))
		},
	},
	"never ready": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/unready", state: explain.Stuck, first: explain.NotReady,
		edit: func(q *explain.Question) {
			unreadyFor("web-2", 20*time.Minute)(q)
			q.Events = append(q.Events, event("Pod", "web-2", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"))
		},
	},
	"not ready for a moment": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/unready 2:a/available", state: explain.Progressing, first: explain.NotReady,
		edit: unreadyFor("web-1", 5*time.Second),
	},
	"readiness gate": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/unready", state: explain.Stuck, first: explain.NotReady,
		edit: func(q *explain.Question) {
			unreadyFor("web-2", 20*time.Minute)(q)
			pod := podNamed(q, "web-2")
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/in-service"}}
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
		},
	},
	"evicted": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/available 2:a/failed", state: explain.Progressing, first: explain.Ended,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").Status.Reason = "Evicted"
			podNamed(q, "web-2").Status.Message = "The node was low on resource: memory."
		},
	},
	"starting": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Progressing, first: explain.Starting,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").CreationTimestamp.Time = testkit.Now.Add(-5 * time.Second)
		},
	},
	"min ready seconds": {
		set: three().MinReady(30), history: "ab", fleet: "0:a/available 1:a/available 2:b/ready", state: explain.Progressing, first: explain.MinReadySeconds,
	},
	"progressing": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:b/available", state: explain.Progressing,
	},
	"terminating": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:a/leaving", state: explain.Progressing, first: explain.Terminating,
		edit: deletedFor("web-2", -10*time.Second),
	},
	"node lost": {
		set: three().Strategy(v1.RecreateStrategy), history: "ab", fleet: "1:a/terminating", state: explain.Stuck, first: explain.NodeLost,
		edit: func(q *explain.Question) {
			deletedFor("web-1", 10*time.Minute)(q)
			podNamed(q, "web-1").Spec.NodeName = "node-7"
			q.Nodes["node-7"] = lostNode("node-7")
		},
	},
	"node lost while running": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/unready 2:a/available", state: explain.Stuck, first: explain.NodeLost,
		edit: func(q *explain.Question) {
			podNamed(q, "web-1").Spec.NodeName = "node-7"
			q.Nodes["node-7"] = lostNode("node-7")
		},
	},
	"node gone": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/terminating 2:a/available", state: explain.Stuck, first: explain.NodeLost,
		edit: func(q *explain.Question) {
			deletedFor("web-1", 10*time.Minute)(q)
			podNamed(q, "web-1").Spec.NodeName = "node-7"
			q.Nodes["node-7"] = nil
		},
	},
	"held by a finalizer": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:a/terminating", state: explain.Stuck, first: explain.StuckTerminating,
		edit: func(q *explain.Question) {
			deletedFor("web-2", 10*time.Minute)(q)
			podNamed(q, "web-2").Finalizers = []string{"example.com/drain"}
		},
	},
	"does not stop": {
		set: three(), history: "ab", fleet: "0:a/available 1:a/available 2:a/terminating", state: explain.Stuck, first: explain.StuckTerminating,
		edit: func(q *explain.Question) {
			deletedFor("web-2", 10*time.Minute)(q)
			podNamed(q, "web-2").Spec.NodeName = "node-1"
		},
	},
	"quota": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/available", state: explain.Stuck, first: explain.Quota,
		edit: refused(`could not create pod web-2 at revision web-a: create pod web-2 at revision web-a in namespace shop: pods "web-2" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2`),
	},
	"pod security": {
		set: atRest(), history: "a", fleet: "", state: explain.Stuck, first: explain.PodSecurity,
		edit: refused(`could not create pod web-0 at revision web-a: pods "web-0" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`),
	},
	"admission webhook": {
		set: atRest(), history: "a", fleet: "", state: explain.Stuck, first: explain.AdmissionWebhook,
		edit: refused(`could not create pod web-0 at revision web-a: admission webhook "policy.example.com" denied the request: no latest tags`),
	},
	"refused": {
		set: atRest(), history: "a", fleet: "", state: explain.Stuck, first: explain.Refused,
		edit: refused(`could not create pod web-0 at revision web-a: pods "web-0" is forbidden: error looking up service account shop/web: serviceaccount "web" not found`),
	},
	"name taken": {
		set: atRest(), history: "a", fleet: "0:a/available 1:a/available 2:a/available", state: explain.Stuck, first: explain.NameTaken,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "other", Controller: new(true)}}
		},
	},
	"paused": {
		set: three().Paused(), history: "ab", fleet: "0:a/available 1:a/available 2:a/available", state: explain.Held, first: explain.Paused,
	},
	"partition": {
		set: three().Partition(2), history: "ab", fleet: "0:a/available 1:a/available 2:b/available", state: explain.Held, first: explain.Partition,
	},
	"on delete": {
		set: three().Strategy(v1.OnDeleteStrategy), history: "ab", fleet: "0:a/available 1:a/available 2:b/available", state: explain.Held, first: explain.OnDelete,
	},
	"deleting": {
		set: atRest(), history: "a", fleet: "0:a/available", state: explain.Stuck, first: explain.Deleting,
		edit: func(q *explain.Question) {
			q.Observation.Set.DeletionTimestamp = &metav1.Time{Time: testkit.Now.Add(-time.Minute)}
			q.Observation.Set.Finalizers = []string{"foregroundDeletion"}
		},
	},
	"invalid spec": {
		set: atRest(), history: "a", fleet: "0:a/available", state: explain.Stuck, first: explain.InvalidSpec,
		edit: func(q *explain.Question) { q.Observation.Set.Spec.Selector = nil },
	},
	"namesake in charge": {
		set: atRest(), history: "a", fleet: "0:a/available", state: explain.Stuck, first: explain.NamesakeInCharge,
		edit: func(q *explain.Question) {
			theirs := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: q.Observation.Set.Name, UID: "theirs", Controller: new(true)}
			for _, pod := range q.Observation.Pods {
				pod.OwnerReferences = []metav1.OwnerReference{theirs}
			}
			for _, revision := range q.Observation.Revisions {
				revision.OwnerReferences = []metav1.OwnerReference{theirs}
			}
		},
	},
	"operator silent": {
		set: three(), history: "a", fleet: "0:a/available 1:a/available 2:a/available", state: explain.Stuck, first: explain.OperatorSilent,
		edit: func(q *explain.Question) {
			set := q.Observation.Set
			set.Generation, set.Status.ObservedGeneration = 4, 3
			set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Time: &metav1.Time{Time: testkit.Now.Add(-2 * time.Minute)}}}
		},
	},
	"operator has yet to come": {
		set: atRest(), history: "", fleet: "", state: explain.Stuck, first: explain.OperatorSilent,
		edit: func(q *explain.Question) { q.Observation.Set.Status = v1.StatefulSetStatus{} },
	},
	"gate disabled": {
		set: three().Strategy(v1.RecreateStrategy), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Progressing, first: explain.GateDisabled,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").CreationTimestamp.Time = testkit.Now.Add(-5 * time.Second)
			q.Observation.Set.Status.Conditions = []metav1.Condition{{
				Type: v1.ConditionUpdateStrategy, Status: metav1.ConditionFalse, Reason: v1.ReasonFeatureGateDisabled,
				Message: "the feature gate of Recreate is off, so updates are made with RollingUpdate", LastTransitionTime: metav1.NewTime(testkit.Now.Add(-time.Hour)),
			}}
		},
	},
	"timeout ignored": {
		set: three().ProgressTimeout(60), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling", state: explain.Stuck, first: explain.ImagePull,
		edit: func(q *explain.Question) {
			q.Observation.Set.Status.Conditions = []metav1.Condition{{
				Type: v1.ConditionUpdateStrategy, Status: metav1.ConditionTrue, Reason: "RollingUpdate",
				Message:            "updates are made with RollingUpdate; podProgressTimeoutSeconds is ignored: the feature gate StatefulSetProgressDeadline is off",
				LastTransitionTime: metav1.NewTime(testkit.Now.Add(-time.Hour)),
			}}
		},
	},
	"scale down waits": {
		set: testkit.MakeSet("web").Replicas(2).Current("a"), history: "a", fleet: "0:a/available 1:a/crashing 2:a/available",
		state: explain.Stuck, first: explain.CrashLoop, edit: crash("web-1", 1, "Error", ""),
	},
	"parallel goes on": {
		set: three().Parallel(), history: "ab", fleet: "0:a/crashing 1:a/available 2:b/available", state: explain.Progressing, first: explain.CrashLoop,
		edit: crash("web-0", 1, "Error", ""),
	},
	"staged and starting": {
		set: three().Partition(2), history: "ab", fleet: "0:a/available 1:a/available 2:b/pending", state: explain.Progressing, first: explain.Starting,
		edit: func(q *explain.Question) {
			podNamed(q, "web-2").CreationTimestamp.Time = testkit.Now.Add(-5 * time.Second)
		},
	},
	"paused and broken": {
		set: three().Paused(), history: "ab", fleet: "0:a/available 1:a/available 2:b/pulling", state: explain.Stuck, first: explain.ImagePull,
	},
}
