package handover_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/handover"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

func TestRelease(t *testing.T) {
	const orphaning = metav1.FinalizerOrphanDependents
	undefaulted := func(w *world) *world {
		w.s.Answer.Spec.Template.Spec.SchedulerName = "default-scheduler"
		return w
	}
	without := func(w *world, letter string) *world {
		for i, revision := range w.s.Revisions {
			if revision.Name == revisionName(letter) {
				w.s.Revisions = append(w.s.Revisions[:i], w.s.Revisions[i+1:]...)
				break
			}
		}
		return w
	}
	outdate := func(w *world, ordinal int) *world {
		w.s.Pods[ordinal].Labels[v1.RevisionLabel] = revisionName("a")
		return w
	}
	accepted := func(set *appsv1.StatefulSet) {
		set.Status.CurrentRevision, set.Status.CurrentReplicas = revisionName("a"), 1
	}
	unaccepted := func(set *appsv1.StatefulSet) {
		set.Status.CurrentRevision, set.Status.CurrentReplicas = revisionName("a"), 0
	}
	unseen := func(set *appsv1.StatefulSet) { set.Status = appsv1.StatefulSetStatus{} }
	for name, tt := range map[string]struct {
		given *world
		want  string
		text  string
	}{
		"no set at all":             {newWorld(), "refuse", "there is no StatefulSet of this name"},
		"ours in charge":            {newWorld().own(ours()).ours(inCharge), "update ours", "is held"},
		"held":                      {newWorld().own(ours()).ours(inCharge, held), "orphan ours", "left running"},
		"held, updated since":       {newWorld().own(ours()).ours(inCharge, heldAt("a")), "update ours", "is held"},
		"both, ours in charge":      {newWorld().own(ours()).ours(inCharge).theirs(), "refuse", "kubectl delete statefulset.apps/web --cascade=orphan"},
		"both, theirs in charge":    {newWorld().own(theirs()).ours(waits).theirs(), "refuse", "to give up adopting it"},
		"deleted by somebody":       {newWorld().own(ours()).ours(inCharge, going()), "refuse", "not by this command"},
		"being orphaned":            {newWorld().own(ours()).ours(held, going(orphaning)), "wait", "garbage collector"},
		"orphaned, not yet said so": {newWorld().ours(held, going(orphaning)), "wait", "garbage collector"},
		"freed, not yet gone":       {newWorld().own(theirs()).ours(going("example.com/hold")).theirs(), "wait", "to be gone"},
		"deleted while held":        {newWorld().own(ours()).ours(held, going("foregroundDeletion")), "orphan ours", ""},
		"the record is lost":        {newWorld().ours(going(handover.Finalizer)), "refuse", "does not name its revisions"},
		"let go":                    {newWorld().ours(held, going()), "create theirs", ""},
		"other bytes":               {undefaulted(newWorld().ours(held, going())), "delete revision " + revisionName("b"), ""},
		"other bytes, deleted":      {without(undefaulted(newWorld().ours(held, going())), "b"), "create revision " + revisionName("b"), ""},
		"created":                   {newWorld().ours(held, going()).theirs(unseen), "wait", "take over 3 pods"},
		"adopted, not yet counted":  {newWorld().own(theirs()).ours(held, going()).theirs(unseen), "wait", "take over 0 pods"},
		"taken over":                {newWorld().own(theirs()).ours(held, going()).theirs(), "update ours", "has taken over"},
		"staged":                    {outdate(newWorld().own(theirs()).ours(heldAt("a"), going()).theirs(), 0), "update the status of theirs", ""},
		"staged, told":              {outdate(newWorld().own(theirs()).ours(heldAt("a"), going()).theirs(unaccepted), 0), "wait", "accept the current revision"},
		"staged, accepted":          {outdate(newWorld().own(theirs()).ours(heldAt("a"), going()).theirs(accepted), 0), "update ours", ""},
		"current, and no pod is":    {newWorld().own(theirs()).ours(heldAt("a"), going()).theirs(), "update ours", ""},
		"done":                      {newWorld().own(theirs()).theirs(), "finish theirs", "in charge"},
	} {
		t.Run(name, func(t *testing.T) {
			step := handover.Release(tt.given.s)
			if got := written(step); got != tt.want || !strings.Contains(step.Text, tt.text) {
				t.Errorf("%s: %s\nwant %s: …%s…", got, step.Text, tt.want, tt.text)
			}
		})
	}
}

// TestReleaseHolds: the finalizer and the record come and go together.
func TestReleaseHolds(t *testing.T) {
	set := handover.Release(newWorld().own(ours()).ours(inCharge).s).Object.(*v1.StatefulSet)
	if diff := cmp.Diff([]string{handover.Finalizer}, set.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if got, want := set.Annotations[handover.Record], revisionName("b")+" "+revisionName("b"); got != want {
		t.Errorf("record %q, want %q", got, want)
	}
	freed, wasHeld := handover.Freed(set)
	if !wasHeld || len(freed.Finalizers) > 0 || freed.Annotations[handover.Record] != "" {
		t.Errorf("freed: %+v", freed.ObjectMeta)
	}
}

// TestReleaseRecordsAnew: pods keep the name of their revision, and apps/v1 finds its own bytes under it.
func TestReleaseRecordsAnew(t *testing.T) {
	w := newWorld().ours(held, going())
	w.s.Answer.Spec.Template.Spec.SchedulerName = "default-scheduler"
	w.s.Revisions = w.s.Revisions[:1]
	written := handover.Release(w.s).Object.(*appsv1.ControllerRevision)
	want, err := revision.Data(&w.s.Answer.Spec.Template)
	if err != nil {
		t.Fatal(err)
	}
	if written.Name != revisionName("b") || written.Revision != 2 || len(written.OwnerReferences) > 0 || !bytes.Equal(written.Data.Raw, want) {
		t.Errorf("recorded %+v", written)
	}
	if hash := written.Labels[revision.HashLabel]; revision.Name("web", hash) != written.Name {
		t.Errorf("hash %q of %s", hash, written.Name)
	}
}

func TestAgainstRelease(t *testing.T) {
	outdated := newWorld().own(ours()).ours(inCharge, func(set *v1.StatefulSet) { set.Spec.Paused = true })
	outdated.s.Pods[1].Labels[v1.RevisionLabel] = revisionName("a")
	for name, tt := range map[string]struct {
		given *world
		want  string
	}{
		"nothing":                     {newWorld().own(ours()).ours(inCharge), ""},
		"being deleted":               {newWorld().own(ours()).ours(inCharge, going()), "is being deleted"},
		"past the point of no return": {newWorld().ours(held, going()), ""},
		"not seen":                    {newWorld().own(ours()).ours(), "has not seen the latest change"},
		"paused in an update":         {outdated, "web-1 is not at revision"},
		"controlled": {newWorld().own(ours()).ours(inCharge, func(set *v1.StatefulSet) {
			set.OwnerReferences = []metav1.OwnerReference{{Kind: "Database", Name: "main", Controller: new(true)}}
		}), "Database main controls"},
	} {
		t.Run(name, func(t *testing.T) {
			got := handover.AgainstRelease(tt.given.s)
			if (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Text, tt.want) {
				t.Errorf("objection %+v, want %q", got, tt.want)
			}
		})
	}
}
