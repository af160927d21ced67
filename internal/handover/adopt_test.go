package handover_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// staged: pods below the partition are at revision a.
func staged(set *appsv1.StatefulSet) { set.Status.CurrentRevision = revisionName("a") }

func deleted(finalizers ...string) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		set.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
		set.Finalizers = finalizers
	}
}

func TestAdopt(t *testing.T) {
	knows := func(letter string) func(*v1.StatefulSet) {
		return func(set *v1.StatefulSet) { set.Status.CurrentRevision = revisionName(letter) }
	}
	for name, tt := range map[string]struct {
		given *world
		want  string
		// text is part of what people are told.
		text string
	}{
		"no set at all":         {newWorld(), "refuse", "there is no StatefulSet of this name"},
		"theirs alone":          {newWorld().own(theirs()).theirs(), "create ours", "waits to take over"},
		"ours not yet seen":     {newWorld().own(theirs()).theirs().ours(marked), "wait", "controller of Rollcall to see"},
		"ours waits":            {newWorld().own(theirs()).theirs().ours(marked, waits), "orphan theirs", "left running"},
		"made by somebody else": {newWorld().own(theirs()).theirs().ours(waits), "orphan theirs", ""},
		"theirs has changed": {
			newWorld().own(theirs()).theirs(func(set *appsv1.StatefulSet) { set.Generation++ }).ours(marked, waits), "update ours", "follows a change",
		},
		"staged":                       {newWorld().own(theirs()).theirs(staged).ours(marked, waits), "update the status of ours", ""},
		"staged, and ours knows":       {newWorld().own(theirs()).theirs(staged).ours(marked, waits, knows("a")), "orphan theirs", ""},
		"no longer staged":             {newWorld().own(theirs()).theirs().ours(marked, waits, knows("a")), "update the status of ours", ""},
		"ours is going":                {newWorld().own(theirs()).theirs().ours(marked, going()), "refuse", "is being deleted"},
		"ours is in charge of both":    {newWorld().own(ours()).theirs().ours(inCharge), "refuse", "kubectl delete statefulset.apps/web --cascade=orphan"},
		"being orphaned":               {newWorld().own(theirs()).theirs(deleted("orphan")).ours(marked, waits), "wait", "garbage collector"},
		"being deleted otherwise":      {newWorld().own(theirs()).theirs(deleted("foregroundDeletion")).ours(marked, waits), "refuse", "not by this command"},
		"deleted before we began":      {newWorld().own(theirs()).theirs(deleted("orphan")), "refuse", "not by this command"},
		"let go":                       {newWorld().ours(marked, waits), "wait", "take over 3 pods"},
		"taken over, status is behind": {newWorld().own(ours()).ours(marked, waits), "wait", "take over 0 pods"},
		"taken over":                   {newWorld().own(ours()).ours(marked, inCharge), "update ours", "has taken over"},
		"made by others, let go":       {newWorld().ours(waits), "wait", "take over 3 pods"},
		"done":                         {newWorld().own(ours()).ours(inCharge), "finish ours", "in charge"},
	} {
		t.Run(name, func(t *testing.T) {
			step := handover.Adopt(tt.given.s)
			if got := written(step); got != tt.want || !strings.Contains(step.Text, tt.text) {
				t.Errorf("%s: %s\nwant %s: …%s…", got, step.Text, tt.want, tt.text)
			}
		})
	}
}

// TestAdoptCarriesRevisions: ours learns which revision pods below the partition have.
func TestAdoptCarriesRevisions(t *testing.T) {
	step := handover.Adopt(newWorld().own(theirs()).theirs(staged).ours(marked, waits).s)
	status := step.Object.(*v1.StatefulSet).Status
	if status.CurrentRevision != revisionName("a") || status.UpdateRevision != revisionName("b") || len(status.Conditions) != 1 {
		t.Errorf("status %+v", status)
	}
}

