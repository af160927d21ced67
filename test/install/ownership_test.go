package install

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// TestOwnershipTakesRights: without one of the rights that no request asks for by itself, owning would be refused on
// clusters that guard owner references.
func TestOwnershipTakesRights(t *testing.T) {
	space := cluster.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "default"}} // for pods
	if err := space.Client.Create(t.Context(), account); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	role := find[rbacv1.ClusterRole](t, parse(t, render(t, "rollcall-system")), "ClusterRole", "rollcall-controller")
	for _, missing := range append([]right{{}}, ownership...) {
		t.Run("without "+missing.resource, func(t *testing.T) {
			user := userWith(t, space, without(role.Rules, missing))
			err := own(t, space, user)
			if missing.resource == "" && err != nil {
				t.Errorf("with all rights: %v", err)
			}
			if missing.resource != "" && (err == nil || !strings.Contains(err.Error(), "cannot set")) {
				t.Errorf("without the right to %s: error %v, want it refused to set an owner", missing, err)
			}
		})
	}
}

// without drops one right from the rules that give it.
func without(rules []rbacv1.PolicyRule, missing right) []rbacv1.PolicyRule {
	var left []rbacv1.PolicyRule
	for _, rule := range rules {
		if slices.Contains(rule.Resources, missing.resource) && slices.Contains(rule.APIGroups, missing.group) {
			rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == missing.verb })
		}
		if len(rule.Verbs) > 0 {
			left = append(left, rule)
		}
	}
	return left
}

// userWith is a client of somebody who may do what the rules say.
func userWith(t testing.TB, space *cluster.Space, rules []rbacv1.PolicyRule) client.Client {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Rules: rules}
	if err := space.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	return userOf(t, space, role.Name)
}

// userOf is a client of somebody who has a role in the cluster, and is named after it.
func userOf(t testing.TB, space *cluster.Space, role string) client.Client {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role}},
	}
	if err := space.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(space.Config)
	config.Impersonate.UserName = role
	user, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	awaitRole(t, space, user)
	return user
}

// awaitRole waits until the authorizer knows the binding.
func awaitRole(t testing.TB, space *cluster.Space, user client.Client) {
	t.Helper()
	space.Eventually(t, "the role is in force", func(ctx context.Context) error {
		return user.List(ctx, &v1.StatefulSetList{}, client.InNamespace(space.Name))
	})
}

// own has a set own a pod, and the pod a claim, as the retention policy does.
func own(t testing.TB, space *cluster.Space, user client.Client) error {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: "web-0", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1.GroupVersion.String(), Kind: "StatefulSet", Name: "web", UID: "1", Controller: new(true), BlockOwnerDeletion: new(true),
		}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}
	if err := user.Create(t.Context(), pod, client.DryRunAll); err != nil {
		return err
	}
	claim := newClaim(space.Name)
	if err := space.Client.Create(t.Context(), claim); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	owned := claim.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "Pod", Name: "web-0", UID: "1", Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	return user.Patch(t.Context(), owned, client.MergeFrom(claim), client.DryRunAll)
}

func newClaim(namespace string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data-web-0"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}
