package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/manifest"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/preview"
)

// web is a manifest of a set, with more lines in its spec.
func web(more ...string) string {
	lines := []string{
		"apiVersion: apps.rollcall.dev/v1",
		"kind: StatefulSet",
		"metadata: {name: web}",
		"spec:",
		"  serviceName: web",
		"  selector: {matchLabels: {app: web}}",
		"  template:",
		"    metadata: {labels: {app: web}}",
		"    spec:",
		"      containers:",
		"      - {name: web, image: web, ports: [{containerPort: 80}]}",
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

func TestDefaultsAreThoseOfTheCRD(t *testing.T) {
	set, written, err := manifest.Read(strings.NewReader(web()), "")
	if err != nil {
		t.Fatal(err)
	}
	if *set.Spec.Replicas != 1 || set.Spec.PodManagementPolicy != v1.OrderedReady || set.Spec.UpdateStrategy.Type != v1.RollingUpdateStrategy {
		t.Errorf("defaults are missing: %+v", set.Spec)
	}
	// The template's own defaults come from the schema, not from our types.
	if got := set.Spec.Template.Spec.Containers[0].Ports[0].Protocol; got != "TCP" {
		t.Errorf("protocol is %q, want the schema's default TCP", got)
	}
	if _, isThere := written.Object["spec"].(map[string]any)["replicas"]; isThere {
		t.Error("defaults were written into what the file says")
	}
}

func TestSamplesAreAccepted(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, _, err := manifest.Read(file, ""); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct{ text, name, want string }{
		"empty":             {text: "", want: "it has no StatefulSet of apps.rollcall.dev/v1, nor any other object"},
		"comments":          {text: "# nothing\n---\n# here\n", want: "nor any other object"},
		"no YAML":           {text: "a: b: c", want: "reading document 1: it is not YAML"},
		"doubled key":       {text: web("  replicas: 1", "  replicas: 2"), want: `key "replicas" already set`},
		"no object":         {text: "- 1\n", want: "it is no Kubernetes object"},
		"other kinds":       {text: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", want: "only Service/web"},
		"apps/v1":           {text: strings.Replace(web(), v1.GroupVersion.String(), "apps/v1", 1), want: "StatefulSet web is of apps/v1: change its apiVersion to apps.rollcall.dev/v1"},
		"another name":      {text: web(), name: "db", want: "it has no StatefulSet of apps.rollcall.dev/v1 named db"},
		"two sets":          {text: web() + "---\n" + web(), want: "it has 2 StatefulSets (web, web): name the one that is meant"},
		"unknown field":     {text: web("  replica: 3"), want: "the field spec.replica is not known: check its spelling"},
		"unknown in pod":    {text: strings.Replace(web(), "image: web", "image: web, img: x", 1), want: "the field spec.template.spec.containers[0].img is not known"},
		"wrong type":        {text: web("  replicas: three"), want: `spec.replicas: Invalid value: "string"`},
		"negative replicas": {text: web("  replicas: -1"), want: "spec.replicas"},
		"no template":       {text: "apiVersion: apps.rollcall.dev/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec: {selector: {matchLabels: {a: b}}}\n", want: "spec.template: Required value"},
		"no name":           {text: strings.Replace(web(), "{name: web}", "{labels: {a: b}}", 1), want: "metadata.name: Required value"},
		"rule of the CRD": {
			text: web("  updateStrategy: {type: Recreate, rollingUpdate: {partition: 1}}"),
			want: "only allowed with type RollingUpdate: remove rollingUpdate or change the type",
		},
		"budget of nothing": {
			text: web("  updateStrategy: {rollingUpdate: {maxUnavailable: 0}}"),
			want: "must be a whole number from 1 up, or a percentage",
		},
		"selector of others": {text: strings.Replace(web(), "{app: web}}\n  template", "{app: db}}\n  template", 1), want: "selector"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := manifest.Read(strings.NewReader(tc.text), tc.name)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the answer is %v, want one with %q", err, tc.want)
			}
		})
	}
}

// TestUpdatesAreJudgedAgainstTheOld: some fields never change.
func TestUpdatesAreJudgedAgainstTheOld(t *testing.T) {
	_, old, err := manifest.Read(strings.NewReader(web("  podManagementPolicy: Parallel")), "")
	if err != nil {
		t.Fatal(err)
	}
	_, same, err := manifest.Read(strings.NewReader(web("  podManagementPolicy: Parallel", "  replicas: 5")), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Accept(same, old); err != nil {
		t.Errorf("an update of replicas is refused: %v", err)
	}
	_, other, err := manifest.Read(strings.NewReader(web("  podManagementPolicy: OrderedReady")), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Accept(other, old); err == nil || !strings.Contains(err.Error(), "podManagementPolicy") {
		t.Errorf("an update of podManagementPolicy is answered with %v", err)
	}
}

func TestOneOfSeveralIsChosenByName(t *testing.T) {
	text := web() + "---\n" + strings.Replace(web(), "{name: web}", "{name: db}", 1) + "---\n" +
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: apps.rollcall.dev/v1, kind: StatefulSet, metadata: {name: listed}}\n"
	set, _, err := manifest.Read(strings.NewReader(text), "db")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("db", set.Name); diff != "" {
		t.Error(diff)
	}
	if _, _, err := manifest.Read(strings.NewReader(text), "listed"); err == nil || !strings.Contains(err.Error(), "spec: Required value") {
		t.Errorf("a set in a list is not found: %v", err)
	}
}

// FuzzManifest: whatever stands in a file, it is refused with an error or leads
// to a set that the planner can play.
func FuzzManifest(f *testing.F) {
	for _, more := range []string{
		"", "  replicas: 3", "  replicas: 0", "  podManagementPolicy: Parallel", "  minReadySeconds: 10", "  paused: true",
		"  updateStrategy: {type: Recreate}", "  updateStrategy: {type: OnDelete}", "  ordinals: {start: 5}",
		"  updateStrategy: {type: EnforcedRollingUpdate, enforcedRollingUpdate: {partition: 2, maxUnavailable: 50%}}",
		"  updateStrategy: {rollingUpdate: {podProgressTimeoutSeconds: 60, maxUnavailable: 2}}",
		"  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]",
		"  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}", "  revisionHistoryLimit: -1",
	} {
		f.Add([]byte(web(more)))
	}
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[]}`))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("---\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, _, err := manifest.Read(strings.NewReader(string(text)), "")
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without words")
			}
			return
		}
		const fewPods = 20
		if *set.Spec.Replicas > fewPods {
			return
		}
		set.Namespace = "default"
		now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
		if _, err := preview.Run(preview.Request{Set: set, Now: now, Gates: plan.AllGates(), Pace: preview.Pace{Start: time.Second, Stop: time.Second}}); err != nil {
			t.Errorf("an accepted manifest can't be played: %v\n%s", err, text)
		}
	})
}
