package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// server is an API server that refuses what it is told to and keeps a log.
type server struct {
	client.Client
	// refuse returns why a request such as "create web-1" is refused, or nil.
	refuse func(request string) error

	mu      sync.Mutex
	log     []string
	running int
	// most is how many creates were under way at the same time.
	most int
}

func newServer(t *testing.T, refuse func(string) error, objects ...client.Object) *server {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{refuse: refuse}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1.StatefulSet{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.CreateOption) error {
				return s.serve("create "+object.GetName(), func() error { return inner.Create(ctx, object, options...) })
			},
			Delete: func(ctx context.Context, inner client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				return s.serve("delete "+object.GetName(), func() error { return inner.Delete(ctx, object, options...) })
			},
			SubResourceUpdate: func(ctx context.Context, inner client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption) error {
				return s.serve(sub+" "+object.GetName(), func() error { return inner.SubResource(sub).Update(ctx, object, options...) })
			},
		}).Build()
	return s
}

func (s *server) serve(request string, do func() error) error {
	s.mu.Lock()
	s.log = append(s.log, request)
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if s.refuse != nil {
		if err := s.refuse(request); err != nil {
			return err
		}
	}
	return do()
}

// clock is a time that only tests move.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// bench is an executor with a set on a server.
type bench struct {
	*Executor
	*server
	set    *v1.StatefulSet
	clock  *clock
	events *events.FakeRecorder
}

func newBench(t *testing.T, refuse func(string) error, objects ...client.Object) *bench {
	t.Helper()
	set := testkit.MakeSet("web").Obj()
	b := &bench{
		server: newServer(t, refuse, append(objects, set)...),
		clock:  &clock{testkit.Now},
		events: events.NewFakeRecorder(1000),
	}
	b.set = &v1.StatefulSet{}
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(set), b.set); err != nil {
		t.Fatal(err)
	}
	b.Executor = New(Targets{Writer: b.Client, Live: b.Client, Events: b.events, Now: b.clock.now})
	return b
}

// run executes steps whose status counts the failures in replicas.
func (b *bench) run(t *testing.T, todo plan.Plan) Outcome {
	t.Helper()
	return b.Run(t.Context(), b.set, todo, func(failures []plan.Failure) v1.StatefulSetStatus {
		status := todo.Status
		status.Replicas += int32(len(failures))
		return status
	})
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: testkit.Namespace, Name: name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(testkit.MakeSet("web").Obj(), v1.Kind)},
	}}
}

func creates(names ...string) []plan.Lane {
	var lanes []plan.Lane
	for _, name := range names {
		lanes = append(lanes, plan.Lane{plan.CreatePod{Pod: pod(name), Reason: plan.Because(plan.SlotMissing, "test")}})
	}
	return lanes
}

func deletes(names ...string) []plan.Lane {
	var lanes []plan.Lane
	for _, name := range names {
		lanes = append(lanes, plan.Lane{plan.DeletePod{Pod: pod(name), Reason: plan.Because(plan.ScaledDown, "test")}})
	}
	return lanes
}

var errQuota = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("exceeded quota"))

func refuse(requests ...string) func(string) error {
	return func(request string) error {
		if slices.Contains(requests, request) {
			return errQuota
		}
		return nil
	}
}

// What a failure ends, and what it does not.
func TestFailuresEndWhatThePlanSays(t *testing.T) {
	tests := map[string]struct {
		refuse []string
		steps  []plan.Step
		want   []string
	}{
		"a refused create does not stop a later step": {
			refuse: []string{"create web-0"},
			steps: []plan.Step{
				{Pace: plan.InTurn, Lanes: creates("web-0", "web-1")},
				{Pace: plan.InTurn, Lanes: deletes("web-5")},
			},
			want: []string{"create web-0", "delete web-5", "status web"},
		},
		"an essential step ends the plan, and the status is written": {
			refuse: []string{"create web-0"},
			steps: []plan.Step{
				{Pace: plan.InTurn, Essential: true, Lanes: creates("web-0")},
				{Pace: plan.InTurn, Lanes: deletes("web-5")},
			},
			want: []string{"create web-0", "status web"},
		},
		"a failure ends its lane": {
			refuse: []string{"create web-0"},
			steps: []plan.Step{{Pace: plan.Independent, Lanes: []plan.Lane{
				slices.Concat(creates("web-0")[0], creates("web-1")[0]),
			}}},
			want: []string{"create web-0", "status web"},
		},
		"in turn, a failure ends the step": {
			refuse: []string{"create web-1"},
			steps:  []plan.Step{{Pace: plan.InTurn, Lanes: creates("web-0", "web-1", "web-2")}},
			want:   []string{"create web-0", "create web-1", "status web"},
		},
		"slow start ends with the batch that fails": {
			refuse: []string{"create web-1", "create web-2"},
			steps:  []plan.Step{{Pace: plan.SlowStart, Lanes: creates("web-0", "web-1", "web-2", "web-3")}},
			want:   []string{"create web-0", "create web-1", "create web-2", "status web"},
		},
		"independent lanes do not care about each other": {
			refuse: []string{"create web-0", "create web-1"},
			steps:  []plan.Step{{Pace: plan.Independent, Lanes: creates("web-0", "web-1", "web-2")}},
			want:   []string{"create web-0", "create web-1", "create web-2", "status web"},
		},
		"a status that goes first is written first": {
			steps: []plan.Step{
				{Pace: plan.InTurn, Lanes: creates("web-0")},
				{Pace: plan.InTurn, StatusFirst: true, Lanes: deletes("web-5")},
			},
			want: []string{"create web-0", "status web", "delete web-5"},
		},
		"a step whose status can't be written does not start": {
			refuse: []string{"status web"},
			steps:  []plan.Step{{Pace: plan.InTurn, StatusFirst: true, Lanes: deletes("web-5")}},
			want:   []string{"status web"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, refuse(test.refuse...), pod("web-5"))
			status := v1.StatefulSetStatus{UpdateRevision: "web-b"}
			outcome := b.run(t, plan.Plan{Steps: test.steps, Status: status})
			sortCreates(b.log)
			if diff := cmp.Diff(test.want, b.log); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if wantErr := len(test.refuse) > 0; (outcome.Err() != nil) != wantErr {
				t.Errorf("error %v, want one: %v", outcome.Err(), wantErr)
			}
		})
	}
}

