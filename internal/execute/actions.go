package execute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// effect is what an action did.
type effect struct {
	// action is what was done; nil if there was nothing left to do. It differs
	// from what was asked for when a pod to be created turned out to exist.
	action plan.Action
	// object is the object written, as the API server answered; nil if none was.
	object client.Object
	// isDelete: the object was deleted.
	isDelete bool
}

// word says in the log what became of the action that was asked for.
func (e effect) word() string {
	if e.action == nil {
		return "Done already"
	}
	return "Done"
}

// perform carries out one action.
func (e *Executor) perform(ctx context.Context, action plan.Action) (effect, error) {
	done, err := e.dispatch(ctx, action)
	if err != nil {
		meta := action.Object()
		return effect{}, fmt.Errorf("%s in namespace %s: %w", action, meta.GetNamespace(), err)
	}
	return done, nil
}

func (e *Executor) dispatch(ctx context.Context, action plan.Action) (effect, error) {
	switch a := action.(type) {
	case plan.CreatePod:
		return e.createPod(ctx, a)
	case plan.DeletePod:
		return e.deletePod(ctx, a)
	case plan.CreateClaim:
		return e.create(ctx, a, a.Claim.DeepCopy())
	case plan.CreateRevision:
		return e.createRevision(ctx, a)
	case plan.DeleteRevision:
		return e.deleteRevision(ctx, a)
	case plan.AdoptPod, plan.AdoptRevision, plan.ReleasePod, plan.UpdatePod, plan.UpdateClaimOwner, plan.BumpRevision:
		return e.patch(ctx, action)
	default:
		return effect{}, fmt.Errorf("no way is known to carry out a %T", action)
	}
}

func (e *Executor) create(ctx context.Context, action plan.Action, object client.Object) (effect, error) {
	if err := e.writer.Create(ctx, object); err != nil {
		return effect{}, err
	}
	return effect{action: action, object: object}, nil
}

// createPod creates a pod. A pod of that name that is ours already is no
// failure: either the view has yet to show it, or it lost the label by which
// pods are watched and gets it back here.
func (e *Executor) createPod(ctx context.Context, a plan.CreatePod) (effect, error) {
	done, refusal := e.create(ctx, a, a.Pod.DeepCopy())
	if !apierrors.IsAlreadyExists(refusal) {
		return done, refusal
	}
	existing := &corev1.Pod{}
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(a.Pod), existing); err != nil {
		return effect{}, fmt.Errorf("read the pod that has the name: %w", err)
	}
	if !haveSameController(existing, a.Pod) {
		return effect{}, nameTaken{pod: existing.Name}
	}
	lost := lostIdentity(existing, a.Pod)
	if len(lost) == 0 {
		return effect{object: existing}, nil
	}
	why := plan.Because(plan.IdentityDrifted, "it belongs to the set but lost its identity labels")
	return e.patch(ctx, plan.UpdatePod{Pod: existing, Labels: lost, Reason: why})
}

// nameTaken is why a pod could not be created: a pod of somebody else has its
// name. The API server only says "already exists", which may mean as little as a
// view that lags; this is a refusal, which lasts until somebody steps in.
type nameTaken struct{ pod string }

func (e nameTaken) Error() string {
	return "pod " + e.pod + " exists and does not belong to this set: delete or rename it"
}

// Status makes the error an answer of the API server like any other refusal.
func (e nameTaken) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: e.Error()}
}

// lostIdentity returns the identity labels that a pod should have and has not.
func lostIdentity(pod, wanted *corev1.Pod) map[string]string {
	lost := map[string]string{}
	for _, key := range []string{v1.PodNameLabel, v1.PodIndexLabel} {
		if value := wanted.Labels[key]; pod.Labels[key] != value {
			lost[key] = value
		}
	}
	return lost
}

