package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/preview"
)

// sample is a set of three pods with a claim each, and a service beside it.
const sample = "../../config/samples/web.yaml"

// runOffline runs the plugin where any request to a cluster fails the test.
func runOffline(t *testing.T, stdin string, args ...string) (out, errOut string, code int) {
	t.Helper()
	streams, in, stdout, stderr := genericclioptions.NewTestIOStreams()
	in.WriteString(stdin)
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	program := &Program{IOStreams: streams, Now: func() time.Time { return now }, Wrap: func(config *rest.Config) *rest.Config {
		config.WrapTransport = func(http.RoundTripper) http.RoundTripper { return noCluster{t} }
		return config
	}}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	code = program.Run(t.Context(), args...)
	return stdout.String(), stderr.String(), code
}

// noCluster is an API server that nobody should ask.
type noCluster struct{ t *testing.T }

func (n noCluster) RoundTrip(request *http.Request) (*http.Response, error) {
	n.t.Errorf("a cluster was asked: %s", request.URL)
	return nil, http.ErrServerClosed
}

func TestPlanOffline(t *testing.T) {
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		stdin string
		args  []string
		want  preview.Preview
	}{
		"new":              {args: []string{"-f", sample, "--offline"}, want: preview.Preview{Outcome: preview.Complete, Created: 3, Duration: 90}},
		"from stdin":       {stdin: string(text), args: []string{"-f", "-", "--offline"}, want: preview.Preview{Outcome: preview.Complete, Created: 3, Duration: 90}},
		"same":             {args: []string{"-f", sample, "--from", sample}, want: preview.Preview{Outcome: preview.Unchanged}},
		"by flags":         {args: []string{"--from", sample, "--set-image=nginx:2", "--start-seconds=10"}, want: preview.Preview{Outcome: preview.Complete, Replaced: 3, Duration: 45}},
		"flags and stdin":  {stdin: string(text), args: []string{"--from", "-", "--restart", "--stop-seconds=0"}, want: preview.Preview{Outcome: preview.Complete, Replaced: 3, Duration: 90}},
		"scaling":          {args: []string{"web", "--from", sample, "--replicas=1"}, want: preview.Preview{Outcome: preview.Complete, Removed: 2, Duration: 10}},
		"paused":           {args: []string{"--from", sample, "--restart", "--paused"}, want: preview.Preview{Outcome: preview.Paused}},
		"partition":        {args: []string{"--from", sample, "--restart", "--partition=2"}, want: preview.Preview{Outcome: preview.Staged, Replaced: 1, Duration: 35}},
		"strategy":         {args: []string{"--from", sample, "--restart", "--strategy=OnDelete"}, want: preview.Preview{Outcome: preview.Waiting}},
		"budget":           {args: []string{"--from", sample, "--restart", "--max-unavailable=100%"}, want: preview.Preview{Outcome: preview.Complete, Replaced: 3, Duration: 35}},
		"grace before all": {args: []string{"--from", sample, "--restart", "--min-ready-seconds=10"}, want: preview.Preview{Outcome: preview.Complete, Replaced: 3, Duration: 135}},
	} {
		t.Run(name, func(t *testing.T) {
			out, errOut, code := runOffline(t, tc.stdin, append([]string{"plan", "-o", "json"}, tc.args...)...)
			if code != 0 || errOut != "" {
				t.Fatalf("code %d: %s", code, errOut)
			}
			var got preview.Preview
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if got.Outcome != tc.want.Outcome || got.Created != tc.want.Created || got.Replaced != tc.want.Replaced ||
				got.Removed != tc.want.Removed || got.Duration != tc.want.Duration {
				t.Errorf("got %s: %d created, %d replaced, %d removed in %vs, want %+v", got.Outcome, got.Created, got.Replaced, got.Removed, got.Duration, tc.want)
			}
		})
	}
}

