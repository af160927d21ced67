package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func parseSchema(t *testing.T, text string) *schema {
	t.Helper()
	parsed := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestAdjustType(t *testing.T) {
	tests := map[string]struct{ schema, want string }{
		"descriptions go, but for the first": {
			schema: `{description: ours, properties: {a: {description: theirs, type: string}}}`,
			want:   `{description: ours, properties: {a: {type: string}}}`,
		},
		"only lists and keys stay required": {
			schema: `{required: [list, number], properties: {number: {type: integer}, list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
				items: {required: [name, value], properties: {name: {type: string}, value: {type: string}}}}}}`,
			want: `{required: [list], properties: {number: {type: integer}, list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
				items: {required: [name], properties: {name: {type: string}, value: {type: string}}}}}}`,
		},
		"lists that may have duplicates are not keyed": {
			schema: `{properties: {env: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {required: [name], properties: {name: {type: string}}}}}}`,
			want:   `{properties: {env: {type: array, x-kubernetes-list-type: atomic, items: {required: [], properties: {name: {type: string}}}}}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := parseSchema(t, test.schema), parseSchema(t, test.want)
			adjustType(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("adjusted schema (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmbeddedMetadataTakesWhatDumpsCarry(t *testing.T) {
	s := parseSchema(t, `{properties: {metadata: {properties: {labels: {type: object}}}}}`)
	completeMetadata(s)
	created, ok := s.Properties["metadata"].Properties["creationTimestamp"]
	if !ok || !created.Nullable {
		t.Errorf("creationTimestamp: null is not allowed: %+v", created)
	}
	plain := parseSchema(t, `{properties: {metadata: {type: string}}}`)
	completeMetadata(plain)
	if diff := cmp.Diff(parseSchema(t, `{properties: {metadata: {type: string}}}`), plain); diff != "" {
		t.Errorf("a field that is merely called metadata was changed (-want +got):\n%s", diff)
	}
}

func TestEditReportsWrongPaths(t *testing.T) {
	s := parseSchema(t, `{properties: {list: {type: array, items: {properties: {name: {type: string}}}}}}`)
	for name, path := range map[string][]string{
		"unknown property":        {"lists"},
		"unknown property of one": {"list", "[]", "names"},
		"items of no list":        {"[]"},
	} {
		if err := edit(s, func(*schema) { t.Errorf("%s: something was changed", name) }, path...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
