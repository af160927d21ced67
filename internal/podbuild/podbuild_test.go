package podbuild

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

func makeSet(whenDeleted, whenScaled v1.RetentionPolicyType) *v1.StatefulSet {
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "set-1"},
		Spec: v1.StatefulSetSpec{
			Replicas:    new(int32(2)),
			ServiceName: "web-svc",
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
				{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"tier": "gold"}}},
				{ObjectMeta: metav1.ObjectMeta{Name: "log"}},
			},
			PersistentVolumeClaimRetentionPolicy: &v1.PersistentVolumeClaimRetentionPolicy{
				WhenDeleted: whenDeleted, WhenScaled: whenScaled,
			},
		},
	}
}

func setOwner(uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "apps.rollcall.dev/v1", Kind: "StatefulSet", Name: "web", UID: uid,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

func podOwner(uid types.UID, name string) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "v1", Kind: "Pod", Name: name, UID: uid, Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

func TestPod(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "x"}, Finalizers: []string{"f"},
		},
		Spec: corev1.PodSpec{
			Hostname:   "overridden",
			Containers: []corev1.Container{{Name: "main", Image: "web:1"}},
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
	before := template.DeepCopy()
	claim := func(name string) corev1.VolumeSource {
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-12", GenerateName: "web-",
			Labels: map[string]string{
				"app": "web", "controller-revision-hash": "web-abc",
				"statefulset.kubernetes.io/pod-name": "web-12", "apps.kubernetes.io/pod-index": "12",
			},
			Annotations: map[string]string{"note": "x"}, Finalizers: []string{"f"},
			OwnerReferences: []metav1.OwnerReference{setOwner("set-1")},
		},
		Spec: corev1.PodSpec{
			Hostname: "web-12", Subdomain: "web-svc",
			Containers: []corev1.Container{{Name: "main", Image: "web:1"}},
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: claim("data-web-12")},
				{Name: "log", VolumeSource: claim("log-web-12")},
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
	got := Pod(makeSet(v1.Retain, v1.Retain), template, "web-abc", 12)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Pod (-want +got):\n%s", diff)
	}
	got.Spec.Containers[0].Image, got.Labels["app"], got.Annotations["note"] = "changed", "changed", "changed"
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the pod shares memory with its template (-before +after):\n%s", diff)
	}
}

func TestPodWithoutClaimsKeepsItsVolumes(t *testing.T) {
	set := makeSet(v1.Retain, v1.Retain)
	set.Spec.VolumeClaimTemplates = nil
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "data"}}}}
	if diff := cmp.Diff(template.Spec.Volumes, Pod(set, template, "r", 0).Spec.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
}

func TestClaim(t *testing.T) {
	for whenDeleted, owners := range map[v1.RetentionPolicyType][]metav1.OwnerReference{
		v1.Retain: nil,
		v1.Delete: {setOwner("set-1")},
	} {
		set := makeSet(whenDeleted, v1.Delete)
		want := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "data-web-1", Labels: map[string]string{"tier": "gold", "app": "web"}, OwnerReferences: owners,
		}}
		if diff := cmp.Diff(want, Claim(set, &set.Spec.VolumeClaimTemplates[0], 1)); diff != "" {
			t.Errorf("whenDeleted %s: Claim (-want +got):\n%s", whenDeleted, diff)
		}
		if labels := set.Spec.VolumeClaimTemplates[0].Labels; labels["app"] != "" {
			t.Error("Claim changed its template")
		}
	}
}

func TestRetentionPolicyDefaultsToRetain(t *testing.T) {
	want := v1.PersistentVolumeClaimRetentionPolicy{WhenDeleted: v1.Retain, WhenScaled: v1.Retain}
	set := makeSet("", "")
	if got := RetentionPolicy(set); got != want {
		t.Errorf("empty policy means %+v", got)
	}
	set.Spec.PersistentVolumeClaimRetentionPolicy = nil
	if got := RetentionPolicy(set); got != want {
		t.Errorf("no policy means %+v", got)
	}
}

