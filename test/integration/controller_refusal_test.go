package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Pods that PodSecurity does not admit are told of in the set's conditions and in an event. Once they are admitted, the
// set comes up without anybody's help. A scale-down goes on meanwhile.
func TestPodSecurityRefusesPods(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(2), scenario.Parallel())
	enforce := func(level string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%s}}}`, level)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: story.Name}}
		if err := story.Client.Patch(story.Context, namespace, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	enforce(`"restricted"`)
	story.Scale(4)
	story.Then("the set says what PodSecurity has against it", isRefused("violates PodSecurity"))
	story.ThenEvent("FailedCreate", "violates PodSecurity")

	story.Scale(1)
	story.ThenPods("web-0 r1")

	story.Scale(2)
	story.Then("the set says so again", isRefused("violates PodSecurity"))
	enforce("null")
	story.ThenReady(2)
}

// What an admission policy or webhook denies is told with its own words.
func TestAdmissionDeniesPods(t *testing.T) {
	t.Parallel()
	const complaint = "pods need a ticket"
	story := scenario.Prepare(t, scenario.Rollcall)
	policy, binding := denyPods(story.Name, complaint)
	for _, object := range []client.Object{policy, binding} {
		if err := story.Client.Create(story.Context, object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = story.Client.Delete(context.Background(), object) })
	}
	story.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		err := story.Client.Create(ctx, newPod(story.Space, "probe"), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), complaint) {
			return fmt.Errorf("creating a pod: %w", err)
		}
		return nil
	})

	story.Create(scenario.Replicas(1))
	story.Then("the set passes the complaint on", isRefused(complaint))
	if err := story.Client.Delete(story.Context, binding); err != nil {
		t.Fatal(err)
	}
	story.ThenReady(1)
}

// isRefused tells whether the set says, in the conditions that people and tools look at, why it can't create pods.
func isRefused(why string) func(*v1.StatefulSet) error {
	return func(set *v1.StatefulSet) error {
		for _, kind := range []string{v1.ConditionReplicaFailure, v1.ConditionStalled} {
			found := meta.FindStatusCondition(set.Status.Conditions, kind)
			if found == nil || found.Status != metav1.ConditionTrue || !strings.Contains(found.Message, why) {
				return fmt.Errorf("condition %s is %+v", kind, found)
			}
		}
		return nil
	}
}

// denyPods is a policy that admits no pod to a namespace.
func denyPods(namespace, complaint string) (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {
	create := admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{create}},
			Validations:      []admissionv1.Validation{{Expression: "false", Message: complaint}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        namespace,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
			}},
		},
	}
	return policy, binding
}
