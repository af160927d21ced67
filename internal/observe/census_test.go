package observe

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func newCensus(t *testing.T, hooks interceptor.Funcs, objects ...client.Object) *Observer {
	t.Helper()
	now := func() time.Time { return testkit.Now }
	return New(Sources{Cached: newReader(t, hooks, objects...), Now: now}, plan.Gates{Recreate: true})
}

// TestCensus: every set comes with the pods that bear on it, and with the time and the gates.
func TestCensus(t *testing.T) {
	web, db := testkit.MakeSet("web").Obj(), testkit.MakeSet("db").Obj()
	observer := newCensus(t, interceptor.Funcs{}, web, db, pod("web-0", web), pod("web-1", nil), pod("db-0", db), pod("other-0", nil))
	// What the view lacks of the operator's own writes does not matter.
	observer.Remember(web, []client.Object{pod("web-7", web)}, nil)
	observations, err := observer.Census(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, o := range observations {
		for _, pod := range o.Pods {
			got[o.Set.Name] = append(got[o.Set.Name], pod.Name)
		}
		if !o.Now.Equal(testkit.Now) || o.Gates != (plan.Gates{Recreate: true}) {
			t.Errorf("set %s is observed at %v with gates %+v", o.Set.Name, o.Now, o.Gates)
		}
	}
	if diff := cmp.Diff(map[string][]string{"web": {"web-0", "web-1"}, "db": {"db-0"}}, got); diff != "" {
		t.Errorf("pods by set (-want +got):\n%s", diff)
	}
}

// failToList fails for lists of one kind.
func failToList(kind client.ObjectList) func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	return func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if reflect.TypeOf(list) == reflect.TypeOf(kind) {
			return errors.New("the view is gone")
		}
		return reader.List(ctx, list, options...)
	}
}

func TestCensusFails(t *testing.T) {
	for name, broken := range map[string]client.ObjectList{"sets": &v1.StatefulSetList{}, "pods": &corev1.PodList{}} {
		t.Run(name, func(t *testing.T) {
			observer := newCensus(t, interceptor.Funcs{List: failToList(broken)}, testkit.MakeSet("web").Obj())
			if _, err := observer.Census(t.Context()); err == nil {
				t.Error("the census knows nothing of the failure")
			}
		})
	}
}

// TestCensusModifiesNothing: sets in view are shared with everybody.
func TestCensusModifiesNothing(t *testing.T) {
	bare := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: types.UID("1")}}
	bare.Spec.UpdateStrategy = v1.UpdateStrategy{Type: v1.RollingUpdateStrategy, RollingUpdate: &v1.RollingUpdate{}}
	bare.Spec.PersistentVolumeClaimRetentionPolicy = &v1.PersistentVolumeClaimRetentionPolicy{}
	before := bare.DeepCopy()
	if got := withDefaults(bare); *got.Spec.Replicas != 1 || got.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.IntValue() != 1 {
		t.Errorf("without defaults: %+v", got.Spec)
	}
	if diff := cmp.Diff(before, bare); diff != "" {
		t.Errorf("the set in view changed (-before +after):\n%s", diff)
	}
}
