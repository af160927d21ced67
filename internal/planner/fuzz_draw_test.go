package planner_test

import (
	"math"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/revision"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// source turns the bytes of a fuzzer into choices; when they run out, all further
// choices are the first one.
type source struct{ data []byte }

func (s *source) number(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	first := s.data[0]
	s.data = s.data[1:]
	return int(first) % n
}

func (s *source) bool() bool { return s.number(2) == 1 }

// choose picks one of several; the first is the most ordinary.
func choose[T any](s *source, choices ...T) T { return choices[s.number(len(choices))] }

// orNil picks a number, or that there is none.
func orNil(s *source, numbers ...int32) *int32 {
	if i := s.number(len(numbers) + 1); i < len(numbers) {
		return &numbers[i]
	}
	return nil
}

func drawObservation(s *source) plan.Observation {
	o := plan.Observation{Set: drawAbsurdSet(s), Now: choose(s, testkit.Now, testkit.Now, testkit.Now, time.Time{})}
	o.Gates = plan.Gates{MaxUnavailable: !s.bool(), Recreate: !s.bool(), EnforcedRollingUpdate: !s.bool(), ProgressDeadline: !s.bool()}
	for range s.number(5) {
		o.Revisions = append(o.Revisions, drawRevision(s, o.Set))
	}
	for range s.number(8) {
		o.Pods = append(o.Pods, drawPod(s, o.Set))
	}
	o.Claims = drawClaims(s, o.Set)
	o.Set.Status = drawStatus(s, o.Set)
	return o
}

// drawAbsurdSet draws a set that validation need not have seen.
func drawAbsurdSet(s *source) *v1.StatefulSet {
	labels := choose(s, map[string]string{"app": "web"}, nil)
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "set", Generation: int64(s.number(4))}}
	if s.number(8) == 7 {
		set.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	}
	set.Spec = v1.StatefulSetSpec{
		Replicas:             orNil(s, 3, 2, 1, 0, 5, -3, 50),
		Selector:             choose(s, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, &metav1.LabelSelector{}, nil),
		PodManagementPolicy:  choose(s, v1.OrderedReady, v1.Parallel, "", "Sideways"),
		MinReadySeconds:      choose[int32](s, 0, 10, 0, -5, math.MaxInt32),
		RevisionHistoryLimit: orNil(s, 1, 0, 10, -1, math.MinInt32),
		Paused:               s.number(5) == 4,
		UpdateStrategy:       drawStrategy(s),
	}
	if s.bool() {
		set.Spec.Ordinals = &v1.Ordinals{Start: choose[int32](s, 1, 0, 2, -1, math.MaxInt32)}
	}
	if s.bool() {
		set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.PersistentVolumeClaimRetentionPolicy{
			WhenDeleted: choose(s, v1.Retain, v1.Delete, ""), WhenScaled: choose(s, v1.Retain, v1.Delete, ""),
		}
	}
	set.Spec.Template = drawTemplate(s, labels)
	for i := range s.number(3) {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data" + strconv.Itoa(i)},
		})
	}
	return set
}

func drawTemplate(s *source, labels map[string]string) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	if image := choose(s, "a", "b", "c", ""); image != "" {
		template.Spec.Containers = []corev1.Container{{Name: "main", Image: image}}
	}
	return template
}

func drawStrategy(s *source) v1.UpdateStrategy {
	tuning := func() *v1.RollingUpdate {
		if s.number(5) == 4 {
			return nil
		}
		tuning := &v1.RollingUpdate{Partition: orNil(s, 0, 1, 2, 9, -1), PodProgressTimeoutSeconds: orNil(s, 600, 20, 0, -7, math.MaxInt32)}
		if word := choose(s, "1", "2", "50%", "0", "-1", "0%", "-50%", "many", "900%", ""); word != "" {
			tuning.MaxUnavailable = new(intstr.Parse(word))
		}
		return tuning
	}
	return v1.UpdateStrategy{
		Type: choose(s, v1.RollingUpdateStrategy, v1.EnforcedRollingUpdateStrategy, v1.RecreateStrategy, v1.OnDeleteStrategy, "", "Sideways"),
		// Both may be there, and neither.
		RollingUpdate: tuning(), EnforcedRollingUpdate: tuning(),
	}
}

// drawStatus draws what somebody may have written there.
func drawStatus(s *source, set *v1.StatefulSet) v1.StatefulSetStatus {
	status := v1.StatefulSetStatus{
		ObservedGeneration: int64(s.number(6)), CollisionCount: orNil(s, 0, 1, -1, math.MaxInt32),
		CurrentRevision: revisionName(s, set), UpdateRevision: revisionName(s, set), Replicas: int32(s.number(3)) - 1,
	}
	for range s.number(4) {
		status.PodProgress = append(status.PodProgress, v1.PodProgress{
			Ordinal: choose[int32](s, 0, 1, 2, 7, -1, math.MaxInt32), Revision: revisionName(s, set),
			Replacements: choose[int32](s, 1, 3, 2, 0, -1, math.MaxInt32), LastReplacementTime: drawTime(s),
		})
	}
	for range s.number(4) {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type:   choose(s, v1.ConditionProgressing, v1.ConditionReady, v1.ConditionStalled, "", "Moonlit"),
			Status: choose(s, metav1.ConditionTrue, metav1.ConditionFalse, ""),
			Reason: choose(s, v1.ReasonUpdateInProgress, v1.ReasonRecreateInProgress, v1.ReasonRecreateComplete, v1.ReasonProgressDeadlineExceeded,
				v1.ReasonProgressHalted, v1.ReasonSafetyHalt, v1.ReasonProgressingResumed, ""),
			LastTransitionTime: drawTime(s),
		})
	}
	return status
}

