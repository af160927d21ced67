package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/validation"
)

// Validating refuses sets that use a disabled feature or whose template the cluster would not accept.
type Validating struct {
	Gates     plan.Gates
	Decoder   admission.Decoder
	Templates *TemplateChecker
}

// Handle implements admission.Handler.
func (v *Validating) Handle(ctx context.Context, request admission.Request) admission.Response {
	set, stored, err := v.decode(request)
	if err != nil {
		// The schema let it pass, yet Go can't read it: stored, it would blind every client that lists sets.
		return refuse(request, []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec", Message: err.Error()}})
	}
	causes := causesOf(append(validation.Gates(v.Gates, set, stored), validation.Selector(set)...))
	verdict := v.Templates.Check(ctx, set, stored)
	if causes = append(causes, verdict.Causes...); len(causes) > 0 {
		return refuse(request, causes).WithWarnings(verdict.Warnings...)
	}
	return admission.Allowed("").WithWarnings(verdict.Warnings...)
}

// decode reads the set of a request and, for an update, the set as it is stored.
func (v *Validating) decode(request admission.Request) (set, stored *v1.StatefulSet, err error) {
	set = &v1.StatefulSet{}
	if err := v.Decoder.DecodeRaw(request.Object, set); err != nil {
		return nil, nil, fmt.Errorf("decoding the set: %w", err)
	}
	if len(request.OldObject.Raw) == 0 {
		return set, nil, nil
	}
	stored = &v1.StatefulSet{}
	if err := v.Decoder.DecodeRaw(request.OldObject, stored); err != nil {
		// Nothing can be compared with it, so the set is held to the rules of a new one.
		return set, nil, nil //nolint:nilerr // see above
	}
	return set, stored, nil
}

func causesOf(errs field.ErrorList) []metav1.StatusCause {
	causes := make([]metav1.StatusCause, 0, len(errs))
	for _, err := range errs {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseType(err.Type), Message: err.ErrorBody(), Field: err.Field,
		})
	}
	return causes
}

// refuse answers as the API server does for built-in kinds: 422, with a cause for each field.
func refuse(request admission.Request, causes []metav1.StatusCause) admission.Response {
	lines := make([]string, 0, len(causes))
	for _, cause := range causes {
		lines = append(lines, cause.Field+": "+cause.Message)
	}
	response := admission.Denied(fmt.Sprintf("%s.%s %q is invalid: %s",
		request.Kind.Kind, request.Kind.Group, request.Name, strings.Join(lines, ", ")))
	response.Result.Status = metav1.StatusFailure
	response.Result.Code = http.StatusUnprocessableEntity
	response.Result.Reason = metav1.StatusReasonInvalid
	response.Result.Details = &metav1.StatusDetails{
		Group: request.Kind.Group, Kind: request.Kind.Kind, Name: request.Name, Causes: causes,
	}
	return response
}
