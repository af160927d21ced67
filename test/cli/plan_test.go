package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/preview"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// foretold is a change, as a plan is asked about it and as it is made then.
type foretold struct {
	given []scenario.Edit
	flags []string
	when  []scenario.Edit
	// replicas are how many there are in the end.
	replicas int32
	outcome  preview.Outcome
	// isLoose: pods go and come several at a time, and who is first is up to the nodes.
	isLoose bool
}

var foretelling = map[string]foretold{
	"rolling update": {
		flags: []string{"--set-image=web:2"}, when: []scenario.Edit{scenario.Image("web:2")}, replicas: 3, outcome: preview.Complete,
	},
	"rolling update of two at a time": {
		given: []scenario.Edit{scenario.Replicas(4), scenario.MaxUnavailable("2")},
		flags: []string{"--set-image=web:2"}, when: []scenario.Edit{scenario.Image("web:2")}, replicas: 4, outcome: preview.Complete, isLoose: true,
	},
	"parallel": {
		given: []scenario.Edit{scenario.Replicas(4), scenario.Parallel(), scenario.MaxUnavailable("50%")},
		flags: []string{"--set-image=web:2"}, when: []scenario.Edit{scenario.Image("web:2")}, replicas: 4, outcome: preview.Complete, isLoose: true,
	},
	"partition": {
		flags: []string{"--set-image=web:2", "--partition=2"}, when: []scenario.Edit{scenario.Image("web:2"), scenario.Partition(2)},
		replicas: 3, outcome: preview.Staged,
	},
	"recreate": {
		flags: []string{"--set-image=web:2", "--strategy=Recreate"}, replicas: 3, outcome: preview.Complete, isLoose: true,
		when: []scenario.Edit{scenario.Strategy(v1.RecreateStrategy), scenario.Image("web:2")},
	},
	"enforced": {
		flags: []string{"--set-image=web:2", "--strategy=EnforcedRollingUpdate"}, replicas: 3, outcome: preview.Complete,
		when: []scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy), scenario.Image("web:2")},
	},
	"on delete": {
		flags: []string{"--set-image=web:2", "--strategy=OnDelete"}, replicas: 3, outcome: preview.Waiting,
		when: []scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy), scenario.Image("web:2")},
	},
	"paused": {
		flags: []string{"--set-image=web:2", "--paused"}, replicas: 3, outcome: preview.Paused,
		when: []scenario.Edit{scenario.Paused(true), scenario.Image("web:2")},
	},
	"scaling and updating": {
		flags: []string{"--set-image=web:2", "--replicas=5"}, replicas: 5, outcome: preview.Complete,
		when: []scenario.Edit{scenario.Image("web:2"), scenario.Replicas(5)},
	},
	"scaling down and updating": {
		flags: []string{"--set-image=web:2", "--replicas=1"}, replicas: 1, outcome: preview.Complete,
		when: []scenario.Edit{scenario.Image("web:2"), scenario.Replicas(1)},
	},
	"time to settle": {
		given: []scenario.Edit{scenario.MinReady(1)},
		flags: []string{"--set-image=web:2"}, when: []scenario.Edit{scenario.Image("web:2")}, replicas: 3, outcome: preview.Complete,
	},
}

// TestPlansComeTrue plans changes, makes them, and holds what the operator did at a real API server against the plan.
func TestPlansComeTrue(t *testing.T) {
	for name, tc := range foretelling {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Given(t, scenario.Rollcall, append([]scenario.Edit{scenario.Replicas(3)}, tc.given...)...)
			story.ThenUpdated(*story.Set().Spec.Replicas)
			begin := len(story.Tape())
			plan := planOf(t, newUser(t, story.Space).must(append([]string{"plan", "web", "-o", "json"}, tc.flags...)...))
			if plan.Outcome != tc.outcome {
				t.Errorf("the plan ends %s, want %s", plan.Outcome, tc.outcome)
			}
			story.When(tc.when...)
			story.ThenReady(tc.replicas)
			story.ThenSettled()
			compareTapes(t, foretell(story, plan), story.Tape()[begin:], tc.isLoose)
			if got := story.Set().Status.UpdateRevision; got != plan.Revision {
				t.Errorf("the plan's revision is %s, the real one %s", plan.Revision, got)
			}
		})
	}
}

