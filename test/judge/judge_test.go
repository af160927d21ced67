package judge

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

func unchanged(*appsv1.ControllerRevision) {}

func inRow(set *testkit.SetBuilder) *testkit.SetBuilder { return set.ProgressTimeout(600) }

func enforced(n int32) *testkit.SetBuilder { return web(n).Strategy(v1.EnforcedRollingUpdateStrategy) }

// once replaces the crashing pod of slot 2, as the timeout does.
var once = then(fleet("2:b/crashing"), status(), fleet("2:b/terminating 2:-"))

// guilty are histories that the judge must convict, by the property that they violate.
var guilty = map[string]struct {
	property string
	history  History
}{
	"a pod outside the range":       {"G1 one pod per slot", tell(web(1).Obj(), fleet("0:a/available 1:a/pending"))},
	"a pod of a set that goes":      {"G4 a set that goes is left alone", tell(web(3).Obj(), three, edit(deleted), fleet("2:a/terminating"))},
	"back at the old revision":      {"G5 the revision follows from the slot", tell(web(3).Obj(), three, edit(template("b")), status(), fleet("2:a/leaving 2:- 2:a/pending"))},
	"a revision that is not there":  {"G5 the revision follows from the slot", tell(web(3).Obj(), three, edit(template("c")), fleet("2:a/leaving 2:- 2:c/pending"))},
	"out of order":                  {"R2 pods come up in order", tell(web(2).Obj(), fleet("0:a/pending 1:a/pending"))},
	"revisions mixed":               {"C1 Recreate never mixes revisions", tell(web(2).Strategy(v1.RecreateStrategy).Obj(), fleet("0:a/available 1:a/available"), edit(template("b")), fleet("1:a/leaving 0:a/leaving 1:- 1:b/pending"))},
	"no claim":                      {"V1 no pod on a claim that goes", tell(web(1).Claims("data").Obj(), fleet("0:a/pending"))},
	"a claim that goes":             {"V1 no pod on a claim that goes", tell(web(1).Claims("data").Obj(), claims(toPod, 0), claims(going, 0), fleet("0:a/pending"))},
	"two down with a budget of one": {"G7 the budget holds", tell(web(3).Parallel().Obj(), three, edit(template("b")), fleet("2:a/leaving 1:a/leaving"))},
	"one down that nobody took":     {"G7 available pods are spared while the budget is spent", tell(web(3).Parallel().Obj(), three, fleet("0:a/unready"), edit(template("b")), fleet("2:a/leaving"))},
	"ready is not available":        {"G7 the budget holds", tell(web(3).Parallel().MinReady(60).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:- 2:b/ready 1:a/leaving"))},
	"below the partition":           {"R1 the partition holds", tell(web(3).Partition(2).Obj(), three, edit(template("b")), fleet("1:a/leaving"))},
	"scaled down from the middle":   {"R2 pods are scaled down from the top", tell(web(3).Obj(), three, edit(replicas(1)), fleet("1:a/leaving"))},
	"scaled down two at a time":     {"R2 pods are scaled down from the top", tell(web(3).Obj(), three, edit(replicas(1)), fleet("2:a/leaving 1:a/leaving"))},
	"an update that does not wait":  {"R3 ordered updates wait for all", tell(web(3).Obj(), three, fleet("0:a/unready"), edit(template("b")), fleet("2:a/leaving"))},
	"an update from below":          {"R3 ordered updates wait for all", tell(web(3).Obj(), three, edit(template("b")), fleet("1:a/leaving"))},
	"a batch in two plans":          {"R3 ordered updates wait for all", tell(web(3).MaxUnavailable("2").Obj(), three, edit(template("b")), fleet("2:a/leaving"), status(), fleet("1:a/leaving"))},
	"an update before scaling":      {"R3 ordered updates wait for all", tell(web(3).Obj(), three, edit(replicas(2)), edit(template("b")), status(), fleet("1:a/leaving"))},
	"no safety halt":                {"F2 the safety halt holds", tell(enforced(3).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:- 2:b/crashing"), status(), fleet("1:a/leaving"))},
	"an updated pod":                {"F3 what is updated is kept", tell(enforced(3).Obj(), three, fleet("2:a/leaving"))},
	"a pod that was ready":          {"P1 the timeout spares what was ready", tell(inRow(web(3)).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:- 2:b/ready 2:b/unready 2:b/terminating"))},
	"a fourth time":                 {"P2 the timeout is bounded", tell(inRow(web(3)).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:-"), once, once, once, once)},
	"too early":                     {"P2 the timeout is bounded", tell(web(3).ProgressTimeout(3600).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:-"), once)},
	"OnDelete deletes":              {"O1 OnDelete deletes nothing", tell(web(3).Strategy(v1.OnDeleteStrategy).Obj(), three, edit(template("b")), fleet("2:a/leaving"))},
	"paused":                        {"A1 paused means no update", tell(web(3).Obj(), three, edit(template("b")), edit(paused), status(), fleet("2:a/leaving"))},
	"more available than ready":     {"G9 the status is in order", tell(web(3).Obj(), status(func(s *v1.StatefulSetStatus) { s.Replicas, s.AvailableReplicas = 3, 1 }))},
	"a generation unseen":           {"G9 the status is in order", tell(web(3).Obj(), edit(replicas(2)), status(), status(func(s *v1.StatefulSetStatus) { s.ObservedGeneration = 1 }))},
	"complete too early": {"G9 an update is complete when all is available", tell(web(3).Obj(), three, edit(template("b")), func(tl *tale) {
		status(func(s *v1.StatefulSetStatus) { s.CurrentRevision = testkit.RevisionName(tl.set, "b") })(tl)
	})},
	"a claim lost":          {"V1 claims are kept", tell(web(1).Claims("data").Obj(), claims(asBorn, 0), claims(going, 0))},
	"a claim given away":    {"V1 claims belong to whom the policy says", tell(web(1).Claims("data").Obj(), claims(asBorn, 0), claims(toPod, 0))},
	"a live revision":       {"H1 live revisions stay", tell(web(1).Obj(), fleet("0:a/available"), revision("a", true, unchanged))},
	"a number that falls":   {"H1 history is in order", tell(web(1).Obj(), revision("b", false, func(r *appsv1.ControllerRevision) { r.Revision = 0 }))},
	"a number used twice":   {"H1 history is in order", tell(web(1).Obj(), revision("c", false, func(r *appsv1.ControllerRevision) { r.Revision = 2 }))},
	"an act after its spec": {"F3 what is updated is kept", tell(web(3).Obj(), three, edit(replicas(2)), edit(replicas(3)), status(), fleet("2:a/leaving"))},
}

func TestGuilty(t *testing.T) {
	for name, tc := range guilty {
		t.Run(name, func(t *testing.T) {
			verdict := Judge(tc.history)
			if !slices.ContainsFunc(verdict.Violations, func(v Violation) bool { return v.Property == tc.property }) {
				t.Errorf("not convicted of %q:\n%s", tc.property, verdict)
			}
		})
	}
}

// innocent are histories in which all is well.
var innocent = map[string]History{
	"an ordered update":         tell(web(2).Obj(), fleet("0:a/available 1:a/available"), edit(template("b")), fleet("1:a/leaving 1:- 1:b/pending 1:b/available 0:a/leaving 0:- 0:b/pending 0:b/available")),
	"a batch in one plan":       tell(web(3).MaxUnavailable("2").Obj(), three, edit(template("b")), fleet("2:a/leaving 1:a/leaving"), status(), fleet("2:- 1:- 1:b/pending 2:b/pending")),
	"parallel, broken ones":     tell(web(3).Parallel().Obj(), three, fleet("0:a/unready 1:a/unready"), edit(template("b")), fleet("1:a/terminating 0:a/terminating")),
	"enforced, broken ones":     tell(enforced(2).Obj(), fleet("0:a/available 1:a/available 1:a/unready"), edit(template("b")), fleet("1:a/terminating 1:- 1:b/pending")),
	"recreated":                 tell(web(2).Strategy(v1.RecreateStrategy).Obj(), fleet("0:a/available 1:a/available"), edit(template("b")), fleet("1:a/leaving 0:a/leaving 1:- 0:- 0:b/pending")),
	"three timeouts":            tell(inRow(web(3)).Obj(), three, edit(template("b")), fleet("2:a/leaving 2:-"), once, once, once),
	"deleted by a user":         tell(web(3).Strategy(v1.OnDeleteStrategy).Obj(), three, edit(template("b")), byUser("web-2"), fleet("2:a/leaving 2:- 2:b/pending")),
	"scaled down":               tell(web(3).Claims("data").Retention(v1.Retain, v1.Delete).Obj(), claims(asBorn, 0, 1, 2), three, edit(replicas(2)), claims(toPod, 2), fleet("2:a/leaving 2:-"), claims(func(c *corev1.PersistentVolumeClaim) { toPod(c); going(c) }, 2)),
	"a spec not seen yet":       tell(web(3).Obj(), three, edit(replicas(2)), edit(replicas(3)), fleet("2:a/leaving")),
	"two specs that justify it": tell(web(3).MaxUnavailable("2").Obj(), three, edit(template("b")), edit(replicas(2)), fleet("2:a/leaving 1:a/leaving")),
	"a failed pod":              tell(web(1).Obj(), fleet("0:a/available 0:a/failed 0:- 0:a/pending")),
	"complete in the end": tell(web(1).Obj(), fleet("0:a/available"), edit(template("b")), fleet("0:a/leaving 0:- 0:b/available"), func(tl *tale) {
		status(func(s *v1.StatefulSetStatus) { s.CurrentRevision = testkit.RevisionName(tl.set, "b") })(tl)
	}),
	"a revision that nothing runs": tell(web(1).Obj(), fleet("0:a/available"), revision("b", true, unchanged)),
}

func TestInnocent(t *testing.T) {
	for name, history := range innocent {
		t.Run(name, func(t *testing.T) {
			if verdict := Judge(history); len(verdict.Violations) > 0 || verdict.Total() == 0 {
				t.Errorf("the verdict is:\n%s", verdict)
			}
		})
	}
}

// TestClockAhead: what an operator does too early because its clock is ahead is judged by its clock.
func TestClockAhead(t *testing.T) {
	history := guilty["ready is not available"].history
	history.Ahead = time.Minute
	if verdict := Judge(history); len(verdict.Violations) > 0 {
		t.Errorf("the verdict is:\n%s", verdict)
	}
}

// right is a status that is true of n pods at revision a.
func right(n int32) step {
	return func(tl *tale) {
		status(func(s *v1.StatefulSetStatus) {
			s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdateRevision = n, n, n, n, s.CurrentRevision
		})(tl)
	}
}

// restless are ends of histories that the judge must convict, by the property that they violate.
var restless = map[string]struct {
	property string
	history  History
}{
	"a pod is missing":         {"L1 all is as asked for", tell(web(3).Obj(), fleet("0:a/available 1:a/available"), right(3))},
	"a pod is not available":   {"L1 all is as asked for", tell(web(1).Obj(), fleet("0:a/crashing"), right(1))},
	"a pod is outdated":        {"L1 all is as asked for", tell(web(1).Obj(), fleet("0:a/available"), edit(template("b")), right(1))},
	"a pod too many":           {"L1 all is as asked for", tell(web(3).Obj(), three, edit(replicas(2)), right(2))},
	"the status is late":       {"L1 the status says so", tell(web(3).Obj(), three, right(2))},
	"a claim is missing":       {"V1 every slot has its claims", tell(web(2).Claims("data").Obj(), claims(asBorn, 0), fleet("0:a/available 1:a/available"), right(2))},
	"the history has no end":   {"H1 the history is bounded", tell(web(1).HistoryLimit(0).Obj(), fleet("0:a/available"), right(1))},
	"the generation is unseen": {"L1 the status says so", tell(web(1).Obj(), fleet("0:a/available"), right(1), edit(replicas(1)))},
}

func TestAtRest(t *testing.T) {
	for name, tc := range restless {
		t.Run(name, func(t *testing.T) {
			verdict := AtRest(tc.history, testkit.Now)
			if !slices.ContainsFunc(verdict.Violations, func(v Violation) bool { return v.Property == tc.property }) {
				t.Errorf("not convicted of %q:\n%s", tc.property, verdict)
			}
		})
	}
	if verdict := AtRest(tell(web(3).Obj(), three, right(3)), testkit.Now); len(verdict.Violations) > 0 {
		t.Errorf("all is well, and the verdict is:\n%s", verdict)
	}
}

// TestEveryPropertyConvicts: a property that never convicts is none.
func TestEveryPropertyConvicts(t *testing.T) {
	convicted := map[string]bool{}
	for _, tc := range guilty {
		convicted[tc.property] = true
	}
	for _, tc := range restless {
		convicted[tc.property] = true
	}
	for _, name := range slices.Concat(names(ofCreates), names(ofDeletes), names(ofSets), names(ofClaims), names(ofRevisions), names(atRest)) {
		if !convicted[name] {
			t.Errorf("no history is convicted of %q", name)
		}
	}
}

func names[T any](properties []property[T]) (all []string) {
	for _, p := range properties {
		all = append(all, p.name)
	}
	return all
}
