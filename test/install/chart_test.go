package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/features"
)

// variants are ways to install that differ in what is rendered.
var variants = map[string][]string{
	"defaults":        nil,
	"cert-manager":    {"--set=webhook.certificate.source=cert-manager"},
	"no webhook":      {"--set=webhook.enabled=false"},
	"some namespaces": {"--set=watchNamespaces={databases,queues}"},
	"everything": {
		"--set=createNamespace=true", "--set=metrics.serviceMonitor.enabled=true", "--set=metrics.prometheusRule.enabled=true", "--set=userRoles.aggregate=true",
		"--set=featureGates.StatefulSetRecreateStrategy=false", "--set=controller.concurrentSyncs=4",
		"--set=controller.priorityClassName=system-cluster-critical", "--set=controller.nodeSelector.disk=ssd",
		"--set=controller.extraArgs={--zap-devel}", "--set=image.digest=sha256:" + strings.Repeat("0", 64),
		"--set=controller.serviceAccountAnnotations.team=storage", "--set=image.pullSecrets[0].name=registry",
	},
}

func TestLint(t *testing.T) {
	for name, args := range variants {
		t.Run(name, func(t *testing.T) {
			out, err := helm(append([]string{"lint", "--strict", filepath.Join(root(), "charts", "rollcall")}, args...)...)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestValues: the README explains every value with its default, and no other.
func TestValues(t *testing.T) {
	if diff := cmp.Diff(flatten("", readYAML(t, "values.yaml")), explained(t)); diff != "" {
		t.Errorf("README.md (-values.yaml +README.md):\n%s", diff)
	}
}

func readYAML(t testing.TB, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root(), "charts", "rollcall", name))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(content, &values); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	return values
}

// flatten names values by their paths. What users replace as a whole counts as one.
func flatten(prefix string, values map[string]any) map[string]string {
	flat := map[string]string{}
	for key, value := range values {
		nested, isMap := value.(map[string]any)
		if isMap && len(nested) > 0 && key != "resources" {
			for path, text := range flatten(prefix+key+".", nested) {
				flat[path] = text
			}
			continue
		}
		text, _ := json.Marshal(value)
		flat[prefix+key] = string(text)
	}
	return flat
}

// explained reads the table of the README. Text is written without quotes there, unless it is empty.
func explained(t testing.TB) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root(), "charts", "rollcall", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		value, text := strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		if !json.Valid([]byte(text)) {
			text = `"` + text + `"`
		}
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%s is not explained", value)
		}
		found[value] = text
	}
	return found
}

// TestSchema: mistakes are refused before anything is installed.
func TestSchema(t *testing.T) {
	tests := map[string]struct{ set, want string }{
		"a misspelt value":        {"controller.replica=1", "'replica' not allowed"},
		"no number":               {"controller.replicas=two", "want integer"},
		"an unknown gate":         {"featureGates.Recreate=true", "'Recreate' not allowed"},
		"a gate that is no bool":  {"featureGates.StatefulSetRecreateStrategy=maybe", "want boolean"},
		"a namespace in capitals": {"watchNamespaces={Databases}", "does not match pattern"},
		"an unknown source":       {"webhook.certificate.source=vault", "must be one of"},
		"a lifetime in days":      {"webhook.certificate.lifetime=90d", "does not match pattern"},
		"a digest cut short":      {"image.digest=sha256:abc", "does not match pattern"},
		"an argument, no flag":    {"controller.extraArgs={debug}", "does not match pattern"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := helm("template", "rollcall", filepath.Join(root(), "charts", "rollcall"), "--set="+test.set)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestGates: the schema knows the gates that there are.
func TestGates(t *testing.T) {
	schema := readYAML(t, "values.schema.json")
	known, _, err := unstructured.NestedMap(schema, "properties", "featureGates", "properties")
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range features.All {
		if _, ok := known[string(gate)]; !ok {
			t.Errorf("values.schema.json does not know gate %s", gate)
		}
	}
	if want := len(features.All) + len([]string{"AllAlpha", "AllBeta"}); len(known) != want {
		t.Errorf("values.schema.json knows %d gates, want %d", len(known), want)
	}
}

// TestLeastPrivilege: whatever is chosen, no wildcards, nobody else's secrets, and no way to more rights.
func TestLeastPrivilege(t *testing.T) {
	for name, args := range variants {
		t.Run(name, func(t *testing.T) {
			for _, object := range parse(t, render(t, "rollcall-system", args...)) {
				if strings.HasSuffix(object.GetKind(), "Role") {
					checkRole(t, object)
				}
			}
		})
	}
}

func checkRole(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
		t.Fatal(err)
	}
	for _, rule := range role.Rules {
		for _, text := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs, rule.ResourceNames) {
			if strings.Contains(text, "*") || slices.Contains([]string{"escalate", "bind", "impersonate"}, text) {
				t.Errorf("%s %s allows %q", role.Kind, role.Name, text)
			}
		}
		ofSecrets := slices.Contains(rule.Resources, "secrets")
		if ofSecrets && !slices.Equal(rule.ResourceNames, []string{"rollcall-webhook-certificate"}) {
			t.Errorf("%s %s allows secrets %q, want the certificate alone", role.Kind, role.Name, rule.ResourceNames)
		}
	}
}

// TestNamespacesAreEnough: with watchNamespaces, nothing about pods and sets is allowed in the whole cluster.
func TestNamespacesAreEnough(t *testing.T) {
	objects := parse(t, render(t, "rollcall-system", variants["some namespaces"]...))
	for _, object := range objects {
		if object.GetKind() == "ClusterRoleBinding" && !slices.Contains([]string{"rollcall-metrics-access", "rollcall-webhook-certificate"}, object.GetName()) {
			t.Errorf("%s is bound in the whole cluster", object.GetName())
		}
	}
	for _, namespace := range []string{"databases", "queues"} {
		if !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "Role" && o.GetName() == "rollcall-controller" && o.GetNamespace() == namespace
		}) {
			t.Errorf("the controller has no role in %s", namespace)
		}
	}
	hook := find[admissionv1.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration", "rollcall").Webhooks[0]
	if diff := cmp.Diff([]string{"databases", "queues"}, hook.NamespaceSelector.MatchExpressions[0].Values); diff != "" {
		t.Errorf("namespaces that the webhook judges (-want +got):\n%s", diff)
	}
}

