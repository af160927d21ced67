package judge

import (
	"encoding/json"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/podstate"
)

// world is the truth at a moment of the history.
type world struct {
	history  History
	families map[types.UID]*family
	verdict  Verdict
}

// family is a set and what belongs to it.
type family struct {
	set *v1.StatefulSet
	// specs are the set's versions by generation, the last of each.
	specs     map[int64]*v1.StatefulSet
	pods      map[string]*member
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	// statusAt is the version of the last status write.
	statusAt uint64
	ledger   ledger
}

// member is a pod of the family.
type member struct {
	*corev1.Pod
	ordinal   int
	createdAt uint64
	// wasReady: it was ready at any time. isTaken: it is being deleted.
	wasReady, isTaken bool
}

func newWorld(history History) *world {
	return &world{history: history, families: map[types.UID]*family{}, verdict: Verdict{Checks: map[string]int{}}}
}

// see takes note of a change, after having judged it. The ledger is brought up to
// date before, for the time that has passed, and after, for the change.
func (w *world) see(entry Entry) {
	w.refresh(entry)
	defer w.refresh(entry)
	switch object := entry.Object.(type) {
	case *v1.StatefulSet:
		w.seeSet(entry, object)
	case *corev1.Pod:
		if f := w.familyOf(object); f != nil {
			w.seePod(entry, f, object)
		}
	case *appsv1.ControllerRevision:
		if f := w.familyOf(object); f != nil {
			w.seeRevision(entry, f, object)
		}
	case *corev1.PersistentVolumeClaim:
		for _, f := range w.families {
			if number, ok := f.claimOrdinal(object.Name); ok {
				w.seeClaim(entry, f, object, number)
			}
		}
	}
}

func (w *world) refresh(entry Entry) {
	for _, f := range w.families {
		f.refresh(w.clock(entry))
	}
}

// clock is the operator's, as far as it makes time pass faster.
func (w *world) clock(entry Entry) time.Time { return entry.At.Add(max(0, w.history.Ahead)) }

func (w *world) familyOf(object metav1.Object) *family {
	controller := metav1.GetControllerOfNoCopy(object)
	if controller == nil {
		return nil
	}
	return w.families[controller.UID]
}

func (w *world) seeSet(entry Entry, set *v1.StatefulSet) {
	f := w.families[set.UID]
	if f == nil {
		f = &family{
			set: set, specs: map[int64]*v1.StatefulSet{}, pods: map[string]*member{},
			claims: map[string]*corev1.PersistentVolumeClaim{}, revisions: map[string]*appsv1.ControllerRevision{}, statusAt: entry.Version,
		}
		w.families[set.UID] = f
	}
	if entry.Gone {
		delete(w.families, set.UID)
		return
	}
	ask(w, entry, ofSets, setChange{family: f, before: f.set, after: set, now: w.clock(entry)})
	if !equality.Semantic.DeepEqual(f.set.Status, set.Status) {
		f.statusAt = entry.Version
		f.ledger.batch = nil
	}
	f.set, f.specs[set.Generation] = set, set
}

func (w *world) seePod(entry Entry, f *family, pod *corev1.Pod) {
	number, ok := ordinal.Parse(f.set.Name, pod.Name)
	if !ok {
		return
	}
	known := f.pods[pod.Name]
	if known == nil || known.UID != pod.UID {
		if entry.Gone {
			return
		}
		known = &member{Pod: pod, ordinal: number, createdAt: entry.Version}
		w.judgePod(entry, f, known, ofCreates)
		f.pods[pod.Name] = known
	}
	if !known.isTaken && (entry.Gone || pod.DeletionTimestamp != nil) {
		if !w.history.ByUser[pod.UID] {
			f.ledger.take(w.judgePod(entry, f, known, ofDeletes))
		}
		known.isTaken = true
	}
	known.Pod = pod
	known.wasReady = known.wasReady || podstate.Classify(pod, 0, entry.At).Ready
	if entry.Gone {
		delete(f.pods, pod.Name)
	}
}

// judgePod judges a pod's creation or deletion by every spec it may follow from.
func (w *world) judgePod(entry Entry, f *family, pod *member, properties []property[act]) []act {
	var readings []act
	for generation := f.set.Generation; generation >= min(f.set.Generation, f.set.Status.ObservedGeneration); generation-- {
		if set := f.specs[generation]; set != nil {
			readings = append(readings, newAct(f, set, pod, w.clock(entry)))
		}
	}
	return askAny(w, entry, properties, readings)
}

func (w *world) seeRevision(entry Entry, f *family, revision *appsv1.ControllerRevision) {
	ask(w, entry, ofRevisions, revisionChange{family: f, before: f.revisions[revision.Name], after: revision, isGone: entry.Gone})
	if entry.Gone {
		delete(f.revisions, revision.Name)
		return
	}
	f.revisions[revision.Name] = revision
}

func (w *world) seeClaim(entry Entry, f *family, claim *corev1.PersistentVolumeClaim, number int) {
	ask(w, entry, ofClaims, claimChange{
		family: f, before: f.claims[claim.Name], after: claim, ordinal: number, isGoing: entry.Gone || claim.DeletionTimestamp != nil,
	})
	if entry.Gone {
		delete(f.claims, claim.Name)
		return
	}
	f.claims[claim.Name] = claim
}

// claimOrdinal returns the ordinal that a claim of this name belongs to.
func (f *family) claimOrdinal(name string) (int, bool) {
	for i := range f.set.Spec.VolumeClaimTemplates {
		if number, ok := ordinal.Parse(f.set.Spec.VolumeClaimTemplates[i].Name+"-"+f.set.Name, name); ok {
			return number, true
		}
	}
	return 0, false
}

// image is what tells templates apart in the histories that are judged here.
func image(spec *corev1.PodSpec) string { return spec.Containers[0].Image }

// imageOf returns the image of a recorded revision.
func (f *family) imageOf(revision string) (string, bool) {
	recorded := f.revisions[revision]
	if recorded == nil {
		return "", false
	}
	var patch struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if json.Unmarshal(recorded.Data.Raw, &patch) != nil || len(patch.Spec.Template.Spec.Containers) == 0 {
		return "", false
	}
	return image(&patch.Spec.Template.Spec), true
}

// refresh has the ledger forget what is over.
func (f *family) refresh(now time.Time) {
	terms := termsOf(f.set)
	isServed := func(number int) bool {
		pod := f.pods[ordinal.PodName(f.set.Name, number)]
		return pod != nil && podstate.Classify(pod.Pod, terms.minReady, now).IsAvailable()
	}
	f.ledger.down = slices.DeleteFunc(f.ledger.down, func(slot downSlot) bool {
		return !terms.slots.Contains(slot.ordinal) || isServed(slot.ordinal) || f.isForgiven(terms, slot.ordinal)
	})
	f.ledger.batch = slices.DeleteFunc(f.ledger.batch, isServed)
	f.ledger.timeouts = slices.DeleteFunc(f.ledger.timeouts, func(t timeouts) bool {
		pod := f.pods[ordinal.PodName(f.set.Name, t.ordinal)]
		return !terms.slots.Contains(t.ordinal) || (pod != nil && pod.wasReady)
	})
}

// isForgiven: Enforced stops to count a slot that it took down when the slot's
// new pod is outdated before it served; see docs/verification.md.
func (f *family) isForgiven(t terms, number int) bool {
	pod := f.pods[ordinal.PodName(f.set.Name, number)]
	return t.strategy == v1.EnforcedRollingUpdateStrategy && pod != nil && !pod.isTaken && image(&pod.Spec) != t.image
}