// TestPlansOfTheWayOut: a broken pod holds a plain roll-out, the plan says so, and tells what other strategies would do.
func TestPlansOfTheWayOut(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		when  []scenario.Edit
	}{
		"enforced": {flags: []string{"--strategy=EnforcedRollingUpdate"}, when: []scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy)}},
		"timeout":  {flags: []string{"--progress-timeout=5"}, when: []scenario.Edit{scenario.ProgressTimeout(5)}},
		"recreate": {flags: []string{"--strategy=Recreate"}, when: []scenario.Edit{scenario.Strategy(v1.RecreateStrategy)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(3))
			story.ThenUpdated(3)
			story.When(scenario.Image("web:2-image-pull-backoff"))
			story.ThenPodBroken(2, "web:2-image-pull-backoff")
			story.ThenSettled()
			u := newUser(t, story.Space)

			stuck := u.run("plan", "web", "--set-image=web:3")
			if stuck.code != 1 || !strings.Contains(stuck.out, "GETS STUCK") || !strings.Contains(stuck.out, "web-2 cannot get the image web:2-image-pull-backoff") {
				t.Errorf("the plan of a roll-out that a broken pod holds ends with code %d:\n%s%s", stuck.code, stuck.out, stuck.err)
			}

			begin := len(story.Tape())
			plan := planOf(t, u.must(append([]string{"plan", "web", "--set-image=web:3", "-o", "json"}, tc.flags...)...))
			story.When(append([]scenario.Edit{scenario.Image("web:3")}, tc.when...)...)
			story.ThenUpdated(3)
			compareTapes(t, foretell(story, plan), story.Tape()[begin:], name == "recreate")
		})
	}
}

func planOf(t *testing.T, text string) preview.Preview {
	t.Helper()
	var plan preview.Preview
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		t.Fatalf("the plan is no JSON: %v\n%s", err, text)
	}
	return plan
}

// foretell writes the steps of a plan as a tape shows them.
func foretell(story *scenario.Story, plan preview.Preview) []string {
	var lines []string
	for _, step := range plan.Steps {
		switch {
		case step.Kind != "Pod":
		case step.Verb == "create":
			lines = append(lines, "create "+step.Object+" "+story.Alias(step.Revision))
		default:
			lines = append(lines, step.Verb+" "+step.Object)
		}
	}
	return lines
}

// compareTapes compares line by line; a loose comparison is about the order of deletes and what happens to each pod.
func compareTapes(t *testing.T, want, got []string, isLoose bool) {
	t.Helper()
	if !isLoose {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("what happened differs from the plan (-plan +real):\n%s", diff)
		}
		return
	}
	if diff := cmp.Diff(byPod(want), byPod(got)); diff != "" {
		t.Errorf("what happened to pods differs from the plan (-plan +real):\n%s", diff)
	}
	if diff := cmp.Diff(deletes(want), deletes(got)); diff != "" {
		t.Errorf("the order of deletes differs from the plan (-plan +real):\n%s", diff)
	}
}

func byPod(tape []string) map[string][]string {
	pods := map[string][]string{}
	for _, line := range tape {
		name := strings.Fields(line)[1]
		pods[name] = append(pods[name], line)
	}
	return pods
}

// deletes are those of a tape in their order, the ones that come at once sorted.
func deletes(tape []string) []string {
	var all, batch []string
	for _, line := range append(slices.Clone(tape), "end") {
		if strings.HasPrefix(line, "delete ") {
			batch = append(batch, line)
			continue
		}
		slices.Sort(batch)
		all, batch = append(all, batch...), nil
	}
	return all
}

