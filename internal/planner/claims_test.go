package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func ownedBy(kind, name, uid string) []metav1.OwnerReference {
	apiVersion := "v1"
	if kind == "StatefulSet" {
		apiVersion = "apps.rollcall.dev/v1"
	}
	return []metav1.OwnerReference{{
		APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
}

func TestClaims(t *testing.T) {
	tests := map[string]struct {
		set   *testkit.SetBuilder
		fleet string
		given func(claims map[string]*corev1.PersistentVolumeClaim)
		want  []string
	}{
		"claims before their pod": {
			set:  web(1).Claims("data", "log"),
			want: []string{"create claim data-web-0", "create claim log-web-0", "create pod web-0 at revision a"},
		},
		"a claim that is there is used": {
			set: web(1).Claims("data"),
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}
			},
			want: []string{"create pod web-0 at revision a"},
		},
		"a claim that is there gets its owner first": {
			set: web(1).Claims("data").Retention(v1.Delete, v1.Retain),
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}
			},
			want: []string{"set the owner of claim data-web-0", "create pod web-0 at revision a"},
		},
		"a pending pod gets its lost claim back": {
			set: web(1).Claims("data"), fleet: "0:a/pending",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) { delete(claims, "data-web-0") },
			want:  []string{"create claim data-web-0"},
		},
		"a running pod does not": {
			set: web(1).Claims("data"), fleet: "0:a/crashing",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) { delete(claims, "data-web-0") },
		},
		"no pod on a claim that is being deleted": {
			set: web(2).Claims("data").Parallel(), fleet: "0:a/available",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-1"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Name: "data-web-1", DeletionTimestamp: &metav1.Time{Time: testkit.Now},
				}}
			},
		},
		"no pod on a claim of an earlier pod": {
			set: web(1).Claims("data").Retention(v1.Retain, v1.Delete),
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Name: "data-web-0", OwnerReferences: ownedBy("Pod", "web-0", "gone"),
				}}
			},
		},
		"unless claims are retained": {
			set: web(1).Claims("data"),
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Name: "data-web-0", OwnerReferences: ownedBy("Pod", "web-0", "gone"),
				}}
			},
			want: []string{"create pod web-0 at revision a"},
		},
		"the owner is set before the pod goes": {
			set: web(0).Claims("data").Retention(v1.Retain, v1.Delete), fleet: "0:a/available",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) { claims["data-web-0"].OwnerReferences = nil },
			want:  []string{"set the owner of claim data-web-0", "delete pod web-0"},
		},
		"and for those that wait, too": {
			set: web(0).Claims("data").Retention(v1.Retain, v1.Delete), fleet: "0:a/available 1:a/leaving",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) { claims["data-web-0"].OwnerReferences = nil },
			want:  []string{"set the owner of claim data-web-0"},
		},
		"a changed policy reaches all pods, healthy or not": {
			set: web(2).Claims("data").Retention(v1.Delete, v1.Retain), fleet: "0:a/crashing 1:a/available",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"].OwnerReferences, claims["data-web-1"].OwnerReferences = nil, nil
			},
			want: []string{"set the owner of claim data-web-0", "set the owner of claim data-web-1"},
		},
		"scaled up again: the claim is saved while the pod leaves": {
			set: web(1).Claims("data").Retention(v1.Retain, v1.Delete), fleet: "0:a/leaving",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"].OwnerReferences = ownedBy("Pod", "web-0", "web-0-uid")
			},
			want: []string{"set the owner of claim data-web-0"},
		},
		"a claim that is going is left alone": {
			set: web(1).Claims("data").Retention(v1.Delete, v1.Retain), fleet: "0:a/available",
			given: func(claims map[string]*corev1.PersistentVolumeClaim) {
				claims["data-web-0"].OwnerReferences = nil
				claims["data-web-0"].DeletionTimestamp = &metav1.Time{Time: testkit.Now}
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Obj()
			o := testkit.Observe(set, "a", test.fleet)
			if test.given != nil {
				test.given(o.Claims)
			}
			p := planner.Compute(o)
			if diff := cmp.Diff(test.want, testkit.Actions(set, p)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClaimAndPodShareALane: when the claim fails, its pod must not be created,
// and when the owner can't be set, the pod must not go.
func TestClaimAndPodShareALane(t *testing.T) {
	set := web(2).Claims("data").Parallel().Obj()
	p := planner.Compute(testkit.Observe(set, "a", ""))
	var lanes []int
	for _, lane := range p.Steps[0].Lanes {
		lanes = append(lanes, len(lane))
	}
	if diff := cmp.Diff([]int{2, 2}, lanes); diff != "" {
		t.Errorf("actions per lane (-want +got):\n%s", diff)
	}
}

// TestWaitingForAClaimWakesUp: nobody tells us when the garbage collector is done.
func TestWaitingForAClaimWakesUp(t *testing.T) {
	set := web(1).Claims("data").Obj()
	o := testkit.Observe(set, "a", "")
	o.Claims["data-web-0"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "data-web-0", DeletionTimestamp: &metav1.Time{Time: testkit.Now},
	}}
	if p := planner.Compute(o); !p.WakeAt.After(testkit.Now) || p.WakeAt.After(testkit.Now.Add(time.Minute)) {
		t.Errorf("the wake-up is at %v", p.WakeAt)
	}
}

func TestIdentityRepair(t *testing.T) {
	set := web(2).Obj()
	o := testkit.Observe(set, "a", "0:a/crashing 1:a/available")
	o.Pods[1].Labels[v1.PodNameLabel] = "web-7"
	p := planner.Compute(o)
	var got []plan.Action
	for action := range p.Actions() {
		got = append(got, action)
	}
	want := []plan.Action{plan.UpdatePod{
		Pod:    o.Pods[1],
		Labels: map[string]string{v1.PodNameLabel: "web-1", v1.PodIndexLabel: "1"},
		Reason: plan.Because(plan.IdentityDrifted, `its label statefulset.kubernetes.io/pod-name is "web-7"`),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}
