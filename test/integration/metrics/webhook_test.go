package metrics

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	certutil "k8s.io/client-go/util/cert"

	rollcall "github.com/rollcall-dev/rollcall/internal/operator"
)

// startWebhook runs a webhook in this process, which nobody calls, and returns where it serves its metrics.
func startWebhook(t *testing.T) (metrics string) {
	t.Helper()
	certFile, keyFile := writeCertificate(t)
	listen, metrics := freeAddress(t), freeAddress(t)
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		t.Fatal(err)
	}
	command := rollcall.NewCommand()
	command.SetArgs([]string{
		"webhook", "--zap-log-level=error", "--kubeconfig=" + unusedKubeconfig(t), "--bind-host=" + host, "--port=" + port,
		"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile,
		"--health-probe-bind-address=0", "--metrics-bind-address=" + metrics, "--metrics-secure=false",
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the webhook ended: %v", err)
		}
	})
	return metrics
}

// writeCertificate makes a certificate and returns the files that it and its key are in.
func writeCertificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKey("metrics.rollcall.example", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	for file, content := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// unusedKubeconfig leads nowhere: a webhook that nobody calls asks nobody.
func unusedKubeconfig(t *testing.T) string {
	t.Helper()
	const config = `
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
`
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.TrimSpace(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// freeAddress is one at which nobody listened a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
