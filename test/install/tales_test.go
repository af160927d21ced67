package install

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// tales are roll-outs by every strategy and what else the operator does, told by a set each.
var tales = map[string]func(testing.TB, *scenario.Story){
	"claims, history, rollback": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(3), scenario.Claims("data"), scenario.Retention(v1.Retain, v1.Delete), scenario.HistoryLimit(0))
		s.ThenUpdated(3)
		for _, image := range []string{"web:2", "web:3"} {
			s.When(scenario.Image(image))
			s.ThenUpdated(3)
		}
		s.When(scenario.Image("web:4-never-ready"))
		s.ThenPodBroken(2, "web:4-never-ready")
		s.When(scenario.Image("web:3"), scenario.Replicas(1))
		s.DeletePod(2)
		s.ThenUpdated(1)
		s.ThenClaims("data-web-0")
	},
	"adoption and release": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(2), scenario.Claims("data"))
		s.ThenUpdated(2)
		s.Delete(metav1.DeletePropagationOrphan)
		s.ThenGone()
		s.Create(scenario.Replicas(2), scenario.Claims("data"))
		s.ThenUpdated(2)
		s.Relabel(0, `{"statefulset.kubernetes.io/pod-name":null}`) // no longer watched, and taken for missing
		s.ThenPod(0, "labelled again", func(pod *corev1.Pod) error {
			if pod.Labels[v1.PodNameLabel] == "" {
				return fmt.Errorf("labels are %v", pod.Labels)
			}
			return nil
		})
		s.Relabel(1, `{"app":"other"}`)
		s.ThenPod(1, "released", func(pod *corev1.Pod) error {
			if owner := metav1.GetControllerOf(pod); owner != nil {
				return fmt.Errorf("it is controlled by %s %s", owner.Kind, owner.Name)
			}
			return nil
		})
	},
	"a default, written out": func(t testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(1))
		s.ThenUpdated(1)
		s.When(func(set *v1.StatefulSet) { set.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways })
		s.ThenUpdated(1)
		if n := len(s.Revisions()); n != 1 {
			t.Errorf("%d revisions, want 1: nothing has changed", n)
		}
	},
	"Parallel": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(4), scenario.Parallel(), scenario.MaxUnavailable("50%"))
		s.ThenUpdated(4)
		s.When(scenario.Image("web:2"))
		s.ThenUpdated(4)
	},
	"OnDelete": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(1), scenario.Strategy(v1.OnDeleteStrategy))
		s.ThenUpdated(1)
		s.When(scenario.Image("web:2"))
		s.DeletePod(0)
		s.ThenUpdated(1)
	},
	"Recreate": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(2), scenario.Strategy(v1.RecreateStrategy))
		s.ThenUpdated(2)
		s.When(scenario.Image("web:2"))
		s.ThenUpdated(2)
	},
	"EnforcedRollingUpdate": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(2), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
		s.ThenUpdated(2)
		s.When(scenario.Image("web:2-crash-loop"))
		s.ThenPodBroken(1, "web:2-crash-loop")
		s.When(scenario.Image("web:3"))
		s.ThenUpdated(2)
	},
	"podProgressTimeoutSeconds": func(_ testing.TB, s *scenario.Story) {
		s.Create(scenario.Replicas(2), scenario.ProgressTimeout(2))
		s.ThenUpdated(2)
		s.When(scenario.Image("web:2-never-ready"))
		s.ThenPodBroken(1, "web:2-never-ready")
		s.When(scenario.Image("web:3"))
		s.ThenUpdated(2)
	},
	"a refusal, again and again": func(t testing.TB, s *scenario.Story) {
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "pods"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		if err := s.Client.Create(s.Context, quota); err != nil {
			t.Fatal(err)
		}
		s.Create(scenario.Replicas(1))
		s.ThenEvent("FailedCreate", "exceeded quota")
		s.Eventually(t, "the event is a series", func(context.Context) error {
			for _, event := range s.Events("FailedCreate") {
				if event.Series != nil {
					return nil
				}
			}
			return fmt.Errorf("%d events, none of them a series", len(s.Events("FailedCreate")))
		})
	},
}
