package operator

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionListsTheGates(t *testing.T) {
	version = "v1.2.3"
	t.Cleanup(func() { version = "" })
	var out bytes.Buffer
	command := NewCommand()
	command.SetOut(&out)
	command.SetArgs([]string{"version", "--feature-gates=StatefulSetRecreateStrategy=false"})
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, table, _ := strings.Cut(out.String(), "\n\n")
	if !strings.HasPrefix(first, "rollcall v1.2.3, go") {
		t.Errorf("first line %q, want it to name the version", first)
	}
	want := `FEATURE GATE                        STAGE  STATE
MaxUnavailableStatefulSet           beta   on
StatefulSetRecreateStrategy         beta   off
EnforcedRollingUpdateInStatefulSet  beta   on
StatefulSetProgressDeadline         beta   on
`
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("table of gates (-want +got):\n%s", diff)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	inClusterNamespace = filepath.Join(t.TempDir(), "missing")
	tests := map[string]struct {
		args []string
		want string
	}{
		"unknown command":   {[]string{"controler"}, `unknown command "controler"`},
		"unknown gate":      {[]string{"webhook", "--feature-gates=Recreate=true"}, "unrecognized feature gate: Recreate"},
		"unknown flag":      {[]string{"version", "--verbose"}, "unknown flag: --verbose"},
		"stray argument":    {[]string{"version", "please"}, `unknown command "please"`},
		"kubeconfig gone":   {[]string{"webhook", "--kubeconfig=/does/not/exist"}, "finding the API server (use --kubeconfig)"},
		"no certificate":    {[]string{"webhook", "--kubeconfig=" + kubeconfigOf(t, "http://127.0.0.1:1"), "--tls-cert-file=missing"}, "or set --manage-certificate"},
		"short lifetime":    {[]string{"webhook", "--manage-certificate", "--certificate-lifetime=1s"}, "--certificate-lifetime is 1s, but must be 10s or more"},
		"no namespace":      {[]string{"webhook", "--manage-certificate"}, "set --certificate-namespace"},
		"port not a number": {[]string{"webhook", "--port=https"}, `invalid argument "https"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := NewCommand()
			command.SetArgs(test.args)
			err := command.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
