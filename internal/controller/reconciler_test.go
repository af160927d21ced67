package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rollcall-dev/rollcall/internal/execute"
	"github.com/rollcall-dev/rollcall/internal/observe"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// When the set is looked at again.
func TestNext(t *testing.T) {
	in := testkit.Now.Add
	terminating := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	ending := []plan.Failure{{Err: terminating}}
	quota := []plan.Failure{{Err: apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("exceeded quota"))}}
	conflict := apierrors.NewConflict(corev1.Resource("statefulsets"), "web", nil)
	tests := map[string]struct {
		todo    plan.Plan
		outcome execute.Outcome
		want    time.Duration
		wantErr bool
	}{
		"at rest":                           {},
		"when the plan says":                {todo: plan.Plan{WakeAt: in(time.Minute)}, want: time.Minute},
		"when the status is due":            {outcome: execute.Outcome{WakeAt: in(time.Second)}, want: time.Second},
		"whichever is first":                {todo: plan.Plan{WakeAt: in(time.Minute)}, outcome: execute.Outcome{WakeAt: in(time.Second)}, want: time.Second},
		"at once when that is past":         {todo: plan.Plan{WakeAt: in(-time.Minute)}, want: time.Millisecond},
		"with back-off after a failure":     {todo: plan.Plan{WakeAt: in(time.Minute)}, outcome: execute.Outcome{Failures: quota}, wantErr: true},
		"not at all if nothing can help":    {outcome: execute.Outcome{Failures: ending}},
		"still in time if nothing can help": {todo: plan.Plan{WakeAt: in(time.Minute)}, outcome: execute.Outcome{Failures: ending}, want: time.Minute},
		"soon when the set has changed":     {outcome: execute.Outcome{StatusErr: conflict}, want: observe.Patience},
		"with back-off if there is more":    {outcome: execute.Outcome{StatusErr: conflict, Failures: quota}, wantErr: true},
		"with back-off after other trouble": {outcome: execute.Outcome{StatusErr: errors.New("no route")}, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &reconciler{now: func() time.Time { return testkit.Now }}
			got, err := r.next(test.todo, test.outcome)
			if (err != nil) != test.wantErr {
				t.Fatalf("error %v, want one: %v", err, test.wantErr)
			}
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: test.want}, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}
