package install

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

// TestCertificatesRotateUnderLoad: two replicas serve certificates that live for 30 seconds. While they are renewed
// twice, every request is judged: the API server never fails to call the webhook.
func TestCertificatesRotateUnderLoad(t *testing.T) {
	space := cluster.Namespace(t)
	installed := install(t, space, "rollcall-system", "--set=webhook.certificate.lifetime=30s")
	webhooks := installed.runWebhooks()
	installed.awaitWebhook(space.Name)
	before := installed.failedCalls()

	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	requests := make([]int, 4)
	for i := range requests {
		load.Go(func() { requests[i] = installed.ask(ctx) })
	}
	served := installed.awaitRenewals(webhooks, 3)
	cancel()
	load.Wait()

	if failed := installed.failedCalls() - before; failed != 0 {
		t.Errorf("the API server could not call the webhook %d times", failed)
	}
	t.Logf("%v requests judged, %d certificates", requests, len(served))
}

// ask has sets judged until the context ends, and returns how many.
func (i *installation) ask(ctx context.Context) int {
	for n := 0; ; n++ {
		err := i.isJudged(ctx, i.Name)
		if ctx.Err() != nil {
			return n
		}
		if err != nil {
			i.t.Errorf("request %d: %v", n, err)
			return n
		}
	}
}

// awaitRenewals waits until both replicas have served so many certificates. Meanwhile every connection to any of them
// must succeed with what the configurations say is to be trusted: here no connection is used twice.
func (i *installation) awaitRenewals(webhooks []replica, want int) map[string]bool {
	i.t.Helper()
	served := make([]map[string]bool, len(webhooks))
	i.Eventually(i.t, fmt.Sprintf("%d certificates were served", want), func(ctx context.Context) error {
		fewest := want
		for n, webhook := range webhooks {
			if served[n] == nil {
				served[n] = map[string]bool{}
			}
			if serial := i.handshake(ctx, webhook.hook); serial != "" {
				served[n][serial] = true
			}
			fewest = min(fewest, len(served[n]))
		}
		if fewest < want {
			return fmt.Errorf("%d were", fewest)
		}
		return nil
	})
	return served[0]
}

// handshake connects to a replica as the API server would and returns the serial number of its certificate.
func (i *installation) handshake(ctx context.Context, address string) string {
	i.t.Helper()
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	if err := i.Client.Get(ctx, client.ObjectKey{Name: "rollcall"}, configuration); err != nil {
		if ctx.Err() == nil {
			i.t.Fatal(err)
		}
		return ""
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		i.t.Errorf("%s: a connection to %s is refused: %v", time.Now().Format(time.TimeOnly), address, err)
		return ""
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// failedCalls is how often the API server could not call our webhooks and let a request pass.
func (i *installation) failedCalls() int {
	i.t.Helper()
	clientset, err := kubernetes.NewForConfig(i.Config)
	if err != nil {
		i.t.Fatal(err)
	}
	metrics, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(i.Context)
	if err != nil {
		i.t.Fatalf("reading the API server's metrics: %v", err)
	}
	total := 0
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, "apiserver_admission_webhook_fail_open_count{") && strings.Contains(line, "apps.rollcall.dev") {
			count, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndex(line, " "):]))
			if err != nil {
				i.t.Fatal(err)
			}
			total += count
		}
	}
	return total
}
