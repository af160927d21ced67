package api

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// kubectl is the user's way in, for one namespace.
type kubectl struct {
	program    string
	kubeconfig string
}

func newKubectl(t *testing.T, space *cluster.Space) *kubectl {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test", Namespace: space.Name}
	config.CurrentContext = "test"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return &kubectl{program: filepath.Join(root(), "bin", "assets", "kubectl"), kubeconfig: file}
}

func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// try runs a command and returns all it prints.
func (k *kubectl) try(input string, args ...string) (string, error) {
	command := exec.Command(k.program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig, "HOME="+filepath.Dir(k.kubeconfig))
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	return string(output), err
}

// run runs a command that must succeed.
func (k *kubectl) run(t *testing.T, input string, args ...string) string {
	t.Helper()
	output, err := k.try(input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return output
}

func wantAll(t *testing.T, output string, texts ...string) {
	t.Helper()
	if err := containsAll(output, texts...); err != nil {
		t.Error(err)
	}
}

// containsAll looks for texts, taking any white space for a blank.
func containsAll(output string, texts ...string) error {
	for _, text := range texts {
		if !strings.Contains(strings.Join(strings.Fields(output), " "), text) {
			return fmt.Errorf("want %q in:\n%s", text, output)
		}
	}
	return nil
}

func TestExplainTellsTheStory(t *testing.T) {
	space := cluster.Namespace(t)
	kubectl := newKubectl(t, space)
	space.Eventually(t, "the API server publishes the schema", func(context.Context) error {
		_, err := kubectl.try("", "explain", "rsts")
		return err
	})
	wantAll(t, kubectl.run(t, "", "explain", "rsts.spec.updateStrategy"),
		"RollingUpdate (the default) replaces them from the highest ordinal down",
		"OnDelete replaces a pod when somebody deletes it",
		"Recreate deletes all pods, waits until every one is gone, and creates them anew",
		"EnforcedRollingUpdate is a rolling update that replaces outdated pods whatever their state",
		"enum: RollingUpdate, OnDelete, Recreate, EnforcedRollingUpdate")
	wantAll(t, kubectl.run(t, "", "explain", "rsts.spec.template.spec.containers"),
		"name <string> -required-", "ports <[]Object>", "resources <Object>")
}

func TestCRDStaysSmallAndApplies(t *testing.T) {
	const most = 300_000
	space := cluster.Namespace(t)
	file := filepath.Join(root(), "config", "crd", "apps.rollcall.dev_statefulsets.yaml")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= most {
		t.Errorf("the CRD has %d bytes, want less than %d", info.Size(), most)
	}
	wantAll(t, newKubectl(t, space).run(t, "", "apply", "--server-side", "--force-conflicts", "-f", file), "serverside-applied")
}

func TestSamplesApply(t *testing.T) {
	space := cluster.Namespace(t)
	admission.Serve(t, space, plan.AllGates())
	kubectl := newKubectl(t, space)
	files, err := filepath.Glob(filepath.Join(root(), "config", "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no samples: %v", err)
	}
	strategies := map[v1.UpdateStrategyType]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			output := kubectl.run(t, "", "apply", "-f", file)
			wantAll(t, output, "statefulset.apps.rollcall.dev/", "created")
			if strings.Contains(output, "Warning") {
				t.Errorf("the sample makes the API server warn:\n%s", output)
			}
			set := &v1.StatefulSet{}
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if err := space.Client.Get(t.Context(), client.ObjectKey{Namespace: space.Name, Name: name}, set); err != nil {
				t.Fatal(err)
			}
			strategies[set.Spec.UpdateStrategy.Type] = true
		})
	}
	for _, strategy := range []v1.UpdateStrategyType{
		v1.RollingUpdateStrategy, v1.OnDeleteStrategy, v1.RecreateStrategy, v1.EnforcedRollingUpdateStrategy,
	} {
		if !strategies[strategy] {
			t.Errorf("no sample shows the strategy %s", strategy)
		}
	}
}

