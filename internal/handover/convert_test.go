package handover_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func stored(t *testing.T, set *appsv1.StatefulSet) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: fields}
}

// TestThereAndBack: what both can express is the same after both conversions.
func TestThereAndBack(t *testing.T) {
	set := testkit.MakeSet("web").Replicas(3).Start(2).Partition(1).MaxUnavailable("50%").MinReady(5).
		Claims("data").Retention(v1.Delete, v1.Retain).HistoryLimit(0).Parallel().Obj()
	builtIn, lost, err := handover.ToBuiltIn(set)
	if err != nil || len(lost) > 0 {
		t.Fatalf("lost %q, %v", lost, err)
	}
	back, err := handover.FromBuiltIn(stored(t, builtIn))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set.Spec, back.Spec); diff != "" {
		t.Errorf("spec (-before +after):\n%s", diff)
	}
}

func TestUnknownFieldsAreRefused(t *testing.T) {
	builtIn, _, err := handover.ToBuiltIn(testkit.MakeSet("web").Obj())
	if err != nil {
		t.Fatal(err)
	}
	future := stored(t, builtIn)
	if err := unstructured.SetNestedField(future.Object, "yes", "spec", "template", "spec", "hovers"); err != nil {
		t.Fatal(err)
	}
	if _, err := handover.FromBuiltIn(future); err == nil || !strings.Contains(err.Error(), "spec.template.spec.hovers") {
		t.Errorf("error %v, want it to name the field", err)
	}
}

// TestWhatAppsCantExpress: each extension is named, and replaced by what comes closest.
func TestWhatAppsCantExpress(t *testing.T) {
	for name, tt := range map[string]struct {
		set      *testkit.SetBuilder
		lost     []string
		strategy appsv1.StatefulSetUpdateStrategyType
	}{
		"nothing":   {testkit.MakeSet("web"), nil, appsv1.RollingUpdateStatefulSetStrategyType},
		"on delete": {testkit.MakeSet("web").Strategy(v1.OnDeleteStrategy), nil, appsv1.OnDeleteStatefulSetStrategyType},
		"paused":    {testkit.MakeSet("web").Paused(), []string{"spec.paused"}, appsv1.RollingUpdateStatefulSetStrategyType},
		"recreate":  {testkit.MakeSet("web").Strategy(v1.RecreateStrategy), []string{"type Recreate"}, appsv1.RollingUpdateStatefulSetStrategyType},
		"enforced":  {testkit.MakeSet("web").Strategy(v1.EnforcedRollingUpdateStrategy), []string{"type EnforcedRollingUpdate"}, appsv1.RollingUpdateStatefulSetStrategyType},
		"timeout":   {testkit.MakeSet("web").ProgressTimeout(60), []string{"podProgressTimeoutSeconds"}, appsv1.RollingUpdateStatefulSetStrategyType},
	} {
		t.Run(name, func(t *testing.T) {
			builtIn, lost, err := handover.ToBuiltIn(tt.set.Obj())
			if err != nil || len(lost) != len(tt.lost) {
				t.Fatalf("lost %q, want %q, %v", lost, tt.lost, err)
			}
			for i, want := range tt.lost {
				if !strings.Contains(lost[i], want) {
					t.Errorf("lost %q, want %q", lost[i], want)
				}
			}
			if got := builtIn.Spec.UpdateStrategy.Type; got != tt.strategy {
				t.Errorf("strategy %s, want %s", got, tt.strategy)
			}
		})
	}
}

// TestEnforcedKeepsItsTuning: partition and budget hold under the strategy that takes the place of another.
func TestEnforcedKeepsItsTuning(t *testing.T) {
	set := testkit.MakeSet("web").Strategy(v1.EnforcedRollingUpdateStrategy).Partition(2).MaxUnavailable("3").Obj()
	builtIn, _, err := handover.ToBuiltIn(set)
	if err != nil {
		t.Fatal(err)
	}
	want := &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2)), MaxUnavailable: new(intstr.FromInt32(3))}
	if diff := cmp.Diff(want, builtIn.Spec.UpdateStrategy.RollingUpdate); diff != "" {
		t.Errorf("rollingUpdate (-want +got):\n%s", diff)
	}
}

func TestDropped(t *testing.T) {
	set := testkit.MakeSet("web").MaxUnavailable("3").Obj()
	answer, _, err := handover.ToBuiltIn(set)
	if err != nil {
		t.Fatal(err)
	}
	if dropped := handover.Dropped(set, answer); len(dropped) > 0 {
		t.Errorf("dropped %q", dropped)
	}
	answer.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = nil
	if dropped := handover.Dropped(set, answer); len(dropped) != 1 {
		t.Errorf("dropped %q, want maxUnavailable", dropped)
	}
	if dropped := handover.Dropped(testkit.MakeSet("web").Obj(), answer); len(dropped) > 0 {
		t.Errorf("dropped %q, but 1 is what its absence means", dropped)
	}
}

func TestMetadataIsCarried(t *testing.T) {
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	builtIn := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7", Generation: 3, Finalizers: []string{"example.com/hold"},
		Labels: map[string]string{"app": "web", "argocd.argoproj.io/instance": "shop"},
		Annotations: map[string]string{
			"team": "a", "argocd.argoproj.io/tracking-id": "shop:apps/StatefulSet:shop/web", "meta.helm.sh/release-name": "shop",
			lastApplied: `{"kind":"StatefulSet","apiVersion":"apps/v1"}`,
		},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Bill", Name: "b"}},
	}}
	set, err := handover.FromBuiltIn(stored(t, builtIn))
	if err != nil {
		t.Fatal(err)
	}
	want := metav1.ObjectMeta{
		Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{
			"team": "a", "meta.helm.sh/release-name": "shop",
			lastApplied: `{"apiVersion":"apps.rollcall.dev/v1","kind":"StatefulSet"}` + "\n",
		},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Bill", Name: "b"}},
	}
	if diff := cmp.Diff(want, set.ObjectMeta); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if keepers := handover.Keepers(builtIn); len(keepers) != 2 || !strings.Contains(keepers[0], "Argo CD") || !strings.Contains(keepers[1], "Helm release shop") {
		t.Errorf("keepers %q", keepers)
	}
	flux := &metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}}
	if keepers := handover.Keepers(flux); len(keepers) != 1 || !strings.Contains(keepers[0], "flux suspend kustomization apps") {
		t.Errorf("keepers %q", keepers)
	}
}
