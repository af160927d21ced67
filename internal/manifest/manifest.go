// Package manifest reads a set from a file as the API server would take it, with
// no API server at hand: the schema and the rules of the CRD, which is part of the
// program, are applied by the API server's own library. So defaults are filled in
// alike, and what would be refused for its own sake is refused, with the same
// words. What only a cluster knows (quotas, other webhooks, whether a template
// may run) is not looked at.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// maxSize is more than an API server stores of one object.
const maxSize = 16 << 20

// Read returns the set of a manifest with all its defaults, and the set as it is
// written. The manifest may have other objects beside it; name says which set is
// meant, and may be empty if there is only one.
func Read(from io.Reader, name string) (set *v1.StatefulSet, written *unstructured.Unstructured, err error) {
	objects, err := split(from)
	if err != nil {
		return nil, nil, err
	}
	written, err = choose(objects, name)
	if err != nil {
		return nil, nil, err
	}
	set, err = Accept(written, nil)
	return set, written, err
}

// Accept takes a set as the API server would take a new one, or if there is an old
// one, as it would take an update of that.
func Accept(written, old *unstructured.Unstructured) (*v1.StatefulSet, error) {
	accepted := written.DeepCopy()
	var before map[string]any
	if old != nil {
		before = old.Object
	}
	if err := judge(accepted.Object, before); err != nil {
		return nil, err
	}
	set := &v1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(accepted.Object, set); err != nil {
		return nil, fmt.Errorf("StatefulSet %s: %w", written.GetName(), err)
	}
	v1.SetDefaults(set)
	return set, nil
}

// split returns the objects of a manifest, lists taken apart.
func split(from io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(io.LimitReader(from, maxSize)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", number, err)
		}
		found, err := decode(document)
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", number, err)
		}
		objects = append(objects, found...)
	}
}

// decode reads the object or the list of one document; none if it is empty.
func decode(document []byte) ([]*unstructured.Unstructured, error) {
	if len(bytes.TrimSpace(document)) == 0 {
		return nil, nil
	}
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML: %w", err)
	}
	if string(encoded) == "null" {
		return nil, nil // comments alone
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("it is no Kubernetes object: %w", err)
	}
	if !object.IsList() {
		return []*unstructured.Unstructured{object}, nil
	}
	list, err := object.ToList()
	if err != nil {
		return nil, fmt.Errorf("its list can't be read: %w", err)
	}
	var objects []*unstructured.Unstructured
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects, nil
}

// choose returns the set that is meant.
func choose(objects []*unstructured.Unstructured, name string) (*unstructured.Unstructured, error) {
	var sets []*unstructured.Unstructured
	var names []string
	for _, object := range objects {
		if isSet(object) && (name == "" || object.GetName() == name) {
			sets = append(sets, object)
			names = append(names, object.GetName())
		}
	}
	switch len(sets) {
	case 0:
		return nil, nothingFound(objects, name)
	case 1:
		return sets[0], nil
	default:
		return nil, fmt.Errorf("it has %d StatefulSets (%s): name the one that is meant", len(sets), strings.Join(names, ", "))
	}
}

func isSet(object *unstructured.Unstructured) bool {
	return object.GetKind() == v1.Kind.Kind && object.GetAPIVersion() == v1.GroupVersion.String()
}

// nothingFound says what there is instead.
func nothingFound(objects []*unstructured.Unstructured, name string) error {
	wanted := "StatefulSet of " + v1.GroupVersion.String()
	if name != "" {
		wanted += " named " + name
	}
	var others []string
	for _, object := range objects {
		if object.GetKind() == v1.Kind.Kind && object.GetAPIVersion() == "apps/v1" && (name == "" || object.GetName() == name) {
			return fmt.Errorf("it has no %s; StatefulSet %s is of apps/v1: change its apiVersion to %s", wanted, object.GetName(), v1.GroupVersion)
		}
		others = append(others, object.GetKind()+"/"+object.GetName())
	}
	if len(others) == 0 {
		return fmt.Errorf("it has no %s, nor any other object", wanted)
	}
	return fmt.Errorf("it has no %s, only %s", wanted, strings.Join(others, ", "))
}
