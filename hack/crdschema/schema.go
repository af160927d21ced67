package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// walk calls visit for a schema and for everything below it, children first.
func walk(s *schema, visit func(*schema)) {
	for name, child := range s.Properties {
		walk(&child, visit)
		s.Properties[name] = child
	}
	if s.Items != nil && s.Items.Schema != nil {
		walk(s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(s.AdditionalProperties.Schema, visit)
	}
	visit(s)
}

// edit changes the property at a path; "[]" in the path stands for the items of a list.
func edit(s *schema, change func(*schema), path ...string) error {
	if len(path) == 0 {
		change(s)
		return nil
	}
	if path[0] == "[]" {
		if s.Items == nil || s.Items.Schema == nil {
			return fmt.Errorf("no items at %v", path)
		}
		return edit(s.Items.Schema, change, path[1:]...)
	}
	child, ok := s.Properties[path[0]]
	if !ok {
		return fmt.Errorf("no property %q", path[0])
	}
	err := edit(&child, change, path[1:]...)
	s.Properties[path[0]] = child
	return err
}

// alteration is a change of the property at a path.
type alteration struct {
	path   []string
	change func(*schema)
}

// alter carries out alterations below a path. A path that leads nowhere is an error: the types have changed.
func alter(root *schema, below []string, alterations []alteration) error {
	for _, a := range alterations {
		if err := edit(root, a.change, slices.Concat(below, a.path)...); err != nil {
			return err
		}
	}
	return nil
}

func setDefault(value any) func(*schema) {
	return func(s *schema) { s.Default = encoded(value) }
}

func require(names ...string) func(*schema) {
	return func(s *schema) { s.Required = names }
}

// maxName is the length that the API server allows the name of any object.
const maxName = 253

// declareNames declares what controller-gen leaves out of the metadata, so that rules can point at it.
func declareNames(root *schema) {
	name := schema{Type: "string", MaxLength: pointerTo(int64(maxName))}
	root.Properties["metadata"] = schema{
		Type:       "object",
		Properties: map[string]schema{"generateName": name, "name": name},
	}
}

func encoded(value any) *apiextensionsv1.JSON {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // constants of this program only
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

func pointerTo[T any](value T) *T { return &value }

// joinLines undoes the line breaks of Go comments inside a paragraph, since kubectl explain breaks lines by itself.
func joinLines(s *schema) {
	paragraphs := strings.Split(s.Description, "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(paragraph, "\n", " ")
	}
	s.Description = strings.Join(paragraphs, "\n\n")
}
