package operator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags that can't work are refused at once, with what to do about it.
func TestControllerRefuses(t *testing.T) {
	inClusterNamespace = filepath.Join(t.TempDir(), "missing")
	tests := map[string]struct {
		args []string
		want string
	}{
		"no workers":                         {[]string{"--leader-elect=false", "--concurrent-syncs=0"}, "--concurrent-syncs is 0, but must be 1 or more"},
		"an election with no place":          {[]string{"--leader-elect"}, "set --leader-elect-namespace, or --leader-elect=false"},
		"an unknown gate":                    {[]string{"--feature-gates=Recreate=true"}, "unrecognized feature gate: Recreate"},
		"arguments":                          {[]string{"web"}, "unknown command"},
		"a kubeconfig that is not there":     {[]string{"--leader-elect=false", "--kubeconfig=missing"}, "use --kubeconfig"},
		"a cluster that has not got the CRD": {[]string{"--leader-elect=false", "--kubeconfig=" + kubeconfigOf(t, withoutCRD(t))}, "install the CRD first"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := NewCommand()
			command.SetArgs(append([]string{"controller", "--metrics-bind-address=0", "--health-probe-bind-address=0"}, test.args...))
			command.SetOut(io.Discard)
			command.SetErr(io.Discard)
			err := command.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// withoutCRD is an API server that serves no group but the core one.
func withoutCRD(t *testing.T) string {
	t.Helper()
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","namespaced":true,"kind":"Pod","verbs":["list"]},{"name":"persistentvolumeclaims","namespaced":true,"kind":"PersistentVolumeClaim","verbs":["list"]}]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		answer, ok := answers[request.URL.Path]
		if !ok {
			http.NotFound(response, request)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(response, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	const name = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: server}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
