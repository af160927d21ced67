// Package differential compares decisions: the same random states are given to
// our pure planner and to the decision procedure of the built-in StatefulSet
// controller, and what both want to do must be the same, as long as no field is
// set that only we have.
//
// The built-in procedure writes as it decides; here its writes go into a log,
// and none of them changes what it sees.
package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// answer is what the built-in controller makes of a state.
type answer struct {
	// actions are its writes in words of our plans, sorted, each once.
	actions []string
	// owners are the owner references that it gives to claims, by claim.
	owners map[string]string
	status appsv1.StatefulSetStatus
}

// askBuiltIn shows an observation to the built-in controller.
func askBuiltIn(o plan.Observation) (answer, error) {
	set, err := asBuiltIn(o.Set)
	if err != nil {
		return answer{}, err
	}
	world := &world{observation: o, answer: answer{owners: map[string]string{}}}
	control := statefulset.NewDefaultStatefulSetControl(
		statefulset.NewStatefulPodControlFromManager(world, record.NewFakeRecorder(1000)), world, history.NewFakeHistory(revisionsOf(o)))
	var pods []*corev1.Pod
	for _, pod := range o.Pods {
		pods = append(pods, pod.DeepCopy())
	}
	_, err = control.UpdateStatefulSet(context.Background(), set, pods, o.Now)
	slices.Sort(world.actions)
	world.actions = slices.Compact(world.actions)
	return world.answer, err
}

// asBuiltIn reads our set as one of apps/v1, of which it is a superset.
func asBuiltIn(set *v1.StatefulSet) (*appsv1.StatefulSet, error) {
	encoded, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	built := &appsv1.StatefulSet{}
	err = json.Unmarshal(encoded, built)
	built.Status.Conditions = nil
	return built, err
}

// revisionsOf is the history, in an informer that is never started.
func revisionsOf(o plan.Observation) appsinformers.ControllerRevisionInformer {
	revisions := informers.NewSharedInformerFactory(nil, 0).Apps().V1().ControllerRevisions()
	for _, revision := range o.Revisions {
		theirs := revision.DeepCopy()
		theirs.OwnerReferences[0].APIVersion = appsv1.SchemeGroupVersion.String()
		_ = revisions.Informer().GetIndexer().Add(theirs)
	}
	return revisions
}

// world answers the built-in controller's reads from the observation and notes its writes.
type world struct {
	observation plan.Observation

	mu sync.Mutex
	answer
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions = append(w.actions, fmt.Sprintf(format, args...))
}

func (w *world) CreatePod(_ context.Context, pod *corev1.Pod, _ *appsv1.StatefulSet) error {
	w.note("create pod %s at revision %s", pod.Name, pod.Labels[v1.RevisionLabel])
	return nil
}

func (w *world) UpdatePod(pod *corev1.Pod, _ *appsv1.StatefulSet) error {
	w.note("update pod %s", pod.Name)
	return nil
}

func (w *world) DeletePod(pod *corev1.Pod) error {
	w.note("delete pod %s", pod.Name)
	return nil
}

func (w *world) CreateClaim(claim *corev1.PersistentVolumeClaim, _ *appsv1.StatefulSet) error {
	w.note("create claim %s", claim.Name)
	return nil
}

func (w *world) UpdateClaim(claim *corev1.PersistentVolumeClaim, _ *appsv1.StatefulSet) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners[claim.Name] = ownersInWords(claim.OwnerReferences)
	return nil
}

func (w *world) UpdateStatefulSetStatus(_ context.Context, _ *appsv1.StatefulSet, status *appsv1.StatefulSetStatus) error {
	w.status = *status.DeepCopy()
	return nil
}

func (w *world) GetPod(_, name string) (*corev1.Pod, error) {
	for _, pod := range w.observation.Pods {
		if pod.Name == name {
			return pod.DeepCopy(), nil
		}
	}
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
}

func (w *world) GetClaim(_, name string) (*corev1.PersistentVolumeClaim, error) {
	claim := w.observation.Claims[name]
	if claim == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("persistentvolumeclaims"), name)
	}
	theirs := claim.DeepCopy()
	for i := range theirs.OwnerReferences {
		if ref := &theirs.OwnerReferences[i]; ref.APIVersion == v1.GroupVersion.String() {
			ref.APIVersion = appsv1.SchemeGroupVersion.String()
		}
	}
	return theirs, nil
}

// ownersInWords spells owner references out, in the words of apps/v1.
func ownersInWords(references []metav1.OwnerReference) string {
	var words []string
	for _, r := range references {
		version := strings.Replace(r.APIVersion, v1.GroupVersion.String(), appsv1.SchemeGroupVersion.String(), 1)
		words = append(words, fmt.Sprintf("%s/%s/%s/%s/%t", version, r.Kind, r.Name, r.UID, r.Controller != nil && *r.Controller))
	}
	slices.Sort(words)
	return strings.Join(words, ",")
}
