package endurance

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// leaseDuration is how long a standby would have to wait for a leader that is gone without a word.
const leaseDuration = 15 * time.Second

// TestStandbyTakesOver runs two operators of which one leads. When that one is told to end, it releases its lease, and
// the other acts at once instead of waiting for the lease to lapse.
func TestStandbyTakesOver(t *testing.T) {
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	if err := scenario.GrantLeases(story.Space); err != nil {
		t.Fatal(err)
	}
	elected := []string{"--leader-elect", "--leader-elect-namespace=" + story.Name}
	leader := process.Start(t, story.Space, elected...)
	story.Create(scenario.Replicas(1))
	story.ThenUpdated(1)
	first := awaitHolder(t, story, "")

	process.Start(t, story.Space, elected...)
	leader.Terminate()
	released := time.Now()
	awaitHolder(t, story, first)
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(1)
	if took := time.Since(released); took > leaseDuration {
		t.Errorf("the standby took over after %s, as if it had waited for the lease to lapse", took)
	}
}

// awaitHolder waits until somebody else than the one given holds the lease, and returns who.
func awaitHolder(t *testing.T, story *scenario.Story, other string) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	story.Eventually(t, "the lease has a holder", func(ctx context.Context) error {
		if err := story.Client.Get(ctx, client.ObjectKey{Namespace: story.Name, Name: "rollcall-controller"}, lease); err != nil {
			return err
		}
		if holder := lease.Spec.HolderIdentity; holder == nil || *holder == "" || *holder == other {
			return errors.New("it has none, or the old one")
		}
		return nil
	})
	return *lease.Spec.HolderIdentity
}
