package cli

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/view"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// rolledOut waits until a roll-out is complete.
func (u *user) rolledOut() {
	u.t.Helper()
	u.must("status", "web")
}

var (
	hash = regexp.MustCompile(`web-[bcdf-hj-np-tv-xz2456789]{6,}`)
	ages = regexp.MustCompile(`\b\d+m?\d*s\b`)
	gaps = regexp.MustCompile(` {2,}`)
)

// plainly leaves out of an output what differs from run to run.
func plainly(output string) string {
	return gaps.ReplaceAllString(ages.ReplaceAllString(hash.ReplaceAllString(output, "web-HASH"), "AGE"), "  ")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2))
	user := newUser(t, story.Space)
	user.rolledOut()
	user.must("set-image", "web", "web:2", "--cause=faster startup")
	user.rolledOut()
	want := `REVISION  NAME  STATE  AGE  PODS  IMAGES  CHANGE-CAUSE
1  web-HASH  -  AGE  -  web:1  <none>
2  web-HASH  rolled out  AGE  2 (0-1)  web:2  faster startup
`
	if diff := cmp.Diff(want, plainly(user.must("history", "web"))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var entries []view.Revision
	if err := yaml.Unmarshal([]byte(user.must("history", "web", "-o", "yaml")), &entries); err != nil || len(entries) != 2 || entries[1].Cause != "faster startup" {
		t.Errorf("history in YAML is %+v (%v)", entries, err)
	}
	user.run("history", "web", "--revision=1").want(t, 0, "State:         -", "Change-Cause:  <none>", "  - image: web:1")
	user.run("history", "web", "--revision=2", "-o", "json").want(t, 0, `"image": "web:2"`, `"changeCause": "faster startup"`)
	user.run("history", "web", "--revision=3").want(t, 1, "has no revision 3: it has 1, 2")
}

func TestDiff(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	user := newUser(t, story.Space)
	user.rolledOut()
	user.must("set-image", "web", "web=web:2")
	user.rolledOut()
	want := `--- revision 1 (web-HASH)
+++ spec.template
@@ -3,6 +3,6 @@
  app: web
 spec:
  containers:
-  - image: web:1
+  - image: web:2
  name: web
  resources: {}
`
	if diff := cmp.Diff(want, plainly(user.must("diff", "web"))); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
	user.run("diff", "web", "2", "1").want(t, 0, "--- revision 2", "+++ revision 1", "-  - image: web:2")
	user.run("diff", "web", "2").want(t, 0, "revision 2", "and spec.template are the same")
	user.Screen.HasColor = true
	user.run("diff", "web").want(t, 0, "\x1b[32m+  - image: web:2\x1b[0m")
}

