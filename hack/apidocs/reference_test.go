package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const crd = `
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        x-kubernetes-validations:
        - {rule: "true", fieldPath: .metadata.name, message: be brief}
        properties:
          spec:
            x-kubernetes-validations:
            - {rule: "true", fieldPath: .template.spec.restartPolicy, message: must be Always}
            properties:
              template: {type: object, description: what <pods> are made from}
              strategy:
                type: object
                description: Extension of apps/v1, since v0.1.
                properties:
                  partition: {type: integer, format: int32, minimum: 0, maximum: 2147483647, default: 0, description: where it stops}
              policy: {type: string, enum: [A, B], description: "C is one of the extensions of apps/v1, since v0.2."}
          status:
            properties:
              items: {type: array, items: {type: object, properties: {count: {type: integer}}}}
`

const want = begin + "### `metadata.name`\n\n*string · as apps/v1*\n\n- be brief\n\n" +
	"### `metadata.generateName`\n\n*string · as apps/v1*\n\n" +
	"### `spec.policy`\n\n*string · as apps/v1, extended since v0.2*\n\nC is one of the extensions of apps/v1, since v0.2.\n\n- one of `A`, `B`\n\n" +
	"### `spec.strategy`\n\n*object · extension, since v0.1*\n\nExtension of apps/v1, since v0.1.\n\n" +
	"### `spec.strategy.partition`\n\n*integer (int32) · default `0` · extension, since v0.1*\n\nwhere it stops\n\n- at least 0\n\n" +
	"### `spec.template`\n\n*object · as apps/v1*\n\nwhat &lt;pods> are made from\n\n" +
	"Its fields are [those of Kubernetes](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-template-v1/#PodTemplateSpec).\n\n" +
	"- `spec.restartPolicy`: must be Always\n\n" +
	"### `status.items`\n\n*list of objects · as apps/v1*\n\n" +
	"### `status.items[].count`\n\n*integer · as apps/v1*\n\n" + end

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	crdFile, page := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "page.md")
	writeFile(t, crdFile, crd)
	writeFile(t, page, "above\n"+begin+"stale\n"+end+"below\n")
	for range 2 { // a second time changes nothing
		if err := rewrite(crdFile, page); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("above\n"+want+"below\n", string(got)); diff != "" {
			t.Errorf("page (-want +got):\n%s", diff)
		}
	}
}

func TestRewriteNeedsTheMarks(t *testing.T) {
	dir := t.TempDir()
	crdFile, page := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "page.md")
	writeFile(t, crdFile, crd)
	writeFile(t, page, "a page without marks\n")
	if err := rewrite(crdFile, page); err == nil {
		t.Error("a page without marks was rewritten")
	}
}

func writeFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
