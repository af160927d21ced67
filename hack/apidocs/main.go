// Command apidocs writes the reference of docs/api.md: every field of our own types with its default, its rules and
// since when it is there, all taken from the CRD, which is generated from the types. The rest of the page is written by
// hand and left alone.
//
// Usage: apidocs <crd.yaml> <page.md>
package main

import (
	"fmt"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The reference stands between these two lines of the page.
const (
	begin = "<!-- begin generated reference: hack/generate.sh -->\n"
	end   = "<!-- end generated reference -->\n"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: apidocs <crd.yaml> <page.md>")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "apidocs:", err)
		os.Exit(1)
	}
}

func rewrite(crdFile, page string) error {
	root, err := readSchema(crdFile)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	before, rest, hasBegin := strings.Cut(string(content), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return fmt.Errorf("%s lacks the lines between which the reference stands", page)
	}
	updated := before + begin + reference(root) + end + after
	if err := os.WriteFile(page, []byte(updated), 0o644); err != nil { //nolint:gosec // a page for everybody to read
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func readSchema(file string) (*schema, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the CRD: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", file, err)
	}
	if len(crd.Spec.Versions) != 1 {
		return nil, fmt.Errorf("%s has %d versions, want one", file, len(crd.Spec.Versions))
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema, nil
}
