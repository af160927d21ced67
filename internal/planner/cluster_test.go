package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/internal/planner"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

// tick is how much time passes between two rounds.
const tick = 5 * time.Second

// cluster plays API server and nodes around Compute. Pods take one round to
// start and one to stop; those of a revision in broken never get ready.
type cluster struct {
	t         rapid.TB
	set       *v1.StatefulSet
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions []*appsv1.ControllerRevision
	now       time.Time
	broken    string
	stuck     map[string]bool
	// crashAfter is after how many writes the controller dies, once; negative
	// for never.
	crashAfter int
	// down are the ordinals that an update took down while they served, until
	// they serve again.
	down  map[int]bool
	uids  int
	trace strings.Builder
	// onlooker is told what happens, if there is one.
	onlooker onlooker
}

// onlooker is somebody who looks at the set only, as tools do.
type onlooker interface {
	// edited: the spec has just been changed.
	edited()
	// written: the status is that of an observation in which the set was done or not.
	written(p plan.Plan, wasDone bool)
	// rested: nothing will happen any more by itself.
	rested()
}

type nobody struct{}

func (nobody) edited()                 {}
func (nobody) written(plan.Plan, bool) {}
func (nobody) rested()                 {}

func newCluster(t rapid.TB, set *v1.StatefulSet) *cluster {
	return &cluster{
		t: t, set: set, now: testkit.Now,
		pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{},
		stuck: map[string]bool{}, crashAfter: -1, down: map[int]bool{}, onlooker: nobody{},
	}
}

// edit changes the spec as a user would.
func (c *cluster) edit(note string, change func(spec *v1.StatefulSetSpec)) {
	fmt.Fprintf(&c.trace, "\n## %s\n", note)
	change(&c.set.Spec)
	c.set.Generation++
	c.onlooker.edited()
}

func template(letter string) func(*v1.StatefulSetSpec) {
	return func(spec *v1.StatefulSetSpec) { spec.Template.Spec.Containers[0].Image = letter }
}

func replicas(n int32) func(*v1.StatefulSetSpec) {
	return func(spec *v1.StatefulSetSpec) { spec.Replicas = &n }
}

// settle runs rounds until nothing happens any more, and fails if that never is.
func (c *cluster) settle() {
	c.t.Helper()
	for range 200 {
		if !c.round() {
			c.onlooker.rested()
			return
		}
	}
	c.t.Fatalf("still not at rest:\n%s", c.trace.String())
}

// rounds runs some rounds, for edits in mid-flight.
func (c *cluster) rounds(n int) {
	for range n {
		c.round()
	}
}

// round is one decision, its execution, and the nodes' answer. It tells whether
// anything happened.
func (c *cluster) round() bool {
	c.t.Helper()
	before, wasDone := c.describe(), c.isDone()
	p := c.compute()
	actions := 0
	if !p.IsEmpty() || planner.StatusChanged(c.set, p.Status) {
		fmt.Fprintf(&c.trace, "%7s  %s\n", "+"+c.now.Sub(testkit.Now).String(), before)
	}
	for _, event := range p.Events {
		fmt.Fprintf(&c.trace, "         event %s: %s\n", event.Reason, c.readable(event.Message))
	}
	for action := range p.Actions() {
		if actions == c.crashAfter {
			fmt.Fprintf(&c.trace, "         the controller dies\n")
			c.crashAfter = -1
			return true
		}
		fmt.Fprintf(&c.trace, "         %s (%s)\n", c.readable(action.String()), c.readable(action.Why().String()))
		c.apply(action)
		actions++
	}
	isNews := c.writeStatus(p)
	c.onlooker.written(p, wasDone)
	hasMoved := c.runNodes()
	return c.passTime(p, actions > 0 || isNews || hasMoved)
}

