package webhook

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

func TestValidating(t *testing.T) {
	const (
		plain    = `{apiVersion: apps.rollcall.dev/v1, kind: StatefulSet, spec: {selector: {matchLabels: {a: b}}}}`
		recreate = `{apiVersion: apps.rollcall.dev/v1, kind: StatefulSet, spec: {updateStrategy: {type: Recreate}, selector: {matchLabels: {"a b": c}}}}`
		unread   = `{apiVersion: apps.rollcall.dev/v1, kind: StatefulSet, spec: {replicas: many}}`
	)
	accept := func(context.Context, *corev1.PodTemplate) error { return nil }
	refuseTemplate := func(context.Context, *corev1.PodTemplate) error { return invalid("template.spec.containers") }
	tests := map[string]struct {
		sent, stored string
		answer       asked
		wantFields   []string
	}{
		"accepted":                        {sent: plain, answer: accept},
		"all reasons at once":             {sent: recreate, answer: refuseTemplate, wantFields: []string{"spec.updateStrategy.type", "spec.selector.matchLabels", "spec.template.spec.containers"}},
		"what Go can't read is refused":   {sent: unread, answer: accept, wantFields: []string{"spec"}},
		"a stored set that Go can't read": {sent: plain, stored: unread, answer: accept},
	}
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := &Validating{Gates: plan.Gates{}, Decoder: admission.NewDecoder(scheme), Templates: checkerThat(t, test.answer)}
			request := requestFor(t, test.sent, test.stored)
			request.Name, request.Kind = "web", metav1.GroupVersionKind(v1.Kind)
			checkRefusal(t, handler.Handle(t.Context(), request).AdmissionResponse, test.wantFields)
		})
	}
}

// checkRefusal demands an acceptance if no fields are wanted, and else a refusal that looks like the API server's own.
func checkRefusal(t *testing.T, response admissionv1.AdmissionResponse, wantFields []string) {
	t.Helper()
	if response.Allowed != (len(wantFields) == 0) {
		t.Fatalf("allowed: %t, want %t: %v", response.Allowed, len(wantFields) == 0, response.Result)
	}
	if response.Allowed {
		return
	}
	var fields []string
	for _, cause := range response.Result.Details.Causes {
		fields = append(fields, cause.Field)
	}
	if diff := cmp.Diff(wantFields, fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
	if response.Result.Code != http.StatusUnprocessableEntity || response.Result.Reason != metav1.StatusReasonInvalid {
		t.Errorf("refused with %d %s, want 422 Invalid", response.Result.Code, response.Result.Reason)
	}
}
