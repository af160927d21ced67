package observe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// indexedBuilder collects the indexes that AddIndexes asks for.
type indexedBuilder struct{ *fake.ClientBuilder }

func (b indexedBuilder) IndexField(_ context.Context, object client.Object, field string, keys client.IndexerFunc) error {
	b.WithIndex(object, field, keys)
	return nil
}

// newReader is a view, or an API server, that holds objects.
func newReader(t *testing.T, hooks interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(hooks)
	if err := AddIndexes(t.Context(), indexedBuilder{builder}, nil); err != nil {
		t.Fatal(err)
	}
	return builder.Build()
}

func pod(name string, owner *v1.StatefulSet) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: testkit.Namespace, Name: name, UID: types.UID(name + "-uid"), Labels: map[string]string{v1.PodNameLabel: name},
	}}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1.Kind)}
	}
	return pod
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: testkit.Namespace, Name: name}}
}

func namesOf[T client.Object](objects []T) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	return names
}

// All that bears on the set is in the observation, once, and nothing else, whether pods are listed or taken from the shelf.
func TestObserve(t *testing.T) {
	set, other := testkit.MakeSet("web").Claims("data").Obj(), testkit.MakeSet("other").Obj()
	elsewhere := pod("web-7", nil)
	elsewhere.Namespace = "elsewhere"
	renamed := testkit.Revision(set, "b", 2)
	renamed.Name = "foreign-b"
	renamed.UID = "renamed"
	orphan := testkit.Revision(set, "c", 3)
	orphan.OwnerReferences = nil
	pods := []client.Object{pod("web-0", set), pod("odd-name", set), pod("web-1", nil), pod("web-2", other), pod("other-0", other), elsewhere}
	view := newReader(t, interceptor.Funcs{}, append(pods, set, other,
		testkit.Revision(set, "a", 1), renamed, orphan, testkit.Revision(other, "a", 1),
		claim("data-web-0"), claim("data-web-9"), claim("log-web-0"), claim("data-other-0"))...)
	wantRevisions := []string{"foreign-b", testkit.RevisionName(set, "a"), testkit.RevisionName(set, "c")}
	slices.Sort(wantRevisions)
	for name, shelf := range map[string]*Shelf{"listed": nil, "from the shelf": shelve(t, pods...)} {
		t.Run(name, func(t *testing.T) {
			observer := New(Sources{Cached: view, Shelf: shelf, Live: view, DryRun: view, Now: func() time.Time { return testkit.Now }}, plan.AllGates())
			observation, err := observer.Observe(t.Context(), client.ObjectKeyFromObject(set))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"odd-name", "web-0", "web-1", "web-2"}, namesOf(observation.Pods)); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantRevisions, namesOf(observation.Revisions)); diff != "" {
				t.Errorf("revisions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"data-web-0", "data-web-9"}, slices.Sorted(maps.Keys(observation.Claims))); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if !observation.Now.Equal(testkit.Now) || observation.Gates != plan.AllGates() || observation.Live.Any() {
				t.Errorf("time %s, gates %+v, live %+v", observation.Now, observation.Gates, observation.Live)
			}
		})
	}
}

// shelve puts pods where an informer would keep them.
func shelve(t *testing.T, pods ...client.Object) *Shelf {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byShelf: shelfKeys})
	for _, pod := range pods {
		if err := indexer.Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	return &Shelf{indexer: indexer}
}

func TestObserveNothing(t *testing.T) {
	view := newReader(t, interceptor.Funcs{})
	observer := New(Sources{Cached: view, Live: view, Now: time.Now}, plan.AllGates())
	if _, err := observer.Observe(t.Context(), types.NamespacedName{Namespace: "shop", Name: "web"}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want \"not found\"", err)
	}
}

// at gives an object a version.
func at[T client.Object](object T, version int) T {
	object.SetResourceVersion(strconv.Itoa(version))
	return object
}

func terminating(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	pod.Finalizers = []string{"test/hold"}
	return pod
}

func unlabelled(pod *corev1.Pod) *corev1.Pod {
	pod.Labels = nil
	return pod
}

func withUID(pod *corev1.Pod, uid types.UID) *corev1.Pod {
	pod.UID = uid
	return pod
}

