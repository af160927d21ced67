package simulation

import (
	"errors"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/revision"
)

// Controller is the operator's process, by the rules of internal/observe.
type Controller struct {
	// View is what its informers show, Before what they showed earlier: a
	// relist may go back there.
	View, Before Store
	// Memory is what it knows of its own writes.
	Memory Memory
	// Run is the plan under way; nil if there is none.
	Run *Run
}

// Memory is what the process remembers of its writes. It is lost in a crash.
type Memory struct {
	// Set is the set as answered to the last status write.
	Set *v1.StatefulSet
	// Echoes are writes that the view has yet to show.
	Echoes []Echo
}

// Echo is a write to an object that the view will show.
type Echo struct {
	Object metav1.Object
	Kind   Kind
	// IsDelete: the object was deleted.
	IsDelete bool
}

// Decision is an observation and the plan made from it.
type Decision struct {
	Observation plan.Observation
	Plan        plan.Plan
}

// Why there may be no decision.
var (
	errGone       = errors.New("the set is gone")
	errBehind     = errors.New("the view lags behind the process's own writes")
	errInsatiable = errors.New("live reads do not satisfy the planner")
)

// crash ends the process and starts a new one, which begins with a fresh list.
func (w *World) crash() {
	w.Controller = Controller{View: w.Truth, Before: w.Truth}
}

// observe returns what the process sees, own writes included.
func (w *World) observe() (plan.Observation, error) {
	c := &w.Controller
	if c.View.Set == nil {
		c.Memory = Memory{}
		return plan.Observation{}, errGone
	}
	if c.Memory.Set != nil && c.Memory.Set.UID != c.View.Set.UID {
		c.Memory = Memory{}
	}
	if !w.echoesArrived() {
		return plan.Observation{}, errBehind
	}
	c.Memory.Echoes = nil
	if c.Memory.Set != nil && isAtLeast(c.View.Set, c.Memory.Set) {
		c.Memory.Set = nil
	}
	set := c.View.Set
	if c.Memory.Set != nil {
		set = c.Memory.Set
	}
	return w.gather(set), nil
}

// gather puts an observation of a set together from the view.
func (w *World) gather(set *v1.StatefulSet) plan.Observation {
	view := &w.Controller.View
	o := plan.Observation{Set: set, Now: w.Now, Gates: w.Scenario.gates(), Claims: map[string]*corev1.PersistentVolumeClaim{}}
	for _, pod := range view.Pods {
		if _, isWatched := pod.Labels[v1.PodNameLabel]; isWatched && bearsOn(pod, set) {
			o.Pods = append(o.Pods, pod)
		}
	}
	for _, claim := range view.Claims {
		o.Claims[claim.Name] = claim
	}
	o.Revisions = view.Revisions
	return o
}

// bearsOn tells whether a pod is of interest to a decision about the set.
func bearsOn(pod *corev1.Pod, set *v1.StatefulSet) bool {
	_, hasName := ordinal.Parse(set.Name, pod.Name)
	return hasName || isControlledBy(pod, set.UID)
}

// echoesArrived tells whether the view shows every write, or never will.
func (w *World) echoesArrived() bool {
	for _, echo := range w.Controller.Memory.Echoes {
		if !w.hasArrived(echo) {
			return false
		}
	}
	return true
}

func (w *World) hasArrived(echo Echo) bool {
	viewed := lookUp(&w.Controller.View, echo.Kind, echo.Object.GetName())
	if echo.IsDelete {
		return viewed == nil || viewed.GetUID() != echo.Object.GetUID() || viewed.GetDeletionTimestamp() != nil
	}
	if viewed != nil && isAtLeast(viewed, echo.Object) {
		return true
	}
	// After some patience the API server is asked.
	current := lookUp(&w.Truth, echo.Kind, echo.Object.GetName())
	return current == nil || current.GetUID() != echo.Object.GetUID()
}

// lookUp returns an object by kind and name, or nil.
func lookUp(store *Store, kind Kind, name string) metav1.Object {
	switch kind {
	case Pods:
		if pod := find(store.Pods, name); pod != nil && pod.Labels[v1.PodNameLabel] != "" {
			return pod
		}
	case Claims:
		if claim := find(store.Claims, name); claim != nil {
			return claim
		}
	case Revisions:
		if revision := find(store.Revisions, name); revision != nil {
			return revision
		}
	case Sets:
	}
	return nil
}

func isAtLeast(object, other metav1.Object) bool { return versionOf(object) >= versionOf(other) }

func versionOf(object metav1.Object) int {
	version, _ := strconv.Atoi(object.GetResourceVersion())
	return version
}

// maxRounds is how often a plan may ask for live reads.
const maxRounds = 3

// decide computes a plan from the view, and from live reads where it asks for them.
func (w *World) decide() (*Decision, error) {
	observation, err := w.observe()
	if err != nil {
		return nil, err
	}
	for range maxRounds + 1 {
		todo := planner.Compute(observation)
		if !todo.NeedsLiveRead.Any() {
			return &Decision{Observation: observation, Plan: todo}, nil
		}
		if err := w.complete(&observation, todo.NeedsLiveRead); err != nil {
			return nil, err
		}
	}
	return nil, errInsatiable
}

// foresee notes what the controller decides in this world.
func (w *World) foresee(decision *Decision) { w.foreseen = decision }

// decideOnce spares the computation of a decision that is known.
func (w *World) decideOnce(known *Decision) (*Decision, error) {
	if known == nil {
		return w.decide()
	}
	_, err := w.observe() // forgets what has arrived
	return known, err
}

// complete adds live reads to an observation.
func (w *World) complete(o *plan.Observation, needs plan.LiveReads) error {
	if needs.Set {
		if w.Truth.Set == nil || w.Truth.Set.UID != o.Set.UID {
			return errGone
		}
		o.Set, o.Live.Set = w.Truth.Set, true
	}
	if needs.Pods {
		o.Pods, o.Live.Pods = nil, true
		for _, pod := range w.Truth.Pods {
			if bearsOn(pod, o.Set) {
				o.Pods = append(o.Pods, pod)
			}
		}
	}
	if needs.Templates {
		o.Defaulted, o.Live.Templates = defaultedTemplates(o), true
	}
	return nil
}

// defaultedTemplates are the templates as they are: the model has no defaults.
func defaultedTemplates(o *plan.Observation) plan.DefaultedTemplates {
	defaulted := plan.DefaultedTemplates{Spec: &o.Set.Spec.Template, Revisions: map[string]*corev1.PodTemplateSpec{}}
	for _, recorded := range o.Revisions {
		if template, err := revision.Template(recorded); err == nil {
			defaulted.Revisions[recorded.Name] = template
		}
	}
	return defaulted
}