// TestWebhookStandsInNobodysWay: it is asked about our kind alone, and not answered for when it is down.
func TestWebhookStandsInNobodysWay(t *testing.T) {
	for name, args := range variants {
		if name == "no webhook" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			objects := parse(t, render(t, "elsewhere", args...))
			hook := find[admissionv1.MutatingWebhookConfiguration](t, objects, "MutatingWebhookConfiguration", "rollcall").Webhooks[0]
			check(t, hook.FailurePolicy, hook.TimeoutSeconds, hook.Rules, hook.ClientConfig)
			other := find[admissionv1.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration", "rollcall").Webhooks[0]
			check(t, other.FailurePolicy, other.TimeoutSeconds, other.Rules, other.ClientConfig)
		})
	}
}

func check(t *testing.T, policy *admissionv1.FailurePolicyType, timeout *int32, rules []admissionv1.RuleWithOperations, config admissionv1.WebhookClientConfig) {
	t.Helper()
	if *policy != admissionv1.Ignore || *timeout > 5 {
		t.Errorf("failure policy %s and %d s, want Ignore and at most 5", *policy, *timeout)
	}
	for _, rule := range rules {
		if !slices.Equal(rule.APIGroups, []string{v1.GroupVersion.Group}) || !slices.Equal(rule.Resources, []string{"statefulsets"}) {
			t.Errorf("it is asked about %q of %q, want our kind alone", rule.Resources, rule.APIGroups)
		}
	}
	if config.Service.Namespace != "elsewhere" {
		t.Errorf("the service is looked for in %s, want the namespace of the release", config.Service.Namespace)
	}
}

// TestCRDIsKept: uninstalling leaves the sets, and the chart has the CRD that the repository has.
func TestCRDIsKept(t *testing.T) {
	rendered := find[apiextensionsv1.CustomResourceDefinition](t, parse(t, render(t, "rollcall-system")), "CustomResourceDefinition", "statefulsets.apps.rollcall.dev")
	if got := rendered.Annotations["helm.sh/resource-policy"]; got != "keep" {
		t.Errorf("resource policy %q, want keep", got)
	}
	content, err := os.ReadFile(filepath.Join(root(), "config", "crd", "apps.rollcall.dev_statefulsets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shipped := find[apiextensionsv1.CustomResourceDefinition](t, parse(t, string(content)), "CustomResourceDefinition", rendered.Name)
	if diff := cmp.Diff(shipped.Spec, rendered.Spec); diff != "" {
		t.Errorf("the chart's CRD (-config +chart); run `make generate`:\n%s", diff)
	}
}
