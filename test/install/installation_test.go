package install

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/process"
)

// installation is the chart, applied to the control plane.
type installation struct {
	*cluster.Space
	t         testing.TB
	namespace string
	objects   []*unstructured.Unstructured
}

// install applies the rendered chart as docs/install.md says, and removes all but CRD and namespace with the test.
func install(t testing.TB, space *cluster.Space, namespace string, args ...string) *installation {
	t.Helper()
	manifests := render(t, namespace, append([]string{"--set=createNamespace=true"}, args...)...)
	kubectl(t, space, manifests, "apply", "--server-side", "--filename=-")
	t.Cleanup(func() {
		kubectl(t, space, render(t, namespace, append([]string{"--set=crds.install=false"}, args...)...), "delete", "--wait=false", "--filename=-")
	})
	return &installation{Space: space, t: t, namespace: namespace, objects: parse(t, manifests)}
}

// kubectl runs kubectl as administrator.
func kubectl(t testing.TB, space *cluster.Space, input string, args ...string) string {
	t.Helper()
	admin := clientcmdapi.AuthInfo{ClientCertificateData: space.Config.CertData, ClientKeyData: space.Config.KeyData}
	command := exec.Command(filepath.Join(root(), "bin", "kubectl"), append([]string{"--kubeconfig=" + writeKubeconfig(t, space, admin)}, args...)...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func writeKubeconfig(t testing.TB, space *cluster.Space, user clientcmdapi.AuthInfo) string {
	t.Helper()
	const name = "test"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: space.Config.Host, CertificateAuthorityData: space.Config.CAData}
	config.AuthInfos[name] = &user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	file, err := os.CreateTemp(t.TempDir(), "kubeconfig-")
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = clientcmd.WriteToFile(*config, file.Name())
	}
	if err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return file.Name()
}

// token is one of a service account, as its pods get it.
func (i *installation) token(account string) string {
	i.t.Helper()
	request := &authenticationv1.TokenRequest{}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: account}}
	if err := i.Client.SubResource("token").Create(i.Context, owner, request); err != nil {
		i.t.Fatalf("requesting a token of %s: %v", account, err)
	}
	return request.Status.Token
}

// args are those of a Deployment's container.
func (i *installation) args(deployment string) []string {
	i.t.Helper()
	return find[appsv1.Deployment](i.t, i.objects, "Deployment", deployment).Spec.Template.Spec.Containers[0].Args
}

// replica is one of the processes of a Deployment, and where it listens.
type replica struct {
	*process.Operator
	metrics, probes, hook string
}

// run starts a process with the arguments of a Deployment and the token of its service account. What is added are
// addresses, which are the pod's own in a cluster.
func (i *installation) run(deployment string, more ...string) replica {
	i.t.Helper()
	r := replica{metrics: process.FreeAddress(i.t), probes: process.FreeAddress(i.t)}
	token := clientcmdapi.AuthInfo{Token: i.token(deployment)}
	args := append(i.args(deployment)[:len(i.args(deployment)):len(i.args(deployment))],
		"--kubeconfig="+writeKubeconfig(i.t, i.Space, token), "--metrics-bind-address="+r.metrics, "--health-probe-bind-address="+r.probes)
	r.Operator = process.Run(i.t, append(args, more...)...)
	return r
}

// runController starts a replica of the controller.
func (i *installation) runController() replica {
	i.t.Helper()
	return i.run("rollcall-controller", "--leader-elect-namespace="+i.namespace)
}

// runWebhooks starts two replicas of the webhook, behind one address as a Service would give them.
func (i *installation) runWebhooks() []replica {
	i.t.Helper()
	var replicas []replica
	for range 2 {
		address := process.FreeAddress(i.t)
		host, port, _ := net.SplitHostPort(address)
		r := i.run("rollcall-webhook", "--bind-host="+host, "--port="+port,
			"--certificate-namespace="+i.namespace, "--certificate-hosts="+host)
		r.hook = address
		replicas = append(replicas, r)
	}
	i.redirect("https://" + forward(i.t, replicas[0].hook, replicas[1].hook))
	for _, r := range replicas {
		i.awaitReady(r)
	}
	return replicas
}

// awaitReady waits as a readiness probe does.
func (i *installation) awaitReady(r replica) {
	i.t.Helper()
	i.Eventually(i.t, "the process is ready", func(ctx context.Context) error {
		asked, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.probes+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(asked)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", response.Status)
		}
		return nil
	})
}

// redirect leads the configurations to an address, because there is no network for Services.
func (i *installation) redirect(url string) {
	i.t.Helper()
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "rollcall"}}
	i.edit(mutating, func() { lead(&mutating.Webhooks[0].ClientConfig, url) })
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "rollcall"}}
	i.edit(validating, func() { lead(&validating.Webhooks[0].ClientConfig, url) })
}

func lead(config *admissionv1.WebhookClientConfig, url string) {
	target := url + *config.Service.Path
	config.URL, config.Service = &target, nil
}

// edit changes an object that others write to as well.
func (i *installation) edit(object client.Object, change func()) {
	i.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := i.Client.Get(i.Context, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return i.Client.Update(i.Context, object)
	})
	if err != nil {
		i.t.Fatalf("editing %T %s: %v", object, object.GetName(), err)
	}
}

// forward gives connections to the backends in turn, as a Service does, and returns its address.
func forward(t testing.TB, backends ...string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var turn atomic.Int64
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go connect(from, backends[int(turn.Add(1))%len(backends)])
		}
	}()
	return listener.Addr().String()
}

func connect(from net.Conn, backend string) {
	defer from.Close()
	to, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}