// createRevision creates a revision. One of that name that is ours and has the
// same data is the very one, written before and not yet observed.
func (e *Executor) createRevision(ctx context.Context, a plan.CreateRevision) (effect, error) {
	done, refusal := e.create(ctx, a, a.Revision.DeepCopy())
	if !apierrors.IsAlreadyExists(refusal) {
		return done, refusal
	}
	existing := &appsv1.ControllerRevision{}
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(a.Revision), existing); err != nil {
		return effect{}, fmt.Errorf("read the revision that has the name: %w", err)
	}
	if !haveSameController(existing, a.Revision) || !bytes.Equal(existing.Data.Raw, a.Revision.Data.Raw) {
		return effect{}, refusal
	}
	return effect{object: existing}, nil
}

func haveSameController(a, b metav1.Object) bool {
	one, other := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	return one != nil && other != nil && one.UID == other.UID
}

// deletePod deletes exactly the pod observed. That it is gone, or that another
// has its name, is success. With IfUnchanged a newer version of it is a failure.
func (e *Executor) deletePod(ctx context.Context, a plan.DeletePod) (effect, error) {
	conditions := client.Preconditions{UID: &a.Pod.UID}
	if a.IfUnchanged {
		conditions.ResourceVersion = &a.Pod.ResourceVersion
	}
	err := e.writer.Delete(ctx, blankPod(a.Pod), conditions)
	if apierrors.IsConflict(err) {
		err = e.orGone(ctx, a.Pod, err)
	}
	switch {
	case apierrors.IsNotFound(err):
		return effect{object: a.Pod, isDelete: true}, nil
	case err != nil:
		return effect{}, err
	}
	return effect{action: a, object: a.Pod, isDelete: true}, nil
}

// orGone returns "not found" if the pod is gone, and the conflict if it is not:
// a conflict alone does not say which precondition failed.
func (e *Executor) orGone(ctx context.Context, pod *corev1.Pod, conflict error) error {
	current := &corev1.Pod{}
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(pod), current); err != nil {
		return err
	}
	if current.UID != pod.UID {
		return apierrors.NewNotFound(corev1.Resource("pods"), pod.Name)
	}
	return conflict
}

// deleteRevision deletes exactly the revision observed.
func (e *Executor) deleteRevision(ctx context.Context, a plan.DeleteRevision) (effect, error) {
	named := &appsv1.ControllerRevision{ObjectMeta: identityOf(a.Revision)}
	err := e.writer.Delete(ctx, named, client.Preconditions{UID: &a.Revision.UID})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return effect{object: a.Revision, isDelete: true}, nil
	case err != nil:
		return effect{}, err
	}
	return effect{action: a, object: a.Revision, isDelete: true}, nil
}

// identityOf returns the part of an object's metadata that names it.
func identityOf(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func blankPod(pod *corev1.Pod) *corev1.Pod { return &corev1.Pod{ObjectMeta: identityOf(pod)} }

// patch carries out an action that changes part of an object. Observed objects
// are stripped, so the patch holds the change and nothing else, and the UID of
// the object it is meant for.
func (e *Executor) patch(ctx context.Context, action plan.Action) (effect, error) {
	change, err := changeFor(action)
	if err != nil {
		return effect{}, err
	}
	err = e.writer.Patch(ctx, change.object, client.RawPatch(change.kind, change.data))
	if isForAnother(err) {
		return effect{}, apierrors.NewConflict(change.resource, change.object.GetName(), errors.New("another object has the name by now"))
	}
	if _, isRelease := action.(plan.ReleasePod); isRelease && apierrors.IsNotFound(err) {
		return effect{}, nil
	}
	if err != nil {
		return effect{}, err
	}
	return effect{action: action, object: change.object}, nil
}

// isForAnother tells whether a patch was refused because of the UID it names.
// The API server calls that an attempt to change the UID, thus invalid; it is a
// conflict, and the next observation resolves it.
func isForAnother(err error) bool {
	var answer apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &answer) || answer.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(answer.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == "metadata.uid"
	})
}