// TestPlanRefusals: bad input gives one line that says what to do, and code 1.
func TestPlanRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"nothing":              {want: `what is to be planned? name a set, or a file with -f`},
		"no change":            {args: []string{"web"}, want: "what would change? say it with flags such as --set-image"},
		"offline without file": {args: []string{"web", "--offline", "--restart"}, want: "--offline needs a file: give it with -f"},
		"two times stdin":      {args: []string{"-f", "-", "--from", "-"}, want: "-f and --from can't both read standard input"},
		"no such file":         {args: []string{"-f", "nix.yaml", "--offline"}, want: "can't read nix.yaml: no such file or directory"},
		"empty stdin":          {args: []string{"-f", "-", "--offline"}, want: "standard input: it has no StatefulSet of apps.rollcall.dev/v1"},
		"another name":         {args: []string{"db", "-f", sample, "--offline"}, want: "it has no StatefulSet of apps.rollcall.dev/v1 named db"},
		"wrong kind":           {args: []string{"deployment/web", "-f", sample, "--offline"}, want: "deployment/web is no StatefulSet"},
		"unknown container":    {args: []string{"-f", sample, "--offline", "--set-image=db=x"}, want: "has no container db: it has web"},
		"unknown strategy":     {args: []string{"-f", sample, "--offline", "--strategy=Fast"}, want: `spec.updateStrategy.type: Unsupported value: "Fast"`},
		"contradiction":        {args: []string{"-f", sample, "--offline", "--strategy=Recreate", "--partition=1"}, want: "only allowed with type RollingUpdate"},
		"immutable":            {stdin: "", args: []string{"-f", "other-service.yaml", "--from", sample}, want: "spec.serviceName: Invalid value: \"other\": field is immutable"},
		"too many":             {args: []string{"-f", sample, "--offline", "--replicas=100000"}, want: "no more than 1000 can be played"},
		"negative time":        {args: []string{"-f", sample, "--offline", "--start-seconds=-1"}, want: "can't be negative"},
		"unknown format":       {args: []string{"-f", sample, "--offline", "-o", "xml"}, want: "-o xml is not known here: use json"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"plan"}, tc.args...)
			for i := range args {
				if args[i] == "other-service.yaml" {
					args[i] = otherService(t)
				}
			}
			out, errOut, code := runOffline(t, tc.stdin, args...)
			if code != 1 || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, tc.want) {
				t.Errorf("code %d, want 1 and a line with %q:\n%s%s", code, tc.want, out, errOut)
			}
		})
	}
}

func otherService(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("serviceName: web"), []byte("serviceName: other")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestApplyPatch: what a file leaves away is taken away if it was applied before, and stays if somebody else set it.
func TestApplyPatch(t *testing.T) {
	written := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": "StatefulSet",
		"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"serviceName": "web"},
	}}
	stored := func(edit func(*v1.StatefulSet)) *v1.StatefulSet {
		set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.StatefulSetSpec{ServiceName: "web", MinReadySeconds: 5}}
		edit(set)
		return set
	}
	for name, tc := range map[string]struct {
		live      *v1.StatefulSet
		kind      types.PatchType
		takesAway bool
	}{
		"never applied": {live: stored(func(*v1.StatefulSet) {}), kind: types.MergePatchType},
		"applied": {kind: types.MergePatchType, takesAway: true, live: stored(func(set *v1.StatefulSet) {
			set.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"serviceName":"web","minReadySeconds":5}}`}
		})},
		"applied without it": {kind: types.MergePatchType, live: stored(func(set *v1.StatefulSet) {
			set.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"serviceName":"web"}}`}
		})},
		"applied server-side": {kind: types.ApplyPatchType, live: stored(func(set *v1.StatefulSet) {
			set.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			patch, _, err := applyPatch(tc.live, written)
			if err != nil {
				t.Fatal(err)
			}
			data, err := patch.Data(tc.live)
			if err != nil {
				t.Fatal(err)
			}
			if patch.Type() != tc.kind || strings.Contains(string(data), `"minReadySeconds":null`) != tc.takesAway {
				t.Errorf("patch of type %s: %s", patch.Type(), data)
			}
		})
	}
}
