package install

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// helm runs Helm and returns what it says, and what it complains about.
func helm(args ...string) (string, error) {
	command := exec.Command(filepath.Join(root(), "bin", "helm"), args...)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		return "", errors.Join(err, errors.New(complaint.String()))
	}
	return out.String(), nil
}

// render returns the chart's manifests in a namespace.
func render(t testing.TB, namespace string, args ...string) string {
	t.Helper()
	out, err := helm(append([]string{"template", "rollcall", filepath.Join(root(), "charts", "rollcall"), "--namespace=" + namespace}, args...)...)
	if err != nil {
		t.Fatalf("rendering the chart (bin/helm is made by `make tools`): %v", err)
	}
	return out
}

// parse returns the objects of manifests.
func parse(t testing.TB, manifests string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(manifests)), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("reading what was rendered: %v", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// find returns the object of a kind and name, as its type.
func find[T any](t testing.TB, objects []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	into := new(T)
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
				t.Fatalf("reading %s %s: %v", kind, name, err)
			}
			return into
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}
