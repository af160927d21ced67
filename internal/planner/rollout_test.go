package planner_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden traces anew")

// rollout is a story: a set, and what happens to it. The trace of what the
// planner does about it is kept in testdata/rollouts under the story's name.
type rollout struct {
	set   *testkit.SetBuilder
	story func(c *cluster)
}

var rollouts = map[string]rollout{
	"create-ordered": {web(3).Claims("data"), func(*cluster) {}},

	"create-parallel": {web(3).Parallel(), func(*cluster) {}},

	"scale": {web(1).Claims("data").Retention(v1.Retain, v1.Delete), func(c *cluster) {
		c.edit("scale up to 3", replicas(3))
		c.settle()
		c.edit("scale down to 1: claims go with their pods", replicas(1))
		c.settle()
	}},

	"scale-parallel": {web(3).Parallel(), func(c *cluster) {
		c.edit("scale down to 1", replicas(1))
		c.settle()
	}},

	"move-the-start": {web(2), func(c *cluster) {
		c.edit("start at 1 instead of 0", func(spec *v1.StatefulSetSpec) { spec.Ordinals = &v1.Ordinals{Start: 1} })
		c.settle()
	}},

	"update-ordered": {web(3), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
	}},

	"update-ordered-batches": {web(5).MaxUnavailable("2"), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
	}},

	"update-parallel-budget": {web(4).Parallel().MaxUnavailable("50%"), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
	}},

	"update-min-ready": {web(2).MinReady(30), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
	}},

	"canary-and-staged": {web(3).Partition(2), func(c *cluster) {
		c.edit("template b: the canary", template("b"))
		c.settle()
		c.edit("partition 1", func(spec *v1.StatefulSetSpec) { spec.UpdateStrategy.RollingUpdate.Partition = new(int32(1)) })
		c.settle()
		c.edit("partition 0", func(spec *v1.StatefulSetSpec) { spec.UpdateStrategy.RollingUpdate.Partition = new(int32(0)) })
		c.settle()
	}},

	"rollback-in-mid-flight": {web(3), func(c *cluster) {
		c.edit("template b", template("b"))
		c.rounds(5)
		c.edit("back to template a", template("a"))
		c.settle()
	}},

	"roll-forward-in-mid-flight": {web(3), func(c *cluster) {
		c.edit("template b", template("b"))
		c.rounds(5)
		c.edit("on to template c", template("c"))
		c.settle()
	}},

	"broken-update-ordered-stalls": {web(3), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready", template("x"))
		c.settle()
		c.edit("template b, which would: the promised default is to wait", template("b"))
		c.settle()
	}},

	"broken-update-parallel-recovers": {web(3).Parallel(), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready", template("x"))
		c.settle()
		c.edit("template b", template("b"))
		c.settle()
	}},

	"on-delete": {web(2).Strategy(v1.OnDeleteStrategy), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
		for _, name := range []string{"web-0", "web-1"} {
			c.edit("somebody deletes "+name, func(*v1.StatefulSetSpec) { delete(c.pods, name) })
			c.settle()
		}
	}},

	"paused": {web(2), func(c *cluster) {
		c.edit("pause, and template b", func(spec *v1.StatefulSetSpec) {
			spec.Paused = true
			template("b")(spec)
		})
		c.settle()
		c.edit("resume", func(spec *v1.StatefulSetSpec) { spec.Paused = false })
		c.settle()
	}},

	"heal": {web(2), func(c *cluster) {
		c.edit("web-1 is evicted", func(*v1.StatefulSetSpec) {
			testkit.SetState(c.pods["web-1"], "failed", c.now)
			c.pods["web-1"].Status.Reason = "Evicted"
		})
		c.settle()
		c.edit("web-0 is deleted", func(*v1.StatefulSetSpec) { delete(c.pods, "web-0") })
		c.settle()
	}},

	"recreate": {web(3).Strategy(v1.RecreateStrategy), func(c *cluster) {
		c.edit("template b", template("b"))
		c.settle()
	}},

	"recreate-edited-in-mid-flight": {web(3).Parallel().Strategy(v1.RecreateStrategy), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready", template("x"))
		c.settle()
		c.edit("template b", template("b"))
		c.rounds(3)
		c.edit("template c, while pods of b start", template("c"))
		c.settle()
	}},

	"recreate-waits-for-a-lost-node": {web(2).Strategy(v1.RecreateStrategy), func(c *cluster) {
		c.stuck["web-1"] = true
		c.edit("template b, while web-1 is on a node that is lost", template("b"))
		c.settle()
		c.edit("the node comes back", func(*v1.StatefulSetSpec) { c.stuck["web-1"] = false })
		c.settle()
	}},

	"enforced": {web(3).Strategy(v1.EnforcedRollingUpdateStrategy), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready: the highest pod halts it", template("x"))
		c.settle()
		c.edit("template b gets through", template("b"))
		c.settle()
	}},

	"enforced-with-all-pods-broken": {web(3).Strategy(v1.EnforcedRollingUpdateStrategy).MaxUnavailable("2"), func(c *cluster) {
		c.edit("all pods lose their readiness, and template b", func(spec *v1.StatefulSetSpec) {
			for _, pod := range c.pods {
				testkit.SetState(pod, "unready", c.now)
			}
			template("b")(spec)
		})
		c.settle()
	}},

	"timeout": {web(3).ProgressTimeout(60), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready", template("x"))
		c.rounds(5)
		c.edit("template b gets through when the pod of x has had its time", template("b"))
		c.settle()
	}},

	"timeout-halts": {web(2).ProgressTimeout(60), func(c *cluster) {
		c.broken = "x"
		c.edit("template x, which never gets ready", template("x"))
		c.settle()
		c.edit("template b", template("b"))
		c.settle()
	}},
}

func TestRollouts(t *testing.T) {
	for name, r := range rollouts {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, r.set.Obj())
			c.trace.WriteString("## create the set\n")
			c.settle()
			r.story(c)
			compareGolden(t, filepath.Join("testdata", "rollouts", name+".txt"), c.trace.String())
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with: go test ./internal/planner -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("trace of %s (-want +got):\n%s", path, diff)
	}
}
