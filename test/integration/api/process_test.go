package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-dev/rollcall/internal/operator"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// TestWebhookProcess runs `rollcall webhook` as it is shipped: flags, rights, certificate files, health, metrics, and a
// graceful end.
func TestWebhookProcess(t *testing.T) {
	space := cluster.Namespace(t)
	certificate := newCertificate(t)
	bundle := certificate.issue(t, 1)
	ports := freePorts(t, 3)
	stop, ended := startWebhook(t, webhookKubeconfig(t, space), certificate, ports)

	probes := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	space.Eventually(t, "the webhook is ready", func(ctx context.Context) error { return expect(ctx, probes+"/readyz", "ok") })
	if err := expect(t.Context(), probes+"/healthz", "ok"); err != nil {
		t.Error(err)
	}
	metrics := fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[2])
	if err := expect(t.Context(), metrics, `rollcall_feature_enabled{name="StatefulSetRecreateStrategy",stage="BETA"} 0`); err != nil {
		t.Error(err)
	}

	admission.Install(t, space, fmt.Sprintf("https://127.0.0.1:%d", ports[0]), bundle)
	play(t, space, minimalSet(space.Name), 0, step{strategy: recreate, refused: typeField})

	certificate.issue(t, 2)
	space.Eventually(t, "the new certificate is served", func(context.Context) error { return servesSerial(ports[0], 2) })

	stop()
	if err := <-ended; err != nil {
		t.Errorf("the webhook ended with %v, want a graceful end", err)
	}
	// With the process gone, failurePolicy Ignore lets everything pass.
	play(t, space, minimalSet(space.Name), 1, step{strategy: recreate, stored: recreate})
}

// webhookKubeconfig acts as the webhook's service account with the rights that we ship, and no others.
func webhookKubeconfig(t *testing.T, space *cluster.Space) string {
	t.Helper()
	kubectl := newKubectl(t, space)
	kubectl.run(t, "", "create", "namespace", "rollcall-system")
	kubectl.run(t, "", "apply", "-f", filepath.Join(root(), "config", "rbac", "webhook.yaml"))
	config, err := clientcmd.LoadFromFile(kubectl.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos["test"].Impersonate = "system:serviceaccount:rollcall-system:rollcall-webhook"
	if err := clientcmd.WriteToFile(*config, kubectl.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return kubectl.kubeconfig
}

func startWebhook(t *testing.T, kubeconfig string, certificate *certificate, ports []int) (stop func(), ended <-chan error) {
	t.Helper()
	command := operator.NewCommand()
	command.SetArgs([]string{
		"webhook", "--zap-log-level=error", "--kubeconfig=" + kubeconfig, "--feature-gates=StatefulSetRecreateStrategy=false",
		"--bind-host=127.0.0.1", fmt.Sprintf("--port=%d", ports[0]),
		"--tls-cert-file=" + certificate.certFile, "--tls-private-key-file=" + certificate.keyFile,
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[2]), "--metrics-secure=false",
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- command.ExecuteContext(ctx) }()
	return cancel, done
}

// expect asks for a page and fails unless it contains the text.
func expect(ctx context.Context, url, text string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && !strings.Contains(string(body), text) {
		err = fmt.Errorf("%s answers without %q (status %s)", url, text, response.Status)
	}
	return err
}

func servesSerial(port int, want int64) error {
	connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // only the serial number is of interest
	if err != nil {
		return err
	}
	defer connection.Close()
	if got := connection.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != want {
		return fmt.Errorf("certificate %d is served, want %d", got, want)
	}
	return nil
}

// freePorts are ports that nobody listened at a moment ago.
func freePorts(t *testing.T, count int) []int {
	t.Helper()
	var ports []int
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// certificate is a pair of files with a self-signed certificate for 127.0.0.1, issued again under the same key.
type certificate struct {
	key               *ecdsa.PrivateKey
	certFile, keyFile string
}

func newCertificate(t *testing.T) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &certificate{key: key, certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key")}
}

// issue writes a certificate with the serial number and returns it in PEM form.
func (c *certificate) issue(t *testing.T, serial int64) []byte {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: "rollcall"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, c.key.Public(), c.key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	replaceFile(t, c.keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	replaceFile(t, c.certFile, encoded)
	return encoded
}

// replaceFile puts new content in place at once, as Kubernetes does with mounted secrets.
func replaceFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}
