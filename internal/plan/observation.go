package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Observation is everything that a decision about one set may depend on. Two
// equal observations lead to two equal plans.
type Observation struct {
	// Set is the set with its defaults applied.
	Set *v1.StatefulSet

	// Pods are the pods that the set controls, whatever their names, and all
	// other pods that bear the name of one of its pods: orphans, which may be
	// adopted, and pods of other owners, which occupy the name.
	Pods []*corev1.Pod

	// Claims are the claims that the set's slots and pods use, by name. More
	// than those do no harm.
	Claims map[string]*corev1.PersistentVolumeClaim

	// Revisions are the revisions that the set controls, whatever their labels,
	// and all others whose labels match the set's selector, in any order.
	Revisions []*appsv1.ControllerRevision

	// Defaulted are the templates as the API server fills them in. It is read
	// only when Live.Templates is set.
	Defaulted DefaultedTemplates

	// Live says what was read from the API server itself and not from a cache.
	Live LiveReads

	// Now is the one time of the decision.
	Now time.Time

	// Gates are the feature gates of this process.
	Gates Gates
}

// LiveReads names parts of an observation that a cache can't vouch for. An
// Observation says which of them are live, a Plan which of them must be.
type LiveReads struct {
	// Set: the set was read from the API server and still has the UID of the
	// cached one. Needed before anything is adopted.
	Set bool
	// Pods: the pods were listed at the API server. Needed before the Recreate
	// strategy creates its first pod.
	Pods bool
	// Templates: the API server was asked to default the set's template and
	// those of all its revisions. Needed before a new revision is recorded
	// while others exist.
	Templates bool
}

// Any tells whether any live read is named.
func (r LiveReads) Any() bool { return r.Set || r.Pods || r.Templates }

// DefaultedTemplates are templates after the API server's defaulting, by which
// two templates that mean the same compare equal. A template that the API
// server refused to default is left out and compares by its bytes alone.
type DefaultedTemplates struct {
	// Spec is the set's spec.template.
	Spec *corev1.PodTemplateSpec
	// Revisions are the templates of the revisions, by the revision's name.
	Revisions map[string]*corev1.PodTemplateSpec
}

// Gates are the feature gates that decisions depend on. A gate that is off
// makes the controller behave as if the feature had not been asked for.
type Gates struct {
	// MaxUnavailable is MaxUnavailableStatefulSet: off, the budget is 1.
	MaxUnavailable bool
	// Recreate is StatefulSetRecreateStrategy: off, Recreate acts as RollingUpdate.
	Recreate bool
	// EnforcedRollingUpdate is EnforcedRollingUpdateInStatefulSet: off, the
	// strategy acts as RollingUpdate.
	EnforcedRollingUpdate bool
	// ProgressDeadline is StatefulSetProgressDeadline: off, the timeout is ignored.
	ProgressDeadline bool
}

// AllGates returns the gates as they are by default: all on.
func AllGates() Gates {
	return Gates{MaxUnavailable: true, Recreate: true, EnforcedRollingUpdate: true, ProgressDeadline: true}
}
