package main

// The bounds below let the API server prove that matching the selector against the template's labels is cheap. A label
// value never has more than 63 characters; the counts are far beyond what any set has, and below what apps/v1 would take.
const (
	maxLabelValue     = 63
	maxLabels         = 1000
	maxRequirements   = 100
	maxRequiredValues = 1000
)

// boundSelector limits spec.selector, a type of Kubernetes that markers can't reach into.
func boundSelector(root *schema) error {
	return alter(root, []string{"spec", "selector"}, []alteration{
		{[]string{"matchLabels"}, boundLabels},
		{[]string{"matchExpressions"}, func(s *schema) { s.MaxItems = pointerTo(int64(maxRequirements)) }},
		{[]string{"matchExpressions", "[]", "values"}, func(s *schema) { s.MaxItems = pointerTo(int64(maxRequiredValues)) }},
		{[]string{"matchExpressions", "[]", "values", "[]"}, func(s *schema) { s.MaxLength = pointerTo(int64(maxLabelValue)) }},
	})
}

func boundLabels(s *schema) {
	s.MaxProperties = pointerTo(int64(maxLabels))
	s.AdditionalProperties.Schema.MaxLength = pointerTo(int64(maxLabelValue))
}