func TestClaimOwners(t *testing.T) {
	const inside, outside = 1, 2
	ours, other := setOwner("set-1"), metav1.OwnerReference{APIVersion: "x/v1", Kind: "Backup", Name: "nightly", UID: "b-1"}
	controlling := other
	controlling.Controller = new(true)
	weak := ours
	weak.Controller = nil
	type refs = []metav1.OwnerReference
	tests := map[string]struct {
		whenDeleted, whenScaled v1.RetentionPolicyType
		ordinal                 int
		have                    refs
		want                    refs // nil: leave as it is
	}{
		"retain all":                             {v1.Retain, v1.Retain, inside, nil, nil},
		"retain all, after another policy":       {v1.Retain, v1.Retain, inside, refs{ours, other}, refs{other}},
		"die with the set":                       {v1.Delete, v1.Retain, inside, nil, refs{ours}},
		"die with the set, outside too":          {v1.Delete, v1.Retain, outside, nil, refs{ours}},
		"die with the set, done":                 {v1.Delete, v1.Retain, inside, refs{ours}, nil},
		"die with the set, not as a controller":  {v1.Delete, v1.Retain, inside, refs{weak}, refs{ours}},
		"die when scaled, inside":                {v1.Retain, v1.Delete, inside, nil, nil},
		"die when scaled, outside":               {v1.Retain, v1.Delete, outside, nil, refs{podOwner("pod-1", "web-2")}},
		"die when scaled, done":                  {v1.Retain, v1.Delete, outside, refs{podOwner("pod-1", "web-2")}, nil},
		"scaled up again before the pod is gone": {v1.Retain, v1.Delete, inside, refs{podOwner("pod-1", "web-1")}, refs{}},
		"die with either, inside":                {v1.Delete, v1.Delete, inside, nil, refs{ours}},
		"die with either, outside":               {v1.Delete, v1.Delete, outside, refs{ours}, refs{podOwner("pod-1", "web-2")}},
		"others are kept":                        {v1.Delete, v1.Retain, inside, refs{other}, refs{other, ours}},
		"another controller":                     {v1.Delete, v1.Delete, inside, refs{controlling}, nil},
		"another controller beside us":           {v1.Delete, v1.Delete, inside, refs{controlling, weak}, refs{controlling}},
		"of an earlier set":                      {v1.Delete, v1.Delete, inside, refs{setOwner("set-0")}, nil},
		"of an earlier pod":                      {v1.Delete, v1.Delete, inside, refs{podOwner("pod-0", "web-1")}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := makeSet(test.whenDeleted, test.whenScaled)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: Pod(set, &corev1.PodTemplateSpec{}, "r", test.ordinal).Name, UID: "pod-1"}}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.have}}
			got, differ := ClaimOwners(set, claim, pod, test.ordinal)
			if differ != (test.want != nil) {
				t.Fatalf("differ = %t, owners %v", differ, got)
			}
			if diff := cmp.Diff(append(refs(nil), test.want...), append(refs(nil), got...)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHasEarlierPod(t *testing.T) {
	set := makeSet(v1.Retain, v1.Delete)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		OwnerReferences: []metav1.OwnerReference{podOwner("pod-1", "web-1")},
	}}
	pod := func(uid types.UID) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}} }
	tests := map[string]struct {
		pod     *corev1.Pod
		ordinal int
		want    bool
	}{
		"the same pod":         {pod("pod-1"), 1, false},
		"its successor":        {pod("pod-2"), 1, true},
		"before its successor": {nil, 1, true},
		"another ordinal":      {nil, 2, false},
	}
	for name, test := range tests {
		if got := HasEarlierPod(set, claim, test.pod, test.ordinal); got != test.want {
			t.Errorf("%s: HasEarlierPod = %t, want %t", name, got, test.want)
		}
	}
}

func TestIdentity(t *testing.T) {
	pod := Pod(makeSet(v1.Retain, v1.Retain), &corev1.PodTemplateSpec{}, "r", 3)
	if !HasIdentity(pod) {
		t.Error("a pod as built lacks its identity")
	}
	for _, wrong := range []string{"", "web-4"} {
		pod.Labels[v1.PodNameLabel] = wrong
		if HasIdentity(pod) {
			t.Errorf("a pod with the label %q has its identity", wrong)
		}
	}
	want := map[string]string{"statefulset.kubernetes.io/pod-name": "web-3", "apps.kubernetes.io/pod-index": "3"}
	if diff := cmp.Diff(want, IdentityLabels(pod, 3)); diff != "" {
		t.Errorf("IdentityLabels (-want +got):\n%s", diff)
	}
}