// No decision is made before the view shows what the operator itself did.
func TestEchoes(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	tests := map[string]struct {
		written, deleted *corev1.Pod
		viewed, live     *corev1.Pod
		later            time.Duration
		wantBehind       bool
	}{
		"created, not shown":            {written: at(pod("web-0", set), 7), live: at(pod("web-0", set), 7), wantBehind: true},
		"created, shown":                {written: at(pod("web-0", set), 7), viewed: at(pod("web-0", set), 7)},
		"created, shown newer":          {written: at(pod("web-0", set), 7), viewed: at(pod("web-0", set), 10)},
		"patched, shown older":          {written: at(pod("web-0", set), 10), viewed: at(pod("web-0", set), 9), wantBehind: true},
		"created, still not shown":      {written: at(pod("web-0", set), 7), live: at(pod("web-0", set), 7), later: Patience, wantBehind: true},
		"created and gone":              {written: at(pod("web-0", set), 7), later: Patience},
		"created, gone, patience left":  {written: at(pod("web-0", set), 7), later: Patience / 2, wantBehind: true},
		"created and replaced":          {written: at(pod("web-0", set), 7), live: withUID(at(pod("web-0", set), 9), "next"), later: Patience},
		"created, lost its label":       {written: at(pod("web-0", set), 7), live: unlabelled(at(pod("web-0", set), 8)), later: Patience},
		"deleted, shown alive":          {deleted: at(pod("web-0", set), 7), viewed: at(pod("web-0", set), 7), wantBehind: true},
		"deleted, shown alive for long": {deleted: at(pod("web-0", set), 7), viewed: at(pod("web-0", set), 7), later: time.Hour, wantBehind: true},
		"deleted, shown terminating":    {deleted: at(pod("web-0", set), 7), viewed: terminating(at(pod("web-0", set), 8))},
		"deleted, shown gone":           {deleted: at(pod("web-0", set), 7)},
		"deleted, shown replaced":       {deleted: at(pod("web-0", set), 7), viewed: withUID(at(pod("web-0", set), 9), "next")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := testkit.Now
			observer := New(Sources{
				Cached: newReader(t, interceptor.Funcs{}, present(set.DeepCopy(), test.viewed)...),
				Live:   newReader(t, interceptor.Funcs{}, present(set.DeepCopy(), test.live)...),
				Now:    func() time.Time { return now },
			}, plan.AllGates())
			observer.Remember(set, present(nil, test.written), present(nil, test.deleted))
			now = now.Add(test.later)
			_, err := observer.Observe(t.Context(), client.ObjectKeyFromObject(set))
			if errors.Is(err, ErrBehind) != test.wantBehind || (err != nil && !test.wantBehind) {
				t.Errorf("error %v, want ErrBehind: %v", err, test.wantBehind)
			}
		})
	}
}

// present lists the objects that are not nil.
func present(set *v1.StatefulSet, pod *corev1.Pod) []client.Object {
	var objects []client.Object
	if set != nil {
		objects = append(objects, set)
	}
	if pod != nil {
		objects = append(objects, pod)
	}
	return objects
}

// The set's own status is known from the answer to its write; nobody waits for it.
func TestOwnStatusIsKnown(t *testing.T) {
	written := at(testkit.MakeSet("web").Obj(), 8)
	written.Status.CurrentRevision = "web-b"
	namesake := at(testkit.MakeSet("web").Obj(), 8)
	namesake.UID = "another"
	tests := map[string]struct {
		viewed *v1.StatefulSet
		want   string
	}{
		"view is older":    {viewed: at(testkit.MakeSet("web").Obj(), 7), want: "web-b"},
		"view is newer":    {viewed: at(testkit.MakeSet("web").Obj(), 9), want: ""},
		"view is of a new": {viewed: namesake, want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			observer := New(Sources{Cached: newReader(t, interceptor.Funcs{}, test.viewed), Now: time.Now}, plan.AllGates())
			observer.Remember(written, []client.Object{written}, nil)
			observation, err := observer.Observe(t.Context(), client.ObjectKeyFromObject(written))
			if err != nil {
				t.Fatal(err)
			}
			if got := observation.Set.Status.CurrentRevision; got != test.want {
				t.Errorf("current revision %q, want %q", got, test.want)
			}
		})
	}
}

func TestStem(t *testing.T) {
	tests := map[string]struct {
		want   string
		wantOK bool
	}{
		"web-0":      {"web", true},
		"data-web-0": {"data-web", true},
		"web":        {"", false},
		"-0":         {"", false},
		"":           {"", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := Stem(name); got != test.want || ok != test.wantOK {
				t.Errorf("Stem(%q) = %q, %v, want %q, %v", name, got, ok, test.want, test.wantOK)
			}
		})
	}
}

func TestSetsOfClaim(t *testing.T) {
	view := newReader(t, interceptor.Funcs{},
		testkit.MakeSet("web").Claims("data").Obj(), testkit.MakeSet("b").Claims("a").Obj(), testkit.MakeSet("a-b").Claims("x").Obj())
	observer := New(Sources{Cached: view}, plan.AllGates())
	tests := map[string][]string{"data-web-0": {"web"}, "a-b-0": {"b"}, "x-a-b-0": {"a-b"}, "log-web-0": nil, "data": nil}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			keys, err := observer.SetsOfClaim(t.Context(), types.NamespacedName{Namespace: testkit.Namespace, Name: name})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, key := range keys {
				got = append(got, key.Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrip(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	since := metav1.NewTime(testkit.Now)
	full := pod("web-0", set)
	full.Annotations = map[string]string{"big": "text"}
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	full.Spec = corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web"}}}
	full.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Message: "text", StartTime: &since,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since, Message: "text"},
		},
	}
	want := pod("web-0", set)
	want.Spec.NodeName = "node-1"
	want.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &since,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}},
	}
	got, err := stripPod(full)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

// Revisions of other controllers lose their data; ours and orphans keep it.
func TestStripRevision(t *testing.T) {
	set := testkit.MakeSet("web").Obj()
	tests := map[string]struct {
		owners   []metav1.OwnerReference
		wantData bool
	}{
		"ours":         {[]metav1.OwnerReference{*metav1.NewControllerRef(set, v1.Kind)}, true},
		"orphan":       {nil, true},
		"of a daemon":  {[]metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}, false},
		"of apps/v1's": {[]metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			revision := testkit.Revision(set, "a", 1)
			revision.OwnerReferences = test.owners
			if _, err := stripRevision(revision); err != nil {
				t.Fatal(err)
			}
			if got := revision.Data.Raw != nil; got != test.wantData {
				t.Errorf("has data: %v, want %v", got, test.wantData)
			}
		})
	}
}
