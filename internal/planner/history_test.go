package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/revision"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// withTemplates answers the request for defaulted templates: every template is
// what it is, with a restart policy where there is none.
func withTemplates(t rapid.TB, o plan.Observation) plan.Observation {
	t.Helper()
	defaulted := func(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
		template = template.DeepCopy()
		template.Spec.RestartPolicy = corev1.RestartPolicyAlways
		return template
	}
	o.Live.Templates = true
	o.Defaulted = plan.DefaultedTemplates{
		Spec: defaulted(&o.Set.Spec.Template), Revisions: map[string]*corev1.PodTemplateSpec{},
	}
	for _, recorded := range o.Revisions {
		template, err := revision.Template(recorded)
		if err != nil {
			t.Fatal(err)
		}
		o.Defaulted.Revisions[recorded.Name] = defaulted(template)
	}
	return o
}

func TestTarget(t *testing.T) {
	tests := map[string]struct {
		set     *testkit.SetBuilder
		history string
		want    []string
	}{
		"the first revision":             {web(0), "", []string{"create revision a"}},
		"an unchanged template":          {web(0).Current("a"), "a", nil},
		"a changed template":             {web(0).Template("b").Current("a"), "a", []string{"create revision b"}},
		"back to the one before":         {web(0).Current("b"), "ab", []string{"renumber revision a to 3"}},
		"back to one further back":       {web(0).Current("c"), "abc", []string{"renumber revision a to 4"}},
		"a change of the strategy alone": {web(0).Current("a").Strategy(v1.OnDeleteStrategy), "a", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Obj()
			p := planner.Compute(withTemplates(t, testkit.Observe(set, test.history, "")))
			if diff := cmp.Diff(test.want, testkit.Actions(set, p)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRevisionsGoBeforeTheirSet: a set that waits for its dependents to go loses
// its revisions first. Its status keeps saying which they were.
func TestRevisionsGoBeforeTheirSet(t *testing.T) {
	set := web(0).Template("b").Current("a").Obj()
	set.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	set.Status.UpdateRevision = testkit.RevisionName(set, "b")
	p := planner.Compute(testkit.Observe(set, "", "0:a/terminating"))
	got, want := []string{p.Status.CurrentRevision, p.Status.UpdateRevision}, []string{set.Status.CurrentRevision, set.Status.UpdateRevision}
	if diff := cmp.Diff(want, got); diff != "" || !p.IsEmpty() {
		t.Errorf("revisions (-want +got):\n%splan:\n%s", diff, p)
	}
}

// TestNumberOfTheTargetIsItsOwn: a revision that was created unseen may share it.
func TestNumberOfTheTargetIsItsOwn(t *testing.T) {
	set := web(0).Template("b").Current("a").Obj()
	o := testkit.Observe(set, "abc", "")
	for _, recorded := range o.Revisions[1:] {
		recorded.Revision = 2
	}
	want := []string{"renumber revision b to 3"}
	if diff := cmp.Diff(want, testkit.Actions(set, planner.Compute(o))); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	set.Spec.Template = *web(0).Template("c").Obj().Spec.Template.DeepCopy()
	want = []string{"renumber revision c to 3"}
	if diff := cmp.Diff(want, testkit.Actions(set, planner.Compute(o))); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestNewRevisionAsksForMeaningFirst: bytes that differ prove nothing.
func TestNewRevisionAsksForMeaningFirst(t *testing.T) {
	set := web(1).Obj()
	o := testkit.Observe(set, "a", "0:a/available")
	set.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(7))
	p := planner.Compute(o)
	if diff := cmp.Diff(plan.Plan{NeedsLiveRead: plan.LiveReads{Templates: true}}, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestAnotherImageNeedsNoQuestion: no default makes two images the same, so an ordinary update costs no read.
func TestAnotherImageNeedsNoQuestion(t *testing.T) {
	p := planner.Compute(testkit.Observe(updating(1).Obj(), "a", "0:a/available"))
	if p.NeedsLiveRead.Any() || p.Status.UpdateRevision == p.Status.CurrentRevision {
		t.Errorf("asks for %+v; the update revision is %q", p.NeedsLiveRead, p.Status.UpdateRevision)
	}
}

// TestNoRestartWithoutAChangeOfMeaning is k/k 134773: a template that only spells
// out defaults, or leaves them out again, makes no revision.
func TestNoRestartWithoutAChangeOfMeaning(t *testing.T) {
	set := web(2).Obj()
	o := testkit.Observe(set, "a", "0:a/available 1:a/available")
	set.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	set.Status.CurrentRevision = o.Revisions[0].Name
	if p := planner.Compute(o); !p.NeedsLiveRead.Templates {
		t.Fatalf("the plan is made without knowing what the template means:\n%s", p)
	}
	p := planner.Compute(withTemplates(t, o))
	if !p.IsEmpty() {
		t.Errorf("the pods are restarted:\n%s", p)
	}
	if p.Status.UpdateRevision != o.Revisions[0].Name {
		t.Errorf("the update revision is %s", p.Status.UpdateRevision)
	}
}

// TestTemplateThatCannotBeDefaulted falls back to bytes: a new revision is
// better than none.
func TestTemplateThatCannotBeDefaulted(t *testing.T) {
	set := web(0).Template("b").Current("a").Obj()
	o := testkit.Observe(set, "a", "")
	o.Live.Templates = true
	if diff := cmp.Diff([]string{"create revision b"}, testkit.Actions(set, planner.Compute(o))); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestCollision: a name that somebody else has is not fought over.
func TestCollision(t *testing.T) {
	set := web(0).Obj()
	o := testkit.Observe(set, "a", "")
	o.Revisions[0].OwnerReferences[0].UID = "somebody"
	p := planner.Compute(o)
	if got := p.Status.CollisionCount; got == nil || *got != 1 {
		t.Errorf("collisionCount = %v, want 1", got)
	}
	if p.Status.UpdateRevision == o.Revisions[0].Name {
		t.Errorf("the new revision takes the name %s, which exists", p.Status.UpdateRevision)
	}
}

func TestTruncation(t *testing.T) {
	runAll(t, map[string]scenario{
		"within the limit":          {web(1).Template("d").Current("d").HistoryLimit(3), "abcd", "0:d/available", nil},
		"the oldest go":             {web(1).Template("d").Current("d").HistoryLimit(1), "abcd", "0:d/available", []string{"delete revision a", "delete revision b"}},
		"none is kept":              {web(1).Template("d").Current("d").HistoryLimit(0), "abcd", "0:d/available", []string{"delete revision a", "delete revision b", "delete revision c"}},
		"a pod's stays":             {web(1).Template("d").Current("d").HistoryLimit(0).Paused(), "abcd", "0:b/available", []string{"delete revision a", "delete revision c"}},
		"the current stays":         {web(1).Template("d").Current("c").HistoryLimit(0), "abcd", "0:d/crashing", []string{"delete revision a", "delete revision b"}},
		"of a pod outside, too":     {web(0).Template("b").Current("b").HistoryLimit(0), "ab", "5:a/leaving", nil},
		"a negative limit is no-op": {web(1).Template("c").Current("c").HistoryLimit(-1), "abc", "0:c/available", nil},
	})
}

// TestTruncationDoesNotWaitForPods is k/k 85690: revisions piled up because pods
// could not be created.
func TestTruncationDoesNotWaitForPods(t *testing.T) {
	set := web(1).Template("c").Current("c").HistoryLimit(0).Obj()
	p := planner.Compute(testkit.Observe(set, "abc", ""))
	want := []string{"delete revision a", "delete revision b", "create pod web-0 at revision c"}
	if diff := cmp.Diff(want, testkit.Actions(set, p)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestRevisionIsRecordedBeforeItIsUsed: no prefix of the plan has a pod that
// names a revision which does not exist.
func TestRevisionIsRecordedBeforeItIsUsed(t *testing.T) {
	set := web(2).Parallel().Obj()
	p := planner.Compute(testkit.Observe(set, "", ""))
	want := []string{"create revision a", "create pod web-0 at revision a", "create pod web-1 at revision a"}
	if diff := cmp.Diff(want, testkit.Actions(set, p)); diff != "" {
		t.Fatalf("actions (-want +got):\n%s", diff)
	}
	if !p.Steps[0].Essential {
		t.Error("pods would be created although the revision was not")
	}
}

// TestUnreadableRevision: a slot below the partition can't be filled from a
// revision that nobody can read, and the status says so.
func TestUnreadableRevision(t *testing.T) {
	set := updating(1).Partition(1).Obj()
	o := testkit.Observe(set, "ab", "")
	o.Revisions[0].Data.Raw = []byte("{")
	p := planner.Compute(o)
	if !p.IsEmpty() {
		t.Errorf("something is done all the same:\n%s", p)
	}
	wantCondition(t, p.Status, v1.ConditionStalled, "True", v1.ReasonInvalidSpec)
}
