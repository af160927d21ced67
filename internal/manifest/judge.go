package manifest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	crvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1validation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/config"
)

// rules are what the CRD says about sets.
type rules struct {
	structural *schema.Structural
	schema     crvalidation.SchemaValidator
	cel        *cel.Validator
}

// theRules are read once, when the first manifest is.
var theRules = sync.OnceValues(readRules)

func readRules() (*rules, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(config.CRD, crd); err != nil {
		return nil, fmt.Errorf("read the CRD: %w", err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	versioned := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(versioned, internal, nil); err != nil {
		return nil, fmt.Errorf("convert the schema of the CRD: %w", err)
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("read the schema of the CRD: %w", err)
	}
	validator, _, err := crvalidation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("read the schema of the CRD: %w", err)
	}
	return &rules{structural: structural, schema: validator, cel: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// judge fills in the defaults of an object and returns what is wrong with it, in
// the order of the API server. There may be an old object that it takes the place
// of.
func judge(object, old map[string]any) error {
	r, err := theRules()
	if err != nil {
		return err
	}
	if unknown := r.unknownFields(object); len(unknown) > 0 {
		return fmt.Errorf("the field %s is not known: check its spelling and indentation", strings.Join(unknown, ", "))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, r.structural)
	defaulting.Default(object, r.structural)
	errs := validateMeta(object)
	errs = append(errs, crvalidation.ValidateCustomResource(nil, object, r.schema)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, object)...)
	if len(errs) == 0 {
		// Rules are only asked about what has the right types.
		fromRules, _ := r.cel.Validate(context.Background(), nil, r.structural, object, orNil(old), celconfig.RuntimeCELCostBudget)
		errs = append(errs, fromRules...)
	}
	return errs.ToAggregate()
}

// orNil keeps a nil map from becoming a value that is not nil.
func orNil(object map[string]any) any {
	if object == nil {
		return nil
	}
	return object
}

// unknownFields returns the fields that the API server would drop.
func (r *rules) unknownFields(object map[string]any) []string {
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	return pruning.PruneWithOptions(object, r.structural, true, options)
}

// validateMeta checks the metadata, which no schema of a CRD describes.
func validateMeta(object map[string]any) field.ErrorList {
	fields, ok := object["metadata"].(map[string]any)
	path := field.NewPath("metadata")
	if !ok {
		return field.ErrorList{field.Required(path, "an object needs a name")}
	}
	meta := &metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, meta); err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault // which one it is is said elsewhere
	}
	return metav1validation.ValidateObjectMeta(meta, true, metav1validation.NameIsDNSSubdomain, path)
}
