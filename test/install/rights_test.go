package install

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// TestChartRights: with the rights that the chart gives, nothing that the operator asks for is forbidden, and without any
// of them something would be.
func TestChartRights(t *testing.T) {
	tests := map[string]struct {
		namespace string
		isNarrow  bool
	}{
		"all namespaces":  {namespace: "rollcall-system"},
		"some namespaces": {namespace: "rollcall-narrow", isNarrow: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stories := map[string]*scenario.Story{}
			var args, namespaces []string
			for tale := range tales {
				stories[tale] = scenario.PrepareUnattended(t, scenario.Rollcall)
				namespaces = append(namespaces, stories[tale].Name)
			}
			if test.isNarrow {
				args = []string{"--set=watchNamespaces={" + strings.Join(namespaces, ",") + "}"}
			}
			space := stories["Parallel"].Space
			installed := install(t, space, test.namespace, args...)
			installed.awaitDeployments()
			webhooks := installed.runWebhooks()
			installed.awaitWebhook(namespaces[0])
			controllers := installed.runControllers()
			tellAll(t, stories, controllers[0].Terminate)
			for _, replica := range append(webhooks, controllers[1]) {
				installed.scrape(replica)
			}
			installed.judge()
		})
	}
}

// runControllers starts two controllers, of which the first leads. It lists objects before it watches them, as all do
// where the API server can't stream lists (before Kubernetes 1.34); the other streams.
func (i *installation) runControllers() []replica {
	i.t.Helper()
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		i.t.Fatal(err)
	}
	begin := time.Now()
	first := i.runController()
	if err := os.Unsetenv("KUBE_FEATURE_WatchListClient"); err != nil {
		i.t.Fatal(err)
	}
	lease := &coordinationv1.Lease{}
	i.Eventually(i.t, "the first controller leads", func(ctx context.Context) error {
		if err := i.Client.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: "rollcall-controller"}, lease); err != nil {
			return err
		}
		if lease.Spec.AcquireTime.Time.Before(begin) {
			return fmt.Errorf("%s leads, of an earlier test", *lease.Spec.HolderIdentity)
		}
		return nil
	})
	return []replica{first, i.runController()}
}

// tellAll tells the tales, with a change of the leader in the midst of them.
func tellAll(t *testing.T, stories map[string]*scenario.Story, change func()) {
	t.Helper()
	for told, tale := range slices.Sorted(maps.Keys(tales)) {
		t.Log(tale)
		tales[tale](t, stories[tale])
		if told == len(tales)/2 {
			change()
		}
	}
}

// awaitDeployments waits for the pods that the cluster made of the chart, in a namespace that takes restricted ones only.
func (i *installation) awaitDeployments() {
	i.t.Helper()
	for _, name := range []string{"rollcall-controller", "rollcall-webhook"} {
		i.Eventually(i.t, "the pods of "+name+" run", func(ctx context.Context) error {
			deployment := &appsv1.Deployment{}
			if err := i.Client.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: name}, deployment); err != nil {
				return err
			}
			if ready := deployment.Status.ReadyReplicas; ready != 2 {
				return fmt.Errorf("%d of 2 are ready: %v", ready, deployment.Status.Conditions)
			}
			return nil
		})
	}
}

// awaitWebhook waits until the API server calls the webhook, with a certificate that it trusts.
func (i *installation) awaitWebhook(namespace string) {
	i.t.Helper()
	i.Eventually(i.t, "the API server calls the webhook", func(ctx context.Context) error {
		return i.isJudged(ctx, namespace)
	})
}

// isJudged is an error unless the webhook refuses what nobody else would.
func (i *installation) isJudged(ctx context.Context, namespace string) error {
	err := i.Client.Create(ctx, withoutImage(namespace), client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "denied the request") {
		return fmt.Errorf("the webhook did not judge: %w", err)
	}
	return nil
}

// withoutImage is a set that only the webhook refuses.
func withoutImage(namespace string) *v1.StatefulSet {
	labels := map[string]string{"app": "probe"}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec: v1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe"}}},
			},
		},
	}
}

// scrape reads a replica's metrics with a token that the chart's reader role lets in.
func (i *installation) scrape(r replica) {
	i.t.Helper()
	i.Eventually(i.t, "metrics are served", func(ctx context.Context) error {
		asked, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.metrics+"/metrics", nil)
		if err != nil {
			return err
		}
		asked.Header.Set("Authorization", "Bearer "+i.token("default"))
		response, err := insecure.Do(asked)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			return fmt.Errorf("%s, want it to be forbidden to who has no right", response.Status)
		}
		return nil
	})
}

// judge compares what was asked with what is allowed.
func (i *installation) judge() {
	i.t.Helper()
	requests := readAudit(i.t, i.namespace)
	for _, problem := range forbidden(requests) {
		i.t.Errorf("forbidden: %s", problem)
	}
	for _, problem := range unused(i.rights(), requests) {
		i.t.Errorf("never used: %s", problem)
	}
	i.t.Logf("%d requests judged", len(requests))
}

// ownership are rights that an admission plugin asks for on behalf of the operator, so not in the audit log.
// TestOwnershipTakesRights shows that they are needed.
var ownership = []right{
	{role: "rollcall-controller", verb: "update", group: v1.GroupVersion.Group, resource: "statefulsets/finalizers"},
	{role: "rollcall-controller", verb: "update", resource: "pods/finalizers"},
	{role: "rollcall-controller", verb: "delete", resource: "persistentvolumeclaims"},
}

// rare are rights for when the watch is late: it has not shown a claim a second after it was written, or shows no revision
// under a name that is taken. The tests of internal/observe and internal/execute make that happen; here nothing does.
var rare = []right{
	{role: "rollcall-controller", verb: "get", resource: "persistentvolumeclaims"},
	{role: "rollcall-controller", verb: "get", group: "apps", resource: "controllerrevisions"},
}

// rights are all that the service accounts of the chart have.
func (i *installation) rights() []right {
	i.t.Helper()
	var rights []right
	for _, object := range i.objects {
		if !strings.HasSuffix(object.GetKind(), "Role") || strings.HasSuffix(object.GetName(), "-viewer") ||
			strings.HasSuffix(object.GetName(), "-editor") || strings.HasSuffix(object.GetName(), "-reader") {
			continue
		}
		role := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
			i.t.Fatal(err)
		}
		rights = append(rights, rightsOf(role.Name, role.Rules)...)
	}
	return slices.DeleteFunc(rights, func(r right) bool { return slices.Contains(slices.Concat(rare, ownership), r) })
}