// TestPlanOfAFile: with a cluster, a plan is about what applying the file would change.
func TestPlanOfAFile(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2), scenario.Claims("data"))
	story.ThenUpdated(2)
	u := newUser(t, story.Space)
	write := func(edit func(*v1.StatefulSet)) string {
		t.Helper()
		stored := story.Set()
		set := &v1.StatefulSet{Spec: *stored.Spec.DeepCopy()}
		set.APIVersion, set.Kind = v1.GroupVersion.String(), v1.Kind.Kind
		set.Name = stored.Name
		edit(set)
		return writeManifest(t, set)
	}
	same := planOf(t, u.must("plan", "-o", "json", "-f", write(func(*v1.StatefulSet) {})))
	if same.Outcome != preview.Unchanged || len(same.Steps) > 0 {
		t.Errorf("applying what is stored would do this:\n%s", same.Text())
	}

	// What is spelled out differently and means the same restarts nothing, and so says the plan.
	meansTheSame := func(set *v1.StatefulSet) { set.Spec.Template.Spec.RestartPolicy = "Always" }
	spelled := planOf(t, u.must("plan", "-o", "json", "-f", write(meansTheSame)))
	if spelled.Outcome != preview.Unchanged {
		t.Errorf("spelling out a default would do this:\n%s", spelled.Text())
	}
	begin := len(story.Tape())
	story.When(meansTheSame)
	story.ThenUpdated(2)
	if tape := story.Tape()[begin:]; len(tape) > 0 {
		t.Errorf("spelling out a default did this: %v", tape)
	}

	// A field that the file does not name stays as it is.
	unnamed := planOf(t, u.must("plan", "-o", "json", "-f", write(func(set *v1.StatefulSet) { set.Spec.Replicas = nil })))
	if unnamed.Replicas != 2 {
		t.Errorf("a file without replicas would scale to %d", unnamed.Replicas)
	}

	refused := u.run("plan", "-f", write(func(set *v1.StatefulSet) { set.Spec.ServiceName = "other" }))
	if refused.code != 1 || !strings.HasPrefix(refused.err, "error: the API server would refuse this: ") || !strings.Contains(refused.err, "spec.serviceName") {
		t.Errorf("the plan of what would be refused ends with code %d: %s", refused.code, refused.err)
	}

	created := planOf(t, u.must("plan", "-o", "json", "-f", write(func(set *v1.StatefulSet) { set.Name = "other" })))
	if created.Created != 2 || created.Replaced != 0 {
		t.Errorf("the plan of a new set is\n%s", created.Text())
	}
	if got := len(story.Pods()); got != 2 {
		t.Errorf("plans left %d pods behind, want 2", got)
	}
}

// TestPlanOfAnAppliedFile: what "kubectl apply" wrote, and a later file leaves away, goes.
func TestPlanOfAnAppliedFile(t *testing.T) {
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Prepare(t, scenario.Rollcall)
			u := newUser(t, story.Space)
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			set.APIVersion, set.Kind = v1.GroupVersion.String(), v1.Kind.Kind
			set.Spec.Replicas, set.Spec.ServiceName = new(int32(3)), "web"
			set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
			set.Spec.Template.Labels = map[string]string{"app": "web"}
			set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1"}}
			set.Spec.MinReadySeconds = 1
			apply := append([]string{"kubectl", "apply", "-f", writeManifest(t, set)}, flags...)
			u.shell(strings.Join(apply, " "))
			story.ThenUpdated(3)
			set.Spec.Replicas, set.Spec.MinReadySeconds = nil, 0
			plan := planOf(t, u.must("plan", "-o", "json", "-f", writeManifest(t, set)))
			if plan.Replicas != 1 || plan.Removed != 2 || plan.Replaced != 0 {
				t.Errorf("without replicas, which was applied before, the plan is\n%s", plan.Text())
			}
		})
	}
}

func writeManifest(t *testing.T, set *v1.StatefulSet) string {
	t.Helper()
	text, err := yaml.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "set.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPlanOfAViewer: who may only look may plan, too.
func TestPlanOfAViewer(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Replicas(2))
	story.ThenUpdated(2)
	grantViewer(t, story)
	u := newUserNamed(t, story.Space, "viewer")
	got := u.run("plan", "web", "--set-image=web:2", "-o", "json")
	if got.code != 0 || !strings.Contains(got.err, "note: you may not make this change yourself") {
		t.Fatalf("the plan of a viewer ends with code %d: %s", got.code, got.err)
	}
	if plan := planOf(t, got.out); plan.Replaced != 2 || plan.Outcome != preview.Complete {
		t.Errorf("the plan of a viewer is\n%s", plan.Text())
	}
	if got := u.run("plan", "web", "--strategy=Recreate", "--partition=1"); got.code != 1 || !strings.Contains(got.err, "only allowed with type RollingUpdate") {
		t.Errorf("nonsense of a viewer ends with code %d: %s", got.code, got.err)
	}
	if got := u.run("explain", "web"); got.code != 0 || !strings.Contains(got.out, "is as asked for") {
		t.Errorf("the explanation for a viewer ends with code %d: %s%s", got.code, got.out, got.err)
	}
}

// grantViewer lets the user viewer read sets, pods and revisions of the story, and nothing else.
func grantViewer(t *testing.T, story *scenario.Story) {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "viewer"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupName, "apps", ""}, Resources: []string{"statefulsets", "pods", "controllerrevisions"}, Verbs: []string{"get", "list"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "viewer"}},
	}
	if err := story.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if err := story.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
}
