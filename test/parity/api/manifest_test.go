package api

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// base is the manifest that the tables change: a set with a bit of everything that changes touch.
const base = `
metadata:
  name: web
spec:
  serviceName: web
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web, tier: front}
    spec:
      containers:
      - name: nginx
        image: registry.example/nginx:1.29
        ports:
        - {name: http, containerPort: 80}
        volumeMounts:
        - {name: www, mountPath: /usr/share/nginx/html}
  volumeClaimTemplates:
  - metadata: {name: www}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
`

// manifest is a set without apiVersion and kind, which are added when it is sent.
type manifest map[string]any

func parse(t testing.TB, text string) manifest {
	t.Helper()
	var parsed manifest
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatalf("parsing a manifest: %v", err)
	}
	return integers(map[string]any(parsed)).(map[string]any)
}

// change applies lines of the form "path = YAML value" and "delete path" to a copy of the manifest.
func (m manifest) change(t testing.TB, lines string) manifest {
	t.Helper()
	changed := manifest(runtime.DeepCopyJSON(m))
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := changed.apply(line); err != nil {
			t.Fatalf("change %q: %v", line, err)
		}
	}
	return changed
}

// apply carries out one line of change in place.
func (m manifest) apply(line string) error {
	if path, ok := strings.CutPrefix(line, "delete "); ok {
		_, err := assign(map[string]any(m), steps(path), remove{})
		return err
	}
	path, text, _ := strings.Cut(line, " = ")
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	_, err := assign(map[string]any(m), steps(path), integers(value))
	return err
}

// remove is the value that makes assign delete a key.
type remove struct{}

var step = regexp.MustCompile(`[^.\[\]]+|\[\d+\]`)

func steps(path string) []string { return step.FindAllString(path, -1) }

// assign returns the node with the value put where the path leads. Objects on the way are created; a list grows by one
// when the index is its length.
func assign(node any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if strings.HasPrefix(path[0], "[") {
		return assignItem(node, path, value)
	}
	fields, ok := node.(map[string]any)
	if node != nil && !ok {
		return nil, fmt.Errorf("%q is not in an object", path[0])
	}
	if fields == nil {
		fields = map[string]any{}
	}
	if _, isRemove := value.(remove); isRemove && len(path) == 1 {
		delete(fields, path[0])
		return fields, nil
	}
	child, err := assign(fields[path[0]], path[1:], value)
	fields[path[0]] = child
	return fields, err
}

func assignItem(node any, path []string, value any) (any, error) {
	items, _ := node.([]any)
	index, err := strconv.Atoi(strings.Trim(path[0], "[]"))
	if err != nil || index > len(items) {
		return nil, fmt.Errorf("no item %s", path[0])
	}
	if _, isRemove := value.(remove); isRemove && len(path) == 1 {
		return slices.Delete(items, index, min(index+1, len(items))), nil
	}
	if index == len(items) {
		items = append(items, nil)
	}
	items[index], err = assign(items[index], path[1:], value)
	return items, err
}

// integers turns the floats of the YAML decoder into the integers that were written.
func integers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = integers(value[key])
		}
	case []any:
		for i := range value {
			value[i] = integers(value[i])
		}
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	}
	return value
}