func TestEverydayCommands(t *testing.T) {
	space := cluster.Namespace(t)
	kubectl := newKubectl(t, space)
	if err := space.Client.Create(t.Context(), minimalSet(space.Name)); err != nil {
		t.Fatal(err)
	}
	kubectl.run(t, "", "scale", "rsts/web", "--replicas=5")
	set := &v1.StatefulSet{}
	if err := space.Client.Get(t.Context(), client.ObjectKey{Namespace: space.Name, Name: "web"}, set); err != nil {
		t.Fatal(err)
	}
	if *set.Spec.Replicas != 5 {
		t.Errorf("after kubectl scale the set has %d replicas, want 5", *set.Spec.Replicas)
	}
	setStatus(t, space, set)
	wantAll(t, kubectl.run(t, "", "get", "rsts"), "NAME DESIRED UP-TO-DATE READY AVAILABLE AGE", "web 5 1 3 2")
	wantAll(t, kubectl.run(t, "", "get", "rsts", "-o", "wide"), "STRATEGY CURRENT UPDATE IMAGES", "RollingUpdate web-a web-b nginx")
	wantAll(t, kubectl.run(t, "", "get", "all"), "statefulset.apps.rollcall.dev/web")
	wantAll(t, kubectl.run(t, "", "get", "rsts", "web", "--subresource=scale", "-o", "jsonpath={.status.selector}/{.status.replicas}"), "app=web/4")
}

// setStatus plays the controller.
func setStatus(t *testing.T, space *cluster.Space, set *v1.StatefulSet) {
	t.Helper()
	set.Status = v1.StatefulSetStatus{
		Replicas: 4, ReadyReplicas: 3, AvailableReplicas: 2, UpdatedReplicas: 1,
		CurrentRevision: "web-a", UpdateRevision: "web-b", Selector: "app=web",
	}
	if err := space.Client.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
}

func TestRefusalsNameTheField(t *testing.T) {
	space := cluster.Namespace(t)
	admission.Serve(t, space, plan.AllGates())
	kubectl := newKubectl(t, space)
	manifest := `
apiVersion: apps.rollcall.dev/v1
kind: StatefulSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main}]}
`
	output, err := kubectl.try(manifest, "apply", "-f", "-")
	if err == nil {
		t.Fatalf("a container without an image was accepted:\n%s", output)
	}
	wantAll(t, output, "spec.template.spec.containers[0].image: Required value")
	if strings.Contains(output, "PodTemplate") {
		t.Errorf("the user reads about an object that they never wrote:\n%s", output)
	}
}

func TestServerSideApplyMergesContainers(t *testing.T) {
	space := cluster.Namespace(t)
	containers := func(list ...any) *unstructured.Unstructured {
		set := minimalSet(space.Name)
		setField(t, set, list, "spec", "template", "spec", "containers")
		return set
	}
	app := containers(map[string]any{"name": "main", "image": "nginx", "ports": []any{map[string]any{"containerPort": int64(80)}}})
	mesh := containers(map[string]any{"name": "mesh", "image": "envoy"})
	for manager, set := range map[string]*unstructured.Unstructured{"app": app, "mesh": mesh} {
		options := []client.ApplyOption{client.FieldOwner(manager)}
		if err := space.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(set), options...); err != nil {
			t.Fatalf("applying as %s: %v", manager, err)
		}
	}
	set := &v1.StatefulSet{}
	if err := space.Client.Get(t.Context(), client.ObjectKey{Namespace: space.Name, Name: "web"}, set); err != nil {
		t.Fatal(err)
	}
	images := map[string]string{}
	for _, container := range set.Spec.Template.Spec.Containers {
		images[container.Name] = container.Image
	}
	if len(images) != 2 || images["main"] != "nginx" || images["mesh"] != "envoy" {
		t.Errorf("containers %v, want both managers' containers", images)
	}
}
