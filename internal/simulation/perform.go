package simulation

import (
	"bytes"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// Write is one write of a run and what came of it.
type Write struct {
	// Action is what was asked for; nil for the status.
	Action plan.Action
	// Before is the truth just before the write.
	Before Store
	// Err is what the process was told.
	Err error
}

// proceed carries out the next action of an open lane of the run under way, or
// the status, with or without an upset. It returns the write and the run as it is
// then.
func (w *World) proceed(lane int, upset Verb) (Write, *Run) {
	run := w.Controller.Run.clone()
	w.Controller.Run = run
	write := Write{Before: w.Truth}
	if lane == statusLane {
		written, err := w.writeStatus(run.set, run.status(), upset)
		run.noteStatus(written, err)
		write.Err = err
	} else {
		write.Action = run.lane(lane)[run.next[lane]]
		write.Err = w.act(write.Action, upset)
		run.note(lane, write.Action, write.Err)
	}
	if run.isDone {
		w.Controller.Run = nil
	}
	w.Ledger.noteWrite(w, run.Decision, write)
	return write, run
}

// act sends the write of an action. Only what was answered well is remembered.
func (w *World) act(action plan.Action, upset Verb) error {
	if err := unsent(upset); err != nil {
		return err
	}
	written, isDelete, err := w.perform(action)
	if err != nil {
		return err
	}
	if upset == Blur {
		return errNoAnswer
	}
	if written != nil {
		echo := Echo{Object: written, Kind: kindOf(written), IsDelete: isDelete}
		w.Controller.Memory.Echoes = append(slices.Clip(w.Controller.Memory.Echoes), echo)
	}
	return nil
}

// writeStatus writes the status of a set that was observed, if it is news.
func (w *World) writeStatus(observed *v1.StatefulSet, status v1.StatefulSetStatus, upset Verb) (*v1.StatefulSet, error) {
	if equality.Semantic.DeepEqual(observed.Status, status) {
		return nil, nil
	}
	if err := unsent(upset); err != nil {
		return nil, err
	}
	written, err := w.updateStatus(observed, status)
	if err != nil {
		return nil, err
	}
	if upset == Blur {
		return nil, errNoAnswer
	}
	w.Controller.Memory.Set = written
	return written, nil
}

// errNoAnswer is what a client is told when it gets no answer.
var errNoAnswer = apierrors.NewTimeoutError("no answer in time", 1)

// unsent returns the error of a write that never reaches the storage.
func unsent(upset Verb) error {
	switch upset {
	case Lose:
		return errNoAnswer
	case Refuse:
		return apierrors.NewForbidden(podResource, "", apierrors.NewBadRequest("over quota"))
	default:
		return nil
	}
}

func kindOf(object metav1.Object) Kind {
	switch object.(type) {
	case *corev1.Pod:
		return Pods
	case *corev1.PersistentVolumeClaim:
		return Claims
	case *appsv1.ControllerRevision:
		return Revisions
	default:
		return Sets
	}
}

// perform does what internal/execute does for an action: it returns the object
// written or deleted, nil if there was nothing to do.
func (w *World) perform(action plan.Action) (written metav1.Object, isDelete bool, err error) {
	switch a := action.(type) {
	case plan.CreatePod:
		return orNil(w.performCreatePod(a))
	case plan.DeletePod:
		return a.Pod, true, w.performDeletePod(a)
	case plan.CreateClaim:
		return orNil(w.createClaim(a.Claim))
	case plan.UpdateClaimOwner:
		meant := preconditions{uid: a.Claim.UID, version: a.Claim.ResourceVersion}
		return orNil(w.patchClaim(a.Claim.Name, meant, a.Owners))
	case plan.CreateRevision:
		return orNil(w.performCreateRevision(a))
	case plan.DeleteRevision:
		return a.Revision, true, orGone(w.deleteRevision(a.Revision.Name, preconditions{uid: a.Revision.UID}))
	case plan.BumpRevision:
		return orNil(w.patchRevision(a.Revision.Name, preconditions{uid: a.Revision.UID}, func(r *appsv1.ControllerRevision) { r.Revision = a.Number }))
	case plan.AdoptRevision:
		return orNil(w.patchRevision(a.Revision.Name, preconditions{uid: a.Revision.UID}, func(r *appsv1.ControllerRevision) {
			r.OwnerReferences = withOwner(r.OwnerReferences, a.Owner)
		}))
	default:
		return orNil(w.performPodPatch(action))
	}
}

// orNil keeps a nil pointer from becoming an object that is not nil.
func orNil[T any, P interface {
	*T
	metav1.Object
}](object P, err error) (metav1.Object, bool, error) {
	if object == nil {
		return nil, false, err
	}
	return object, false, err
}

// orGone takes it for success that what is to be deleted is gone.
func orGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// performCreatePod creates a pod. One of that name that is ours already is no
// failure, and gets back the labels it lost.
func (w *World) performCreatePod(a plan.CreatePod) (*corev1.Pod, error) {
	created, err := w.createPod(a.Pod)
	if !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	existing := find(w.Truth.Pods, a.Pod.Name)
	if !isControlledBy(existing, metav1.GetControllerOfNoCopy(a.Pod).UID) {
		return nil, apierrors.NewForbidden(podResource, a.Pod.Name, err)
	}
	if existing.Labels[v1.PodNameLabel] == a.Pod.Name {
		return existing, nil
	}
	return w.changePod(existing, func(pod *corev1.Pod) {
		pod.Labels[v1.PodNameLabel] = a.Pod.Labels[v1.PodNameLabel]
		pod.Labels[v1.PodIndexLabel] = a.Pod.Labels[v1.PodIndexLabel]
	}), nil
}

// performDeletePod deletes exactly the pod observed; that it is gone is success.
func (w *World) performDeletePod(a plan.DeletePod) error {
	meant := preconditions{uid: a.Pod.UID}
	if a.IfUnchanged {
		meant.version = a.Pod.ResourceVersion
	}
	err := w.deletePod(a.Pod.Name, meant)
	current := find(w.Truth.Pods, a.Pod.Name)
	if apierrors.IsNotFound(err) || (apierrors.IsConflict(err) && current.UID != a.Pod.UID) {
		return nil
	}
	return err
}

// performCreateRevision creates a revision. The very same one, not yet observed,
// is no failure.
func (w *World) performCreateRevision(a plan.CreateRevision) (*appsv1.ControllerRevision, error) {
	created, err := w.createRevision(a.Revision)
	if !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	existing := find(w.Truth.Revisions, a.Revision.Name)
	isOurs := isControlledBy(existing, metav1.GetControllerOfNoCopy(a.Revision).UID)
	if !isOurs || !bytes.Equal(existing.Data.Raw, a.Revision.Data.Raw) {
		return nil, err
	}
	return existing, nil
}

// performPodPatch changes part of a pod's metadata.
func (w *World) performPodPatch(action plan.Action) (*corev1.Pod, error) {
	meant := preconditions{uid: action.Object().GetUID()}
	patched, err := w.patchPod(action.Object().GetName(), meant, func(pod *corev1.Pod) { patchMeta(pod, action) })
	if _, isRelease := action.(plan.ReleasePod); isRelease && apierrors.IsNotFound(err) {
		return nil, nil
	}
	return patched, err
}

// withOwner adds an owner, unless it is one already.
func withOwner(owners []metav1.OwnerReference, added metav1.OwnerReference) []metav1.OwnerReference {
	others := slices.DeleteFunc(slices.Clone(owners), func(owner metav1.OwnerReference) bool { return owner.UID == added.UID })
	return append(others, added)
}

func patchMeta(pod *corev1.Pod, action plan.Action) {
	switch a := action.(type) {
	case plan.AdoptPod:
		pod.OwnerReferences = withOwner(pod.OwnerReferences, a.Owner)
	case plan.ReleasePod:
		released := metav1.GetControllerOfNoCopy(a.Pod)
		pod.OwnerReferences = slices.DeleteFunc(pod.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return released != nil && ref.UID == released.UID
		})
	case plan.UpdatePod:
		for key, value := range a.Labels {
			pod.Labels[key] = value
		}
	}
}
