package validation

import (
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Selector refuses label keys and values that are not well formed. That the selector matches the template, is not empty
// and does not change is checked by the CRD; the syntax of keys is not, since their length has no bound in a schema.
func Selector(set *v1.StatefulSet) field.ErrorList {
	return metav1validation.ValidateLabelSelector(set.Spec.Selector,
		metav1validation.LabelSelectorValidationOptions{}, field.NewPath("spec", "selector"))
}
