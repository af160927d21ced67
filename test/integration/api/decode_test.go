package api

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// TestStoredSetsDecode: with no webhook running, whatever the schema lets pass can be read as a Go type. A single set
// that can't would blind every informer on the kind.
func TestStoredSetsDecode(t *testing.T) {
	tests := map[string]struct {
		path    []string
		value   any
		refused bool
	}{
		"replicas beyond int32":       {path: []string{"spec", "replicas"}, value: int64(1) << 31, refused: true},
		"replicas beyond int64":       {path: []string{"spec", "replicas"}, value: 1e19, refused: true},
		"replicas a whole float":      {path: []string{"spec", "replicas"}, value: 3.0},
		"maxUnavailable beyond int32": {path: []string{"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}, value: int64(1) << 31, refused: true},
		"time without a zone":         {path: []string{"spec", "template", "metadata", "creationTimestamp"}, value: "2026-01-01T00:00:00", refused: true},
		"time in lower case":          {path: []string{"spec", "template", "metadata", "creationTimestamp"}, value: "2026-01-01t00:00:00z", refused: true},
		"time":                        {path: []string{"spec", "template", "metadata", "creationTimestamp"}, value: "2026-01-01T00:00:00.5+02:00"},
		"grace period beyond int64":   {path: []string{"spec", "template", "spec", "terminationGracePeriodSeconds"}, value: 1e19, refused: true},
		"overhead with a broken exponent": {
			path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": "1e1.5"}, refused: true,
		},
		"overhead with a huge exponent": {
			path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": "1e99999999999999999999"}, refused: true,
		},
		"overhead with a large exponent": {path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": "1e100"}},
		"overhead as a float":            {path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": 1e300}},
		"overhead with blanks":           {path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": " 1 "}},
		"overhead as a word":             {path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": "lots"}, refused: true},
		"overhead empty":                 {path: []string{"spec", "template", "spec", "overhead"}, value: map[string]any{"cpu": ""}, refused: true},
		"port beyond int32": {
			path: []string{"spec", "template", "spec", "containers"},
			value: []any{map[string]any{
				"name": "main", "readinessProbe": map[string]any{"tcpSocket": map[string]any{"port": int64(1) << 31}},
			}},
			refused: true,
		},
	}
	space := cluster.Namespace(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := minimalSet(space.Name)
			setField(t, set, test.value, test.path...)
			err := space.Client.Create(t.Context(), set)
			if (err != nil) != test.refused {
				t.Errorf("refused: %v, want %t", err, test.refused)
			}
			if err == nil {
				mustDecode(t, space, set)
			}
		})
	}
}

// mustDecode reads the stored set as a Go type and deletes it.
func mustDecode(t *testing.T, space *cluster.Space, set *unstructured.Unstructured) {
	t.Helper()
	if err := space.Client.Get(t.Context(), client.ObjectKeyFromObject(set), &v1.StatefulSet{}); err != nil {
		t.Errorf("stored, but not readable: %v", err)
	}
	if err := space.Client.Delete(t.Context(), set); err != nil {
		t.Error(err)
	}
}