// revisionName draws the name of a revision that exists, or may have.
func revisionName(s *source, set *v1.StatefulSet) string {
	image := choose(s, "a", "b", "c", "", "?")
	if image == "" || image == "?" {
		return image
	}
	return revision.New(set, dataOf(image), 1, 0).Name
}

func dataOf(image string) []byte {
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	template.Spec.Containers = []corev1.Container{{Name: "main", Image: image}}
	data, err := revision.Data(&template)
	if err != nil {
		panic(err) // a template of ours can be encoded
	}
	return data
}

func drawRevision(s *source, set *v1.StatefulSet) *appsv1.ControllerRevision {
	drawn := revision.New(set, dataOf(choose(s, "a", "b", "c")), int64(choose(s, 1, 2, 3, 0, -4, math.MaxInt)), 0)
	drawn.UID = types.UID("revision-" + strconv.Itoa(s.number(4)))
	drawn.Labels = choose(s, drawn.Labels, nil)
	drawn.OwnerReferences = drawOwners(s, set)
	switch s.number(8) {
	case 5:
		drawn.Data = runtime.RawExtension{Raw: []byte("{")}
	case 6:
		drawn.Data = runtime.RawExtension{}
	case 7:
		drawn.Data = runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace"}}}`)}
	}
	if s.number(6) == 5 {
		drawn.Name = choose(s, "", "web-", "web-?", "other-1")
	}
	return drawn
}

// drawOwners draws whose an object is: ours, nobody's, another's, or ours in part.
func drawOwners(s *source, set *v1.StatefulSet) []metav1.OwnerReference {
	ours := *metav1.NewControllerRef(set, v1.Kind)
	mate := ours
	mate.Controller = nil
	other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "other", Controller: new(true)}
	earlier := ours
	earlier.UID = "earlier"
	switch s.number(8) {
	case 3:
		return nil
	case 4:
		return []metav1.OwnerReference{other}
	case 5:
		return []metav1.OwnerReference{mate}
	case 6:
		return []metav1.OwnerReference{earlier}
	case 7:
		return []metav1.OwnerReference{{}, mate, ours}
	default:
		return []metav1.OwnerReference{ours}
	}
}

func drawPod(s *source, set *v1.StatefulSet) *corev1.Pod {
	name := "web-" + strconv.Itoa(s.number(7))
	if s.number(12) == 11 {
		name = choose(s, "web", "web-", "web--1", "web-01", "other-0", "web-99999999999", "")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("pod-" + name + "-" + strconv.Itoa(s.number(2))), ResourceVersion: "7",
		OwnerReferences: drawOwners(s, set), CreationTimestamp: drawTime(s),
		Labels: map[string]string{"app": "web", v1.PodNameLabel: name, v1.RevisionLabel: revisionName(s, set)},
	}}
	switch s.number(10) {
	case 7:
		pod.Labels = nil
	case 8:
		delete(pod.Labels, v1.PodNameLabel)
	case 9:
		pod.Labels["app"] = "another"
	}
	if s.number(5) == 4 {
		pod.DeletionTimestamp = new(drawTime(s))
	}
	pod.Status.Phase = choose(s, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodFailed, corev1.PodSucceeded, corev1.PodUnknown, "")
	if s.number(4) < 3 {
		pod.Status.StartTime = new(drawTime(s))
	}
	for range s.number(3) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: choose(s, corev1.PodReady, corev1.PodReady, corev1.PodScheduled), LastTransitionTime: drawTime(s),
			Status: choose(s, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown, ""),
		})
	}
	return pod
}

func drawTime(s *source) metav1.Time {
	ago := choose(s, time.Hour, time.Minute, 15*time.Second, 0, -time.Minute)
	if s.number(8) == 7 {
		return metav1.Time{}
	}
	return metav1.NewTime(testkit.Now.Add(-ago))
}

func drawClaims(s *source, set *v1.StatefulSet) map[string]*corev1.PersistentVolumeClaim {
	if s.number(4) == 3 {
		return nil
	}
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for range s.number(6) {
		name := "data" + strconv.Itoa(s.number(2)) + "-web-" + strconv.Itoa(s.number(6))
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
		if s.number(4) == 3 {
			claim.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
		}
		switch s.number(4) {
		case 1:
			claim.OwnerReferences = drawOwners(s, set)
		case 2:
			owner := "web-" + strconv.Itoa(s.number(6))
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner, UID: types.UID("pod-" + owner + "-0")}}
		}
		claims[name] = claim
	}
	return claims
}

// copyOf returns a deep copy, to see later that nothing was modified.
func copyOf(o plan.Observation) plan.Observation {
	copied := o
	copied.Set = o.Set.DeepCopy()
	copied.Pods, copied.Revisions = nil, nil
	for _, pod := range o.Pods {
		copied.Pods = append(copied.Pods, pod.DeepCopy())
	}
	for _, recorded := range o.Revisions {
		copied.Revisions = append(copied.Revisions, recorded.DeepCopy())
	}
	if o.Claims != nil {
		copied.Claims = map[string]*corev1.PersistentVolumeClaim{}
		for name, claim := range o.Claims {
			copied.Claims[name] = claim.DeepCopy()
		}
	}
	return copied
}

// fuzzSeeds are where the fuzzer begins: numbers of every size, so that every
// choice is made at least once.
func fuzzSeeds() [][]byte {
	var seeds [][]byte
	for first := range 32 {
		seed := make([]byte, 400)
		state := uint32(first)
		for i := range seed {
			state = state*1664525 + 1013904223
			seed[i] = byte(state >> 24)
		}
		seeds = append(seeds, seed)
	}
	return append(seeds, nil)
}