func TestUndo(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Parallel(), scenario.Replicas(2))
	user := newUser(t, story.Space)
	user.rolledOut()
	for _, image := range []string{"web:2", "web:3-image-pull-backoff", "web:4-image-pull-backoff"} {
		user.must("set-image", "web", image)
		user.run("status", "web", "--timeout=1s")
	}
	user.run("undo", "web", "--dry-run").want(t, 0, "+  - image: web:2", "rolled back to revision 2", "(client dry run)")
	user.run("undo", "web", "--dry-run=server").want(t, 0, "(server dry run)")
	if image := story.Set().Spec.Template.Spec.Containers[0].Image; image != "web:4-image-pull-backoff" {
		t.Errorf("a dry run sets the image %s", image)
	}
	// Not to revision 3, which never worked: to the one that was last rolled out completely.
	user.run("undo", "web").want(t, 0, "statefulset.apps.rollcall.dev/web rolled back to revision 2 (web-")
	user.rolledOut()
	user.run("undo", "web", "--to-revision=5").want(t, 0, "is at the template of revision 5")
	user.must("undo", "web", "--to-revision=1")
	user.rolledOut()
	if image := story.Pod(1).Spec.Containers[0].Image; image != "web:1" {
		t.Errorf("after an undo to revision 1 the pods run %s", image)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	user := newUser(t, story.Space)
	user.rolledOut()
	before := story.Pod(0).UID
	user.run("restart", "web").want(t, 0, "statefulset.apps.rollcall.dev/web restarted")
	user.rolledOut()
	if story.Pod(0).UID == before {
		t.Error("the pod was not replaced")
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	user := newUser(t, story.Space)
	user.rolledOut()
	user.run("pause", "web").want(t, 0, "web paused\n")
	user.run("pause", "web").want(t, 0, "web paused already\n")
	user.run("set-image", "web", "web:2").want(t, 0, "image updated; it is paused, so nothing happens until \"kubectl rollcall resume web\"")
	user.run("status", "web").want(t, 1, "web is paused")
	user.run("resume", "web").want(t, 0, "web resumed\n")
	user.rolledOut()
	if image := story.Pod(0).Spec.Containers[0].Image; image != "web:2" {
		t.Errorf("the pod runs %s", image)
	}
}

func TestPromote(t *testing.T) {
	t.Parallel()
	for _, strategy := range []v1.UpdateStrategyType{v1.RollingUpdateStrategy, v1.EnforcedRollingUpdateStrategy} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			story := scenario.Given(t, scenario.Rollcall, scenario.Parallel(), scenario.Replicas(5), scenario.Start(10),
				scenario.Strategy(strategy), scenario.Partition(9), scenario.MaxUnavailable("5"))
			user := newUser(t, story.Space)
			user.must("status", "web")
			user.run("promote", "web").want(t, 1, "has no update to promote: all pods are at revision 1")
			user.must("set-image", "web", "web:2")
			user.run("status", "web").want(t, 0, "0 of 5 pods are at revision 2")
			user.run("promote", "web", "--to=10", "--full").want(t, 1, "choose one of them")
			user.run("promote", "web", "--to=4").want(t, 1, "--to=4 is no ordinal of statefulset.apps.rollcall.dev/web: it has 10 to 14")
			user.run("promote", "web", "--pods=0").want(t, 1, "must be 1 or more")
			user.run("promote", "web", "--dry-run").want(t, 0, "1 of 5 pods get revision 2", "(client dry run)")
			user.run("promote", "web").want(t, 0, "promoted: 1 of 5 pods get revision 2", "from ordinal 14 up")
			user.run("status", "web").want(t, 0, "1 of 5 pods are at revision 2")
			user.run("promote", "web", "--to=14").want(t, 1, "promotes nobody: pods from ordinal 14 up are reached already")
			user.run("promote", "web", "--pods=2").want(t, 0, "3 of 5 pods get revision 2")
			user.run("status", "web").want(t, 0, "3 of 5 pods are at revision 2")
			user.run("promote", "web", "--to=11").want(t, 0, "4 of 5 pods get revision 2")
			user.run("status", "web").want(t, 0, "4 of 5 pods are at revision 2")
			user.run("promote", "web", "--full").want(t, 0, "all 5 pods get revision 2")
			user.rolledOut()
			user.run("promote", "web").want(t, 1, "nothing to promote")
		})
	}
}

// TestPromoteSparesABrokenCanary: more pods are broken only by force.
func TestPromoteSparesABrokenCanary(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.Partition(1))
	user := newUser(t, story.Space)
	user.must("status", "web")
	user.must("set-image", "web", "web:2-crash-loop")
	user.run("status", "web").want(t, 1, "web is stuck")
	user.run("promote", "web").want(t, 1, "is not promoted: pod web-1", "--force")
	user.run("promote", "web", "--force").want(t, 0, "all 2 pods get revision 2")
}

// TestLostUpdate: what somebody else changes between our reading and writing is not overwritten.
func TestLostUpdate(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall)
	user := newUser(t, story.Space)
	user.rolledOut()
	user.must("set-image", "web", "web:2")
	user.rolledOut()
	var once sync.Once
	user.Wrap = func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if request.Method == http.MethodPatch {
					once.Do(func() { story.When(scenario.Image("web:3")) })
				}
				return next.RoundTrip(request)
			})
		})
		return config
	}
	user.run("undo", "web").want(t, 1, "was changed by somebody else at the same time", "repeat the command")
	if image := story.Set().Spec.Template.Spec.Containers[0].Image; image != "web:3" {
		t.Errorf("the image is %s: somebody's change is lost", image)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// TestHelp: every verb explains itself, with an example.
func TestHelp(t *testing.T) {
	user := &user{t: t}
	for line := range strings.Lines(user.must("--help")) {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(line, "  ") || verb == "kubectl" || verb == "version" || verb == "options" || verb == "completion" {
			continue
		}
		if help := user.must(verb, "--help"); !strings.Contains(help, "Examples:\n") || !strings.Contains(help, "kubectl rollcall "+verb) {
			t.Errorf("%s does not explain itself by an example:\n%s", verb, help)
		}
	}
}
