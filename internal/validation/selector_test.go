package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/validation"
)

func TestSelector(t *testing.T) {
	tests := map[string]struct {
		selector *metav1.LabelSelector
		want     []string
	}{
		"well formed": {
			selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "web"}},
		},
		"absent": {},
		"key with a blank": {
			selector: &metav1.LabelSelector{MatchLabels: map[string]string{"my app": "web"}},
			want:     []string{"spec.selector.matchLabels"},
		},
		"key of an expression": {
			selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "-app", Operator: metav1.LabelSelectorOpDoesNotExist},
			}},
			want: []string{"spec.selector.matchExpressions[0].key"},
		},
		"value of an expression": {
			selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"fine", "not fine"}},
			}},
			want: []string{"spec.selector.matchExpressions[0].values[1]"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Selector: test.selector}}
			if diff := cmp.Diff(test.want, fieldsOf(validation.Selector(set))); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
}
