package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// says waits until both Ready and Progressing contain a text.
func says(story *scenario.Story, text string) {
	story.Then("the conditions say "+text, func(set *v1.StatefulSet) error {
		for _, kind := range []string{v1.ConditionReady, v1.ConditionProgressing} {
			condition := meta.FindStatusCondition(set.Status.Conditions, kind)
			if condition == nil || !strings.Contains(condition.Message, text) {
				return fmt.Errorf("%s is %+v", kind, condition)
			}
		}
		return nil
	})
}

func needsCPU(amount string) scenario.Edit {
	return func(set *v1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
}

// Conditions name the pod that an update waits for and what kubelet and scheduler say of it.
func TestConditionsSayWhatIsWrongWithAPod(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit scenario.Edit
		want string
	}{
		"no such image": {
			scenario.Image("web:2-image-pull-backoff"),
			"waiting for pod web-1, which is pending (ImagePullBackOff: container web, image web:2-image-pull-backoff)",
		},
		"crash loop": {
			scenario.Image("web:2-crash-loop"),
			"waiting for pod web-1, which is running but not ready (CrashLoopBackOff: container web, exit code 1)",
		},
		"never ready": {scenario.Image("web:2-never-ready"), "waiting for pod web-1, which is running but not ready"},
		"no room":     {needsCPU("1000"), "waiting for pod web-1, which is pending (Unschedulable: 0/"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story := given(t, scenario.Replicas(2))
			story.When(test.edit)
			says(story, test.want)
		})
	}
}

// A pod that hangs in termination is named with its node.
func TestConditionsNameTheNodeOfAPodThatHangs(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(2), scenario.Image("web:1-stop-never"))
	node := story.Pod(1).Spec.NodeName
	story.When(scenario.Image("web:2"), scenario.Partition(1))
	says(story, "waiting for pod web-1, which is terminating on node "+node)
	story.DeletePod(1, client.GracePeriodSeconds(0))
	story.ThenPods("web-0 r1", "web-1 r2")
	story.ThenReady(2)
}

// A crash loop is told once: its restarts write no status.
func TestCrashLoopIsQuiet(t *testing.T) {
	t.Parallel()
	story := given(t, scenario.Replicas(1))
	story.When(scenario.Image("web:2-crash-loop"))
	says(story, "CrashLoopBackOff")
	story.ThenSettled()
	before, restarts := story.Set().ResourceVersion, restartsOf(story.Pod(0))
	story.ThenPod(0, "restarted", func(pod *corev1.Pod) error {
		if restartsOf(pod) == restarts {
			return fmt.Errorf("%d restarts", restarts)
		}
		return nil
	})
	story.ThenSettled()
	if after := story.Set().ResourceVersion; after != before {
		t.Errorf("the set was written because a container restarted: version %s, then %s", before, after)
	}
}

func restartsOf(pod *corev1.Pod) int32 { return pod.Status.ContainerStatuses[0].RestartCount }