func TestAgainstAdoption(t *testing.T) {
	outdate := func(w *world, ordinal int) *world {
		w.s.Pods[ordinal].Labels[v1.RevisionLabel] = revisionName("a")
		return w
	}
	partition := func(w *world, n int32) *world {
		w.s.Converted.Spec.UpdateStrategy.RollingUpdate.Partition = &n
		return w
	}
	for name, tt := range map[string]struct {
		given    *world
		want     string
		isUpdate bool
	}{
		"nothing":       {given: newWorld().theirs()},
		"being deleted": {given: newWorld().theirs(deleted()), want: "is being deleted"},
		"controlled": {
			given: newWorld().theirs(func(set *appsv1.StatefulSet) {
				set.OwnerReferences = []metav1.OwnerReference{{Kind: "Database", Name: "main", Controller: new(true)}}
			}),
			want: "Database main controls statefulset.apps/web",
		},
		"not seen": {given: newWorld().theirs(func(set *appsv1.StatefulSet) { set.Generation++ }), want: "has not seen the latest change"},
		"an update is under way": {
			given: outdate(newWorld().theirs(), 0), want: "web-0 is not at revision " + revisionName("b"), isUpdate: true,
		},
		"below the partition": {given: partition(outdate(newWorld().theirs(), 0), 1)},
		"above the partition": {given: partition(outdate(newWorld().theirs(), 1), 1), want: "web-1 is not at", isUpdate: true},
		"a pod that goes anyway": {given: func() *world {
			w := outdate(newWorld().theirs(), 2)
			w.s.Converted.Spec.Replicas = new(int32(2))
			return w
		}()},
		"left to be deleted": {given: func() *world {
			w := outdate(newWorld().theirs(), 2)
			w.s.Converted.Spec.UpdateStrategy = v1.UpdateStrategy{Type: v1.OnDeleteStrategy}
			return w
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			got := handover.AgainstAdoption(tt.given.s)
			if (got == nil) != (tt.want == "") {
				t.Fatalf("objection %+v, want %q", got, tt.want)
			}
			if got != nil && (!strings.Contains(got.Text, tt.want) || got.IsUpdate != tt.isUpdate) {
				t.Errorf("objection %+v, want %q", got, tt.want)
			}
		})
	}
}

// TestPreview: the planner itself tells what would happen to pods.
func TestPreview(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(*handover.Situation)
		want string
	}{
		"nothing": {edit: func(*handover.Situation) {}},
		"another template": {
			edit: func(s *handover.Situation) { s.Ours.Spec.Template.Spec.Containers[0].Image = "c" },
			want: "would not be recognized as revision",
		},
		"an older template": {
			edit: func(s *handover.Situation) { s.Ours.Spec.Template.Spec.Containers[0].Image = "a" },
			want: "would be deleted",
		},
		"fewer replicas": {
			edit: func(s *handover.Situation) { s.Ours.Spec.Replicas = new(int32(1)) },
			want: "pod web-2 would be deleted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWorld().own(theirs()).theirs().ours(waits).s
			tt.edit(&s)
			observation := handover.Preview(s, testkit.Now)
			observation.Live.Templates = true
			got := handover.AgainstPlan(planner.Compute(observation), s.BuiltIn)
			if (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Text, tt.want) {
				t.Errorf("objection %+v, want %q", got, tt.want)
			}
		})
	}
}

// TestMembers: what belongs to a set goes by its owner, and by its name if it has none.
func TestMembers(t *testing.T) {
	leaving := podNamed("web-0", nil)
	leaving.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
	unlabelled := podNamed("web-0", nil)
	unlabelled.Labels = nil
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"of theirs":            {podNamed("web-0", theirs()), true},
		"of ours":              {podNamed("web-0", ours()), true},
		"an orphan":            {podNamed("web-0", nil), true},
		"an orphan that goes":  {leaving, false},
		"without its label":    {unlabelled, false},
		"of another name":      {podNamed("web-db-0", nil), false},
		"of a job":             {podNamed("web-0", &metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "web", Controller: new(true)}), false},
		"of another's set":     {podNamed("web-0", &metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", Controller: new(true)}), false},
		"of a set named other": {podNamed("web-0", &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "other", Controller: new(true)}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kin.IsPod(tt.pod); got != tt.want {
				t.Errorf("IsPod is %v", got)
			}
		})
	}
	for claim, want := range map[string]bool{"data-web-0": true, "data-web-10": true, "log-web-0": false, "data-web-db-0": false, "data-web": false} {
		if got := kin.IsClaim(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}}); got != want {
			t.Errorf("IsClaim(%s) is %v", claim, got)
		}
	}
}
