package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podbuild"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// tale makes a history step by step.
type tale struct {
	history History
	set     *v1.StatefulSet
	pods    map[string]*corev1.Pod
	births  int
}

// step is something that happens.
type step func(*tale)

// tell tells what happens to a set whose revisions a and b are recorded.
func tell(set *v1.StatefulSet, steps ...step) History {
	tl := &tale{set: set, pods: map[string]*corev1.Pod{}, history: History{ByUser: map[types.UID]bool{}}}
	tl.set.Status.ObservedGeneration = set.Generation
	tl.note(tl.set.DeepCopy(), false)
	for i, letter := range []string{"a", "b"} {
		tl.note(testkit.Revision(set, letter, int64(i+1)), false)
	}
	for _, next := range steps {
		next(tl)
	}
	return tl.history
}

func (tl *tale) note(object metav1.Object, isGone bool) {
	number := uint64(len(tl.history.Entries) + 1)
	at := testkit.Now.Add(time.Duration(number) * time.Millisecond)
	tl.history.Entries = append(tl.history.Entries, Entry{Version: number, At: at, Object: object, Gone: isGone})
}

// fleet has pods change to what a notation says, one after the other; "-" is a pod that goes.
func fleet(notation string) step {
	return func(tl *tale) {
		for word := range strings.FieldsSeq(notation) {
			name := tl.set.Name + "-" + word[:strings.Index(word, ":")]
			before := tl.pods[name]
			if strings.HasSuffix(word, ":-") {
				delete(tl.pods, name)
				tl.note(before, true)
				continue
			}
			pod := testkit.Fleet(tl.set, word)[0]
			if before == nil {
				tl.births++
				pod.UID = types.UID(fmt.Sprintf("%s-%d", pod.UID, tl.births))
			} else {
				pod.UID = before.UID
			}
			tl.pods[name] = pod
			tl.note(pod, false)
		}
	}
}

// edit changes the spec.
func edit(change func(*v1.StatefulSet)) step {
	return func(tl *tale) {
		change(tl.set)
		tl.set.Generation++
		tl.note(tl.set.DeepCopy(), false)
	}
}

// status writes the status, as after every plan.
func status(changes ...func(*v1.StatefulSetStatus)) step {
	return func(tl *tale) {
		tl.set.Status.ObservedGeneration = tl.set.Generation
		tl.set.Status.Conditions = append(tl.set.Status.Conditions, metav1.Condition{Type: fmt.Sprint(len(tl.set.Status.Conditions))})
		for _, change := range changes {
			change(&tl.set.Status)
		}
		tl.note(tl.set.DeepCopy(), false)
	}
}

// claims makes the claims of ordinals, edited.
func claims(edit func(*corev1.PersistentVolumeClaim), ordinals ...int) step {
	return func(tl *tale) {
		for _, number := range ordinals {
			claim := podbuild.Claim(tl.set, &tl.set.Spec.VolumeClaimTemplates[0], number)
			edit(claim)
			tl.note(claim, false)
		}
	}
}

func asBorn(*corev1.PersistentVolumeClaim) {}

// toPod gives a claim to a pod.
func toPod(claim *corev1.PersistentVolumeClaim) {
	claim.OwnerReferences = append(claim.OwnerReferences, metav1.OwnerReference{Kind: "Pod", Name: "web-0"})
}

func going(claim *corev1.PersistentVolumeClaim) {
	claim.DeletionTimestamp = &metav1.Time{Time: testkit.Now}
}

// revision changes or removes the revision of a letter.
func revision(letter string, isGone bool, edit func(*appsv1.ControllerRevision)) step {
	return func(tl *tale) {
		changed := testkit.Revision(tl.set, letter, int64(letter[0]-'a')+1)
		edit(changed)
		tl.note(changed, isGone)
	}
}

// byUser says that a user deletes the pod of a name.
func byUser(name string) step {
	return func(tl *tale) { tl.history.ByUser[tl.pods[name].UID] = true }
}

// Edits.
func template(letter string) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = letter }
}

func replicas(n int32) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { set.Spec.Replicas = &n }
}

func deleted(set *v1.StatefulSet) { set.DeletionTimestamp = &metav1.Time{Time: testkit.Now} }

func paused(set *v1.StatefulSet) { set.Spec.Paused = true }

// web is a set of n pods at revision a.
func web(n int32) *testkit.SetBuilder { return testkit.MakeSet("web").Replicas(n).Current("a") }

// three are the pods of web(3) when all is well.
var three = fleet("0:a/available 1:a/available 2:a/available")

// then joins steps.
func then(steps ...step) step {
	return func(tl *tale) {
		for next := range slices.Values(steps) {
			next(tl)
		}
	}
}