// compute decides, with the live reads that the plan asks for.
func (c *cluster) compute() plan.Plan {
	c.t.Helper()
	o := plan.Observation{
		Set: c.set.DeepCopy(), Claims: c.claims, Revisions: c.revisions, Now: c.now, Gates: plan.AllGates(),
	}
	for _, pod := range c.pods {
		o.Pods = append(o.Pods, pod.DeepCopy())
	}
	testkit.ByOrdinal(o.Pods)
	for range 3 {
		p := planner.Compute(o)
		if !p.NeedsLiveRead.Any() {
			return p
		}
		o.Live.Set = o.Live.Set || p.NeedsLiveRead.Set
		o.Live.Pods = o.Live.Pods || p.NeedsLiveRead.Pods
		if p.NeedsLiveRead.Templates {
			o = withTemplates(c.t, o)
		}
	}
	c.t.Fatal("the planner asks for live reads without end")
	return plan.Plan{}
}

// apply does to the cluster what the API server would.
func (c *cluster) apply(action plan.Action) {
	c.t.Helper()
	switch a := action.(type) {
	case plan.CreatePod:
		if c.pods[a.Pod.Name] != nil {
			c.t.Fatalf("pod %s is created twice:\n%s", a.Pod.Name, c.trace.String())
		}
		pod := a.Pod.DeepCopy()
		pod.UID, pod.CreationTimestamp = c.uid(), metav1.NewTime(c.now)
		testkit.SetState(pod, "pending", c.now)
		c.pods[pod.Name] = pod
	case plan.DeletePod:
		c.down[a.Ordinal] = c.down[a.Ordinal] || a.Reason.Code == plan.Outdated
		c.pods[a.Pod.Name].DeletionTimestamp = &metav1.Time{Time: c.now}
	case plan.CreateClaim:
		claim := a.Claim.DeepCopy()
		claim.UID = c.uid()
		c.claims[claim.Name] = claim
	case plan.UpdateClaimOwner:
		claim := a.Claim.DeepCopy()
		claim.OwnerReferences = a.Owners
		c.claims[claim.Name] = claim
	case plan.CreateRevision:
		created := a.Revision.DeepCopy()
		created.UID, created.CreationTimestamp = c.uid(), metav1.NewTime(c.now)
		c.revisions = append(c.revisions, created)
	case plan.BumpRevision:
		c.replaceRevision(a.Revision.Name, a.Number)
	case plan.DeleteRevision:
		c.revisions = slices.DeleteFunc(c.revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == a.Revision.Name })
	default:
		c.t.Fatalf("the cluster does not know how to %s", action)
	}
}

func (c *cluster) replaceRevision(name string, number int64) {
	for i, revision := range c.revisions {
		if revision.Name == name {
			c.revisions[i] = revision.DeepCopy()
			c.revisions[i].Revision = number
		}
	}
}

func (c *cluster) uid() types.UID {
	c.uids++
	return types.UID(fmt.Sprintf("uid-%d", c.uids))
}

// writeStatus stores the status and notes what a user would notice.
func (c *cluster) writeStatus(p plan.Plan) bool {
	if !planner.StatusChanged(c.set, p.Status) {
		return false
	}
	before := c.set.Status
	c.set.Status = *p.Status.DeepCopy()
	if before.CurrentRevision != p.Status.CurrentRevision && before.CurrentRevision != "" {
		fmt.Fprintf(&c.trace, "         currentRevision is %s now\n", c.readable(p.Status.CurrentRevision))
	}
	for _, condition := range p.Status.Conditions {
		old := meta.FindStatusCondition(before.Conditions, condition.Type)
		isWordy := condition.Type == v1.ConditionProgressing || condition.Type == v1.ConditionReady || condition.Type == v1.ConditionStalled
		if isWordy && (old == nil || old.Status != condition.Status || old.Reason != condition.Reason) {
			fmt.Fprintf(&c.trace, "         %s=%s %s: %s\n", condition.Type, condition.Status, condition.Reason, c.readable(condition.Message))
		}
	}
	return true
}

