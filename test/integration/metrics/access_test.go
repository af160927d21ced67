package metrics

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/process"
)

// Metrics are served to those whom RBAC lets read them, and to nobody else.
func TestAccess(t *testing.T) {
	space := cluster.Namespace(t)
	operator := process.Start(t, space, "--metrics-secure")
	guest, scraper := tokenOf(t, space, "guest"), tokenOf(t, space, "scraper")
	thenAnswers(t, space, operator, "", http.StatusUnauthorized, "a bearer token is needed")
	thenAnswers(t, space, operator, "made-up", http.StatusUnauthorized, "the token is not valid")
	thenAnswers(t, space, operator, guest, http.StatusForbidden, "user system:serviceaccount:"+space.Name+":guest may not get /metrics")
	thenAnswers(t, space, operator, scraper, http.StatusForbidden, "may not get /metrics")
	allow(t, space, "scraper")
	thenAnswers(t, space, operator, scraper, http.StatusOK, "statefulset_strategy_distribution")
	thenAnswers(t, space, operator, guest, http.StatusForbidden, "may not get /metrics")
	if _, err := operator.Metrics(); err == nil {
		t.Error("metrics are served by plain HTTP")
	}
}

// The certificate that the flags name is the one that is served.
func TestAccessWithCertificate(t *testing.T) {
	space := cluster.Namespace(t)
	certFile, keyFile := writeCertificate(t)
	operator := process.Start(t, space, "--metrics-secure", "--metrics-tls-cert-file="+certFile, "--metrics-tls-private-key-file="+keyFile)
	space.Eventually(t, "the certificate is served", func(ctx context.Context) error {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // whose it is, is looked at
		connection, err := dialer.DialContext(ctx, "tcp", operator.MetricsAddress())
		if err != nil {
			return err
		}
		defer connection.Close()
		if served := connection.(*tls.Conn).ConnectionState().PeerCertificates[0]; served.VerifyHostname("metrics.rollcall.example") != nil {
			return fmt.Errorf("the certificate is for %v", served.DNSNames)
		}
		return nil
	})
}

// tokenOf makes a service account and returns a token of it.
func tokenOf(t *testing.T, space *cluster.Space, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: name}}
	if err := space.Client.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := space.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// allow lets a service account read metrics, by the role that is shipped for it.
func allow(t *testing.T, space *cluster.Space, account string) {
	t.Helper()
	role := readerRole(t)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: space.Name + "-" + account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: space.Name, Name: account}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := space.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// readerRole returns the last role of config/rbac/metrics.yaml.
func readerRole(t *testing.T) *rbacv1.ClusterRole {
	t.Helper()
	manifests, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "rbac", "metrics.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(manifests), "\n---\n")
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict([]byte(documents[len(documents)-1]), role); err != nil {
		t.Fatal(err)
	}
	return role
}

// thenAnswers waits until a scrape with a token is answered so. RBAC takes a moment to hold.
func thenAnswers(t *testing.T, space *cluster.Space, operator *process.Operator, token string, code int, text string) {
	t.Helper()
	space.Eventually(t, fmt.Sprintf("the answer is %d", code), func(ctx context.Context) error {
		got, body, err := scrape(ctx, operator, token)
		if err != nil {
			return err
		}
		if got != code || !strings.Contains(body, text) {
			return fmt.Errorf("it is %d: %.200s", got, body)
		}
		return nil
	})
}

// scrape asks for the metrics as Prometheus does with insecureSkipVerify.
func scrape(ctx context.Context, operator *process.Operator, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+operator.MetricsAddress()+"/metrics", nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the certificate is made up at start
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
