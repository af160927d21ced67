package main

import (
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A value that is stored but that Go can't decode blinds every informer on the kind. The functions of this file close
// the gaps between what a schema's types and formats let pass and what Go's types read.

const (
	// quantityPattern is what resource.ParseQuantity reads.
	quantityPattern = `^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?\s*$`
	// timePattern is RFC 3339, which metav1.Time reads; the format date-time takes more.
	timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
)

func makeDecodable(s *schema) {
	switch {
	case s.XIntOrString && s.Pattern != "":
		allowQuantities(s)
	case s.Type == "integer" && s.Format == "int32", s.XIntOrString:
		boundInteger(s)
	case s.Format == "date-time":
		s.Pattern = timePattern
	}
}

// boundInteger writes the range of an int32 down, which API servers before 1.37 take for a mere hint and which an
// integer-or-string never has.
func boundInteger(s *schema) {
	if s.Minimum == nil {
		s.Minimum = pointerTo(float64(math.MinInt32))
	}
	if s.Maximum == nil {
		s.Maximum = pointerTo(float64(math.MaxInt32))
	}
}

// allowQuantities lets a quantity also be a bare fraction such as "cpu: 0.5", which manifests are full of. A schema has
// no type for "number or string", so there is none: what must not be there (objects, lists, booleans) is forbidden by
// rules that nothing of its kind can meet.
func allowQuantities(s *schema) {
	*s = schema{
		Description:            s.Description,
		Pattern:                quantityPattern,
		XPreserveUnknownFields: pointerTo(true),
		MinProperties:          pointerTo(int64(1)),
		MaxProperties:          pointerTo(int64(0)),
		MinItems:               pointerTo(int64(1)),
		MaxItems:               pointerTo(int64(0)),
		Not:                    &schema{Enum: []apiextensionsv1.JSON{*encoded(true), *encoded(false)}},
	}
}
