package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

func TestSpellings(t *testing.T) {
	tests := map[string]struct {
		spellings spellings
		argument  string
		want      string
		wantErr   string
	}{
		"a name":                   {ours, "web", "web", ""},
		"the short name":           {ours, "rsts/web", "web", ""},
		"the kind":                 {ours, "statefulset/web", "web", ""},
		"the kind, capital":        {ours, "StatefulSet/web", "web", ""},
		"the resource":             {ours, "statefulsets/web", "web", ""},
		"in full":                  {ours, "statefulset.apps.rollcall.dev/web", "web", ""},
		"in full, with version":    {ours, "statefulsets.v1.apps.rollcall.dev/web", "web", ""},
		"the built-in one":         {ours, "statefulset.apps/web", "", "kubectl rollcall adopt web"},
		"another kind":             {ours, "deployment/web", "", "is no StatefulSet"},
		"nothing":                  {ours, "", "", "names no set"},
		"a kind and nothing":       {ours, "rsts/", "", "names no set"},
		"a path":                   {ours, "rsts/shop/web", "", "names no set"},
		"built-in, a name":         {builtIn, "web", "web", ""},
		"built-in, in full":        {builtIn, "statefulset.apps/web", "web", ""},
		"ours where theirs belong": {builtIn, "rsts/web", "", "already"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.spellings.name(test.argument)
			if got != test.want || (err == nil) != (test.wantErr == "") {
				t.Errorf("%q is %q, %v; want %q, error %q", test.argument, got, err, test.want, test.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error %q, want one with %q", err, test.wantErr)
			}
		})
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	resource := schema.GroupResource{Group: v1.GroupName, Resource: "statefulsets"}
	refused := &url.Error{Op: "Get", URL: "https://127.0.0.1:6443/api", Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
	tests := map[string]struct {
		err      error
		want     string
		wantCode int
	}{
		"ours":                     {failf("no such set: do this"), "error: no such set: do this", 1},
		"all has been said":        {ended(2), "", 2},
		"interrupted":              {fmt.Errorf("watching: %w", context.Canceled), "", 130},
		"several lines":            {errors.New("one\ntwo\n"), "error: one; two", 1},
		"no such kind":             {&meta.NoKindMatchError{GroupKind: v1.Kind.GroupKind()}, "error: this cluster does not know StatefulSets of apps.rollcall.dev: install Rollcall first, or choose another cluster with --context", 1},
		"no such resource":         {apierrors.NewGenericServerResponse(404, "get", resource, "", "", 0, false), "error: this cluster does not know StatefulSets of apps.rollcall.dev: install Rollcall first, or choose another cluster with --context", 1},
		"no kubeconfig":            {fmt.Errorf("finding the API server: %w", clientcmd.ErrEmptyConfig), "error: no cluster is configured: set KUBECONFIG, or use --kubeconfig", 1},
		"not logged in":            {apierrors.NewUnauthorized("who?"), "error: the API server does not accept your credentials: log in again, or choose another --context", 1},
		"forbidden":                {fmt.Errorf("reading: %w", apierrors.NewForbidden(resource, "web", errors.New("no"))), `error: statefulsets.apps.rollcall.dev "web" is forbidden: no: ask an administrator of the cluster for this right`, 1},
		"nobody there":             {fmt.Errorf("reading: %w", refused), "error: can't reach the API server at https://127.0.0.1:6443 (connection refused): check that the cluster runs, and --kubeconfig or --context", 1},
		"too slow":                 {fmt.Errorf("reading: %w", context.DeadlineExceeded), "error: can't reach the API server (reading: context deadline exceeded): check that the cluster runs, and --kubeconfig or --context", 1},
		"another cluster":          {&url.Error{Op: "Get", URL: "https://c:1/", Err: x509.UnknownAuthorityError{}}, "error: can't reach the API server at https://c:1 (x509: certificate signed by unknown authority): the kubeconfig may be of another cluster; check --kubeconfig and --context", 1},
		"a file that is not there": {&fs.PathError{Op: "stat", Path: "kubeconfig", Err: syscall.ENOENT}, "error: stat kubeconfig: no such file or directory", 1},
		"something unforeseen":     {errors.New("hm"), "error: hm", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, describe(test.err)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
			if got := codeOf(test.err); got != test.wantCode {
				t.Errorf("exit code %d, want %d", got, test.wantCode)
			}
		})
	}
}

func TestPodsWord(t *testing.T) {
	tests := map[string][]string{
		"-":            nil,
		"1 (0)":        {"web-0"},
		"3 (0-2)":      {"web-0", "web-1", "web-2"},
		"4 (0-1,3,10)": {"web-0", "web-1", "web-3", "web-10"},
	}
	for want, pods := range tests {
		if got := podsWord("web", pods); got != want {
			t.Errorf("%q is %q, want %q", pods, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	tests := map[string]struct{ args, want []string }{
		"the plugin":    {[]string{"/bin/kubectl-rollcall", "status", "web"}, []string{"status", "web"}},
		"the completer": {[]string{"/bin/kubectl_complete-rollcall", "status", ""}, []string{"__complete", "status", ""}},
		"on Windows":    {[]string{"kubectl_complete-rollcall.exe", "get", ""}, []string{"__complete", "get", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, arguments(test.args)); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}
