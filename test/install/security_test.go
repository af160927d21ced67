package install

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// TestRolesForPeople: a viewer reads and writes nothing; an editor writes sets, and neither touches pods.
func TestRolesForPeople(t *testing.T) {
	space := cluster.Namespace(t)
	install(t, space, "rollcall-system")
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "web"}, Spec: withoutImage(space.Name).Spec}
	set.Spec.Template.Spec.Containers[0].Image = "web:1"
	viewer, editor := userOf(t, space, "rollcall-viewer"), userOf(t, space, "rollcall-editor")
	ctx := t.Context()

	wantForbidden(t, "a viewer creates a set", viewer.Create(ctx, set.DeepCopy()))
	if err := editor.Create(ctx, set); err != nil {
		t.Fatalf("an editor creates a set: %v", err)
	}
	if err := viewer.Get(ctx, client.ObjectKeyFromObject(set), &v1.StatefulSet{}); err != nil {
		t.Errorf("a viewer reads a set: %v", err)
	}
	wantForbidden(t, "a viewer updates a set", viewer.Update(ctx, set.DeepCopy()))
	wantForbidden(t, "a viewer patches a set", viewer.Patch(ctx, set.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))))
	wantForbidden(t, "a viewer writes a status", viewer.Status().Update(ctx, set.DeepCopy()))
	wantForbidden(t, "a viewer scales a set", viewer.SubResource("scale").Patch(ctx, set.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))))
	wantForbidden(t, "a viewer deletes a set", viewer.Delete(ctx, set.DeepCopy()))
	wantForbidden(t, "an editor writes a status", editor.Status().Update(ctx, set.DeepCopy()))
	for who, user := range map[string]client.Client{"a viewer": viewer, "an editor": editor} {
		wantForbidden(t, who+" lists pods", user.List(ctx, &corev1.PodList{}, client.InNamespace(space.Name)))
		wantForbidden(t, who+" lists secrets", user.List(ctx, &corev1.SecretList{}, client.InNamespace(space.Name)))
	}
	if err := editor.SubResource("scale").Patch(ctx, set.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))); err != nil {
		t.Errorf("an editor scales a set: %v", err)
	}
	if err := editor.Delete(ctx, set); err != nil {
		t.Errorf("an editor deletes a set: %v", err)
	}
}

func wantForbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: error %v, want it forbidden", what, err)
	}
}

// TestNobodyIsMadeEditorUnasked: those who may edit a namespace may not create sets in it, unless it is asked for.
func TestNobodyIsMadeEditorUnasked(t *testing.T) {
	tests := map[string]bool{"false": false, "true": true}
	for aggregate, want := range tests {
		t.Run("aggregate="+aggregate, func(t *testing.T) {
			for _, object := range parse(t, render(t, "rollcall-system", "--set=userRoles.aggregate="+aggregate)) {
				isRole := object.GetName() == "rollcall-editor" || object.GetName() == "rollcall-viewer"
				if got := strings.Contains(fmt.Sprint(object.GetLabels()), "aggregate-to-"); got != (want && isRole) {
					t.Errorf("%s %s is aggregated: %t, want %t", object.GetKind(), object.GetName(), got, want && isRole)
				}
			}
		})
	}
}

// seconds are more than it takes on a busy machine; on an idle one it is less than one.
const seconds = 20 * time.Second

// TestDeniedPodIsVisible: where PodSecurity refuses a pod, the set's conditions say so within seconds, and why.
func TestDeniedPodIsVisible(t *testing.T) {
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: story.Name}}
	enforce := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
	if err := story.Client.Patch(story.Context, namespace, enforce); err != nil {
		t.Fatal(err)
	}
	installed := install(t, story.Space, "rollcall-system")
	installed.awaitReady(installed.run("rollcall-controller", "--leader-elect=false"))
	story.Create(scenario.Replicas(1))
	story.ThenCondition(v1.ConditionReplicaFailure, "True "+v1.ReasonFailedCreate, "violates PodSecurity", "restricted:latest")
	set := story.Set()
	for _, condition := range set.Status.Conditions {
		if took := condition.LastTransitionTime.Sub(set.CreationTimestamp.Time); condition.Type == v1.ConditionReplicaFailure && took > seconds {
			t.Errorf("visible after %s, want it within %s", took, seconds)
		}
	}
	story.When(restricted)
	story.ThenUpdated(1)
	story.Then("the condition is gone", func(set *v1.StatefulSet) error {
		if meta.IsStatusConditionTrue(set.Status.Conditions, v1.ConditionReplicaFailure) {
			return errors.New("it is there")
		}
		return nil
	})
}

// restricted makes a template that every namespace takes.
func restricted(set *v1.StatefulSet) {
	set.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	set.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
