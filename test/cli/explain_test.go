package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// predicament is a set that does not progress, and what has to be said of it.
type predicament struct {
	given []scenario.Edit
	// prepare makes the namespace hostile before the set is created.
	prepare func(t *testing.T, story *scenario.Story)
	// when is what happens to the set once it runs; nil if it never does.
	when  func(story *scenario.Story)
	state explain.State
	code  explain.Code
	// texts are parts of the answer for people.
	texts []string
}

var predicaments = map[string]predicament{
	"bad image": {
		when:  func(story *scenario.Story) { story.When(scenario.Image("web:2-image-pull-backoff")) },
		state: explain.Stuck, code: explain.ImagePull,
		texts: []string{"pod web-2 cannot get the image web:2-image-pull-backoff of container web", "kubectl rollcall -n NS undo web", "kubectl -n NS delete pod web-2"},
	},
	"bad image with a timeout": {
		given: []scenario.Edit{scenario.ProgressTimeout(3600)},
		when:  func(story *scenario.Story) { story.When(scenario.Image("web:2-image-pull-backoff")) },
		state: explain.Waiting, code: explain.ImagePull, texts: []string{"to be replaced at", "podProgressTimeoutSeconds"},
	},
	"crash loop": {
		when:  func(story *scenario.Story) { story.When(scenario.Image("web:2-crash-loop")) },
		state: explain.Stuck, code: explain.CrashLoop, texts: []string{"exit code 1", "kubectl -n NS logs web-2 -c web --previous"},
	},
	"safety halt": {
		given: []scenario.Edit{scenario.Strategy(v1.EnforcedRollingUpdateStrategy)},
		when:  func(story *scenario.Story) { story.When(scenario.Image("web:2-crash-loop")) },
		state: explain.Stuck, code: explain.CrashLoop, texts: []string{"safety halt", "kubectl rollcall -n NS undo web"},
	},
	"unschedulable": {
		when: func(story *scenario.Story) {
			story.When(func(set *v1.StatefulSet) {
				set.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5000")}
			})
		},
		state: explain.Stuck, code: explain.Unschedulable, texts: []string{"Insufficient cpu", "it asks for cpu 5k (container web)"},
	},
	"quota":        {prepare: quota, state: explain.Stuck, code: explain.Quota, texts: []string{"exceeded quota: few", "kubectl -n NS describe resourcequota"}},
	"pod security": {prepare: restrict, state: explain.Stuck, code: explain.PodSecurity, texts: []string{"allowPrivilegeEscalation"}},
	"claim without a class": {
		given: []scenario.Edit{scenario.Claims("data"), func(set *v1.StatefulSet) {
			set.Spec.VolumeClaimTemplates[0].Spec.StorageClassName = new("fast")
		}},
		state: explain.Stuck, code: explain.ClaimUnbound, texts: []string{"claim data-web-0 is not bound", `"fast" not found`},
	},
	"paused": {
		when:  func(story *scenario.Story) { story.When(scenario.Paused(true), scenario.Image("web:2")) },
		state: explain.Held, code: explain.Paused, texts: []string{"kubectl rollcall -n NS resume web"},
	},
	"partition": {
		when:  func(story *scenario.Story) { story.When(scenario.Partition(2), scenario.Image("web:2")) },
		state: explain.Held, code: explain.Partition, texts: []string{"kubectl rollcall -n NS promote web --full"},
	},
	"on delete": {
		given: []scenario.Edit{scenario.Strategy(v1.OnDeleteStrategy)},
		when:  func(story *scenario.Story) { story.When(scenario.Image("web:2")) },
		state: explain.Held, code: explain.OnDelete, texts: []string{"still to be deleted: web-2, web-1, web-0", "kubectl -n NS delete pod web-2"},
	},
	"all is well": {when: func(*scenario.Story) {}, state: explain.Done, texts: []string{"is as asked for: 3 of 3 pods are available."}},
}

// TestExplanations brings sets into trouble on a real control plane and asks why.
func TestExplanations(t *testing.T) {
	for name, tc := range predicaments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := scenario.Prepare(t, scenario.Rollcall)
			if tc.prepare != nil {
				tc.prepare(t, story)
			}
			story.Create(append([]scenario.Edit{scenario.Replicas(3)}, tc.given...)...)
			if tc.when != nil {
				story.ThenUpdated(3)
				tc.when(story)
			}
			u := newUser(t, story.Space)
			awaitAnswer(t, story, u, tc)
			text := u.must("explain", "rsts/web")
			for _, want := range tc.texts {
				if want = strings.ReplaceAll(want, "NS", story.Name); !strings.Contains(text, want) {
					t.Errorf("the answer lacks %q:\n%s", want, text)
				}
			}
		})
	}
}

// awaitAnswer asks until the answer has the state and the first cause that it should have: things have to go wrong first.
func awaitAnswer(t *testing.T, story *scenario.Story, u *user, tc predicament) {
	t.Helper()
	story.Eventually(t, "the explanation is right", func(context.Context) error {
		var answer explain.Answer
		if err := json.Unmarshal([]byte(u.must("explain", "web", "-o", "json")), &answer); err != nil {
			t.Fatalf("the answer is no JSON: %v", err)
		}
		var first explain.Code
		if len(answer.Causes) > 0 {
			first = answer.Causes[0].Code
		}
		if answer.State != tc.state || first != tc.code {
			return fmt.Errorf("state %s because of %q, want %s because of %q", answer.State, first, tc.state, tc.code)
		}
		return nil
	})
}

// quota leaves room for one pod.
func quota(t *testing.T, story *scenario.Story) {
	t.Helper()
	few := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: story.Name, Name: "few"}}
	few.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	if err := story.Client.Create(t.Context(), few); err != nil {
		t.Fatal(err)
	}
	story.Eventually(t, "the quota is in force", func(ctx context.Context) error {
		if err := story.Client.Get(ctx, client.ObjectKeyFromObject(few), few); err != nil {
			return err
		}
		if len(few.Status.Hard) == 0 {
			return errors.New("it has no status yet")
		}
		return nil
	})
}

// restrict gives the namespace the strictest PodSecurity level.
func restrict(t *testing.T, story *scenario.Story) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: story.Name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
	if err := story.Client.Patch(t.Context(), namespace, patch); err != nil {
		t.Fatal(err)
	}
}
