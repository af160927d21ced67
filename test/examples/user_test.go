package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// userName is who runs the scripts.
const userName = "rollcall:reader-of-examples"

// grant gives the user its rights, once for all tests.
var grant sync.Once

// user runs scripts with a kubeconfig of its own.
type user struct {
	kubeconfig string
	home       string
}

func newUser(t *testing.T, space *cluster.Space) user {
	t.Helper()
	grant.Do(func() { grantRights(t, space.Client) })
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData, Impersonate: userName,
	}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	home := t.TempDir()
	u := user{kubeconfig: filepath.Join(home, "kubeconfig"), home: home}
	if err := clientcmd.WriteToFile(*config, u.kubeconfig); err != nil {
		t.Fatalf("writing the user's kubeconfig: %v", err)
	}
	return u
}

// grantRights lets the user do what the scripts say they do, and nothing to pods
// but look at them.
func grantRights(t *testing.T, writer client.Client) {
	t.Helper()
	look := []string{"get", "list", "watch"}
	edit := append([]string{"create", "patch"}, look...)
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: userName},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"statefulsets"}, Verbs: edit},
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: edit},
			{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: append([]string{"create", "delete"}, look...)},
			{APIGroups: []string{""}, Resources: []string{"pods", "persistentvolumeclaims", "events"}, Verbs: look},
		},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: userName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: userName}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := writer.Create(context.Background(), object); err != nil {
			t.Fatalf("giving the user of the examples its %T: %v", object, err)
		}
	}
}

// play runs a script with more variables in its environment, and returns all it
// prints and its exit code.
func (u user) play(t *testing.T, script string, variables ...string) (string, int) {
	t.Helper()
	return u.run(t, exec.CommandContext(t.Context(), script), variables...)
}

func (u user) run(t *testing.T, command *exec.Cmd, variables ...string) (string, int) {
	t.Helper()
	command.Env = append(os.Environ(), "HOME="+u.home, "KUBECONFIG="+u.kubeconfig, "KUBECTL="+kubectl())
	command.Env = append(command.Env, variables...)
	output, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatalf("running %s: %v", command, err)
	}
	return string(output), command.ProcessState.ExitCode()
}

// TestUserMayNotDeletePods makes sure of what the other tests build on.
func TestUserMayNotDeletePods(t *testing.T) {
	t.Parallel()
	user := newUser(t, cluster.Namespace(t))
	for verb, want := range map[string]string{"get": "yes", "delete": "no", "deletecollection": "no", "patch": "no"} {
		output, _ := user.run(t, exec.CommandContext(t.Context(), kubectl(), "auth", "can-i", verb, "pods"))
		if got := strings.TrimSpace(output); got != want {
			t.Errorf("may the user %s pods? got %q, want %q", verb, got, want)
		}
	}
}

func kubectl() string { return filepath.Join(root(), "bin", "kubectl") }

// root is the folder of the repository.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