// sortCreates orders neighbouring creates, which race each other, and leaves the rest.
func sortCreates(log []string) {
	for start := 0; start < len(log); start++ {
		end := start
		for end < len(log) && strings.HasPrefix(log[end], "create ") {
			end++
		}
		slices.Sort(log[start:end])
		start = end
	}
}

// 1, 2, 4, … at a time, and never more than maxInFlight.
func TestSlowStartGrows(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("web-%d", i))
	}
	b := newBench(t, nil)
	outcome := b.run(t, plan.Plan{Steps: []plan.Step{{Pace: plan.SlowStart, Lanes: creates(names...)}}})
	if err := outcome.Err(); err != nil {
		t.Fatal(err)
	}
	if b.log[0] != "create web-0" || len(outcome.Written) != 300 {
		t.Errorf("%d pods were created, the first was %q", len(outcome.Written), b.log[0])
	}
	if b.most > maxInFlight {
		t.Errorf("%d requests were under way at a time, want at most %d", b.most, maxInFlight)
	}
}

// When the process is told to end, what is under way is finished and nothing more is started, not even a status write.
func TestStopInTheMiddle(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := newBench(t, func(request string) error {
		if request == "create web-1" {
			stop()
		}
		return nil
	})
	steps := []plan.Step{{Pace: plan.InTurn, Lanes: creates("web-0", "web-1", "web-2")}, {Pace: plan.Independent, Lanes: deletes("web-5")}}
	outcome := b.Run(ctx, b.set, plan.Plan{Steps: steps}, func([]plan.Failure) v1.StatefulSetStatus {
		return v1.StatefulSetStatus{UpdateRevision: "web-b"}
	})
	if diff := cmp.Diff([]string{"create web-0", "create web-1"}, b.log); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if err := outcome.Err(); err != nil || len(outcome.Written) != 2 {
		t.Errorf("error %v, %d objects written; want no error and 2", err, len(outcome.Written))
	}
}

// However many pods are refused, it is one piece of news.
func TestOneEventForManyFailures(t *testing.T) {
	b := newBench(t, func(request string) error {
		if request != "status web" {
			return errQuota
		}
		return nil
	})
	b.run(t, plan.Plan{Steps: []plan.Step{{Pace: plan.Independent, Lanes: creates("web-0", "web-1", "web-2")}}})
	if len(b.events.Events) != 1 {
		t.Errorf("%d events, want 1", len(b.events.Events))
	}
}

func TestTerminalErrors(t *testing.T) {
	invalid := apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "web-0", nil)
	ending := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("the namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := map[string]struct {
		failures  []error
		statusErr error
		want      bool
	}{
		"namespace ending":    {failures: []error{fmt.Errorf("create pod: %w", ending)}, want: true},
		"none":                {},
		"invalid":             {failures: []error{fmt.Errorf("create pod: %w", invalid)}},
		"quota":               {failures: []error{errQuota}},
		"ending and quota":    {failures: []error{ending, errQuota}},
		"status not written":  {failures: []error{ending}, statusErr: errQuota},
		"only status, ending": {statusErr: ending},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			outcome := Outcome{StatusErr: test.statusErr}
			for _, err := range test.failures {
				outcome.Failures = append(outcome.Failures, plan.Failure{Err: err})
			}
			if got := outcome.IsTerminal(); got != test.want {
				t.Errorf("IsTerminal() = %v, want %v", got, test.want)
			}
		})
	}
}