// runNodes starts and removes pods, each a round after it was told to, and
// collects the claims of pods that are gone. It tells whether anything moves.
func (c *cluster) runNodes() bool {
	moves := false
	for name, pod := range c.pods {
		since, act := c.nextMove(pod)
		if act == nil || c.stuck[name] {
			continue
		}
		moves = true
		if since.Before(c.now) {
			act()
		}
	}
	return moves
}

// nextMove returns what a node has to do about a pod, and since when.
func (c *cluster) nextMove(pod *corev1.Pod) (since time.Time, act func()) {
	switch {
	case pod.DeletionTimestamp != nil:
		return pod.DeletionTimestamp.Time, func() {
			delete(c.pods, pod.Name)
			c.collect(pod.UID)
		}
	case pod.Status.Phase == corev1.PodPending:
		state := "ready"
		if strings.Contains(c.broken, pod.Spec.Containers[0].Image) {
			state = "crashing"
		}
		return pod.CreationTimestamp.Time, func() { testkit.SetState(pod, state, c.now) }
	default:
		return time.Time{}, nil
	}
}

func (c *cluster) collect(owner types.UID) {
	for name, claim := range c.claims {
		if slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == owner }) {
			delete(c.claims, name)
		}
	}
}

// passTime moves the clock on: by a tick after a round in which something
// happened, else to the plan's wake-up. It tells whether there is a next round.
func (c *cluster) passTime(p plan.Plan, happened bool) bool {
	if happened {
		c.now = c.now.Add(tick)
		return true
	}
	if p.WakeAt.IsZero() {
		return false
	}
	c.now = p.WakeAt
	return true
}

// isDone tells whether the set is what its spec asks for: every slot available,
// at the template's revision unless the spec holds it back, and nothing else.
func (c *cluster) isDone() bool {
	slots, spec := ordinal.RangeOf(c.set), &c.set.Spec
	minReady := time.Duration(spec.MinReadySeconds) * time.Second
	for number := slots.Start; number < slots.End(); number++ {
		pod := c.pods[ordinal.PodName(c.set.Name, number)]
		if !podstate.Classify(pod, minReady, c.now).IsAvailable() {
			return false
		}
		isLatest := pod.Spec.Containers[0].Image == spec.Template.Spec.Containers[0].Image
		if !isLatest && !c.isHeldBack(number-slots.Start) {
			return false
		}
	}
	return len(c.pods) == slots.Count
}

// isHeldBack tells whether the spec keeps updates from the slot of an index.
func (c *cluster) isHeldBack(index int) bool {
	strategy := c.set.Spec.UpdateStrategy
	for _, tuning := range []*v1.RollingUpdate{strategy.RollingUpdate, strategy.EnforcedRollingUpdate} {
		if tuning != nil && tuning.Partition != nil && index < int(*tuning.Partition) {
			return true
		}
	}
	return c.set.Spec.Paused || strategy.Type == v1.OnDeleteStrategy
}

// describe writes the pods in the fleet notation.
func (c *cluster) describe() string {
	r := ordinal.RangeOf(c.set)
	var words []string
	numbers := map[int]bool{}
	for i := r.Start; i < r.End(); i++ {
		numbers[i] = true
	}
	for name := range c.pods {
		if number, ok := ordinal.Parse(c.set.Name, name); ok {
			numbers[number] = true
		}
	}
	for number := range numbers {
		words = append(words, c.describeSlot(number))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (c *cluster) describeSlot(number int) string {
	pod := c.pods[ordinal.PodName(c.set.Name, number)]
	if pod == nil {
		return fmt.Sprintf("%d:-", number)
	}
	class := podstate.Classify(pod, time.Duration(c.set.Spec.MinReadySeconds)*time.Second, c.now).Class
	return fmt.Sprintf("%d:%s/%s", number, pod.Spec.Containers[0].Image, class)
}

// readable puts letters in place of the names of revisions.
func (c *cluster) readable(text string) string {
	return testkit.Letters(c.set, text, "abcdx")
}
