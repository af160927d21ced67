package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// What becomes of claims, for each of the four retention policies: while all is up, after a scale-down from 2 to 1, and
// after the set is deleted.
func TestRetentionPolicies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		whenDeleted, whenScaled         v1.RetentionPolicyType
		wantUp, wantScaled, wantDeleted []string
	}{
		"keep all": {
			v1.Retain, v1.Retain,
			[]string{"data-web-0", "data-web-1"},
			[]string{"data-web-0", "data-web-1"},
			[]string{"data-web-0", "data-web-1"},
		},
		"delete when scaled": {
			v1.Retain, v1.Delete,
			[]string{"data-web-0", "data-web-1"},
			[]string{"data-web-0"},
			[]string{"data-web-0"},
		},
		"delete when deleted": {
			v1.Delete, v1.Retain,
			[]string{"data-web-0 of StatefulSet", "data-web-1 of StatefulSet"},
			[]string{"data-web-0 of StatefulSet", "data-web-1 of StatefulSet"},
			nil,
		},
		"delete always": {
			v1.Delete, v1.Delete,
			[]string{"data-web-0 of StatefulSet", "data-web-1 of StatefulSet"},
			[]string{"data-web-0 of StatefulSet"},
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := given(t, scenario.Replicas(2), scenario.Claims("data"), scenario.Retention(test.whenDeleted, test.whenScaled))
			story.ThenClaims(test.wantUp...)
			story.Scale(1)
			story.ThenReady(1)
			story.ThenClaims(test.wantScaled...)
			story.Delete(metav1.DeletePropagationBackground)
			story.ThenGone()
			story.ThenPods()
			story.ThenClaims(test.wantDeleted...)
		})
	}
}

// A change of policy reaches the claims that are there.
func TestRetentionPolicyChanges(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1), scenario.Claims("data"))
	story.When(scenario.Retention(v1.Delete, v1.Retain))
	story.ThenClaims("data-web-0 of StatefulSet")
	story.When(scenario.Retention(v1.Retain, v1.Retain))
	story.ThenClaims("data-web-0")
}

// Claims stay with their ordinal: a new pod finds the data of the one before it.
func TestClaimsOutliveTheirPods(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(2), scenario.Claims("data", "log"))
	before := claimUID(t, story, "data-web-1")
	story.When(scenario.Image("web:2"))
	story.ThenUpdated(2)
	story.Scale(0)
	story.ThenPods()
	story.Scale(2)
	story.ThenReady(2)
	story.ThenClaims("data-web-0", "data-web-1", "log-web-0", "log-web-1")
	if after := claimUID(t, story, "data-web-1"); after != before {
		t.Errorf("claim data-web-1 was replaced: UID %s, was %s", after, before)
	}
}

// A claim that is on its way out is waited for: no pod is created on it.
func TestNoPodOnTerminatingClaim(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1), scenario.Claims("data"))
	before := claimUID(t, story, "data-web-0")
	story.DeleteClaim("data-web-0") // it is protected for as long as the pod uses it
	story.DeletePod(0)
	story.ThenTape("create web-0 r1", "delete web-0", "create web-0 r1")
	story.ThenReady(1)
	if after := claimUID(t, story, "data-web-0"); after == before {
		t.Errorf("the pod was created on the claim that was being deleted")
	}
}

// A claim put in place by a user, without any label, is used.
func TestClaimPutInPlace(t *testing.T) {
	t.Parallel()
	story := scenario.Prepare(t, scenario.Rollcall)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "data-web-0"}}
	template := &v1.StatefulSet{}
	scenario.Claims("data")(template)
	claim.Spec = template.Spec.VolumeClaimTemplates[0].Spec
	create(t, story.Space, claim)
	story.Create(scenario.Claims("data"))
	story.ThenReady(1)
	if uid := claimUID(t, story, "data-web-0"); uid != claim.UID {
		t.Errorf("claim data-web-0 has UID %s, want that of the claim put in place, %s", uid, claim.UID)
	}
}

func claimUID(t *testing.T, story *scenario.Story, name string) types.UID {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{}
	if err := story.Client.Get(story.Context, client.ObjectKey{Namespace: story.Name, Name: name}, claim); err != nil {
		t.Fatalf("reading claim %s: %v", name, err)
	}
	return claim.UID
}
