package cli

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

func TestVersion(t *testing.T) {
	if got := (&user{t: t}).must("version"); !strings.HasPrefix(got, "kubectl-rollcall ") {
		t.Errorf("the version is told as %q", got)
	}
}

// TestMistakes: bad input gives one clear line that says what to do, and a code that is not 0.
func TestMistakes(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenReady(1)
	tests := map[string]struct {
		args []string
		want string
	}{
		"unknown set":           {[]string{"status", "db"}, `there is no statefulset.apps.rollcall.dev "db"`},
		"unknown set, to undo":  {[]string{"undo", "db"}, `there is no statefulset.apps.rollcall.dev "db"`},
		"unknown revision":      {[]string{"undo", "web", "--to-revision=7"}, "has no revision 7: it has 1"},
		"unknown revision name": {[]string{"diff", "web", "web-x"}, "has no revision web-x: it has 1"},
		"no earlier revision":   {[]string{"undo", "web"}, "no earlier revision"},
		"nothing to compare":    {[]string{"diff", "web"}, "no earlier revision"},
		"wrong kind":            {[]string{"status", "deployment/web"}, "is no StatefulSet"},
		"the built-in kind":     {[]string{"pause", "statefulset.apps/web"}, "kubectl rollcall adopt web"},
		"no name":               {[]string{"restart"}, `NAME is missing: see "kubectl rollcall restart --help"`},
		"two names":             {[]string{"restart", "web", "db"}, `"db" is one argument too many`},
		"unknown verb":          {[]string{"frobnicate"}, `there is no verb "frobnicate"`},
		"misspelt verb":         {[]string{"statsu"}, "did you mean status?"},
		"unknown flag":          {[]string{"status", "web", "--fast"}, "unknown flag: --fast"},
		"unknown format":        {[]string{"history", "web", "-o", "xml"}, "-o xml is not known here"},
		"bad number":            {[]string{"promote", "web", "--pods=many"}, `invalid argument "many"`},
		"negative timeout":      {[]string{"status", "web", "--timeout=-1s"}, "can't be negative"},
		"bad dry run":           {[]string{"undo", "web", "--dry-run=maybe"}, "use none, client or server"},
		"unknown context":       {[]string{"get", "--context=moon"}, `context "moon" does not exist`},
		"no partition":          {[]string{"promote", "web"}, "nothing to promote"},
		"unknown container":     {[]string{"set-image", "web", "sidecar=x"}, "has no container sidecar: it has web"},
		"no image":              {[]string{"set-image", "web"}, "IMAGE is missing"},
		"blank image":           {[]string{"set-image", "web", "web= "}, "names no image"},
	}
	user := newUser(t, story.Space)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := user.run(test.args...)
			got.want(t, 1, test.want)
			if got.out != "" || !strings.HasPrefix(got.err, "error: ") {
				t.Errorf("output %q, error %q; want a line that begins with error:", got.out, got.err)
			}
		})
	}
}

func TestNoPermission(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenReady(1)
	mallory := newUserNamed(t, story.Space, "mallory")
	for _, args := range [][]string{{"status", "web"}, {"get"}, {"get", "-A", "-w"}, {"undo", "web"}, {"history", "web"}} {
		mallory.run(args...).want(t, 1, "error: ", `User "mallory" cannot`, "ask an administrator of the cluster for this right")
	}
}

func TestBuiltInSetOfThatName(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.BuiltIn)
	newUser(t, story.Space).run("status", "web").want(t, 1, "is a built-in StatefulSet (apps/v1)", "kubectl rollcall adopt web")
}

func TestNoAPIServer(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "https://" + listener.Addr().String()
	listener.Close()
	user := newUser(t, space)
	user.Wrap = func(config *rest.Config) *rest.Config {
		config.Host = nobody
		return config
	}
	for _, args := range [][]string{{"status", "web"}, {"get", "-w"}, {"pause", "web"}} {
		user.run(args...).want(t, 1, "can't reach the API server at "+nobody+" (connection refused)", "check that the cluster runs")
	}
}

// TestAsKubectlPlugin: kubectl finds the plugin, passes codes on, and has its command lines completed.
func TestAsKubectlPlugin(t *testing.T) {
	t.Parallel()
	kubectl, err := filepath.Abs(filepath.Join("..", "..", "bin", "kubectl"))
	if err != nil {
		t.Fatal(err)
	}
	story := scenario.Given(t, scenario.Rollcall)
	story.ThenReady(1)
	user := newUser(t, story.Space)
	folder := t.TempDir()
	for _, name := range []string{"kubectl-rollcall", "kubectl_complete-rollcall"} {
		if err := os.Symlink(os.Args[0], filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"a verb":              {[]string{"rollcall", "status", "web"}, 0, "web is rolled out"},
		"a failure":           {[]string{"rollcall", "status", "db"}, 1, "error: there is no"},
		"complete verbs":      {[]string{"__complete", "rollcall", "pro"}, 0, "promote"},
		"complete sets":       {[]string{"__complete", "rollcall", "status", ""}, 0, "web"},
		"complete revisions":  {[]string{"__complete", "rollcall", "undo", "web", "--to-revision", ""}, 0, "1\n"},
		"complete formats":    {[]string{"__complete", "rollcall", "get", "-o", ""}, 0, "wide"},
		"complete namespaces": {[]string{"__complete", "rollcall", "get", "-n", ""}, 0, story.Name},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			command := exec.CommandContext(t.Context(), kubectl, test.args...)
			command.Env = append(os.Environ(), asPlugin+"=1", "KUBECONFIG="+user.kubeconfig, "PATH="+folder+":"+os.Getenv("PATH"))
			command.Stdout, command.Stderr = &out, &out
			err := command.Run()
			if command.ProcessState.ExitCode() != test.code || !strings.Contains(out.String(), test.want) {
				t.Errorf("code %d (%v), want %d, and %q in\n%s", command.ProcessState.ExitCode(), err, test.code, test.want, &out)
			}
		})
	}
}
