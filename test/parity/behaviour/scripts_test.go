package behaviour

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	s "github.com/rollcall-dev/rollcall/test/scenario"
)

func newContainer() corev1.Container { return corev1.Container{Name: "web", Image: "web:1"} }

// given lists edits, three replicas being the rule.
func given(edits ...s.Edit) []s.Edit { return append([]s.Edit{s.Replicas(3)}, edits...) }

// scripts are played by both controllers and must look the same.
var scripts = map[string]script{
	"come up in order":         {given: given(), when: func(story *s.Story) { story.ThenUpdated(3) }},
	"come up in parallel":      {given: given(s.Parallel()), when: func(story *s.Story) { story.ThenUpdated(3) }},
	"no replicas":              {given: given(s.Replicas(0)), when: func(story *s.Story) { story.ThenReady(0) }},
	"start at five":            {given: given(s.Start(5)), when: func(story *s.Story) { story.ThenUpdated(3) }},
	"come up with claims":      {given: given(s.Claims("data", "log")), when: func(story *s.Story) { story.ThenUpdated(3) }},
	"broken first pod":         {given: given(s.Image("web:1-crash-loop")), when: brokenFirstPod},
	"scale up and down":        {given: given(), when: scaleUpAndDown},
	"scale in parallel":        {given: given(s.Parallel()), when: scaleUpAndDown},
	"scale down past unready":  {given: given(), when: scaleDownPastUnready},
	"scale down while unready": {given: given(), when: scaleDownWhileUnready},
	"move the start up":        {given: given(), when: moveStartUp},
	"wait for minReadySeconds": {given: given(s.MinReady(1)), when: func(story *s.Story) { story.ThenUpdated(3) }},

	"roll out":                    {given: given(), when: rollOut},
	"roll out in parallel":        {given: given(s.Parallel()), when: rollOut},
	"roll out with claims":        {given: given(s.Claims("data")), when: rollOut},
	"roll out from five":          {given: given(s.Start(5)), when: rollOut},
	"roll out and scale up":       {given: given(), when: rollOutAndScaleUp},
	"canary":                      {given: given(s.Partition(2)), when: canary},
	"staged":                      {given: given(s.Partition(3)), when: staged},
	"partition keeps revisions":   {given: given(s.Partition(2)), when: partitionKeepsRevisions},
	"broken template halts":       {given: given(), when: brokenTemplateHalts},
	"broken template, fixed":      {given: given(), when: brokenTemplateFixedByHand},
	"roll back":                   {given: given(), when: rollBack},
	"roll back in mid-flight":     {given: given(s.Partition(1)), when: rollBackInMidFlight},
	"roll forward in mid-flight":  {given: given(s.Partition(1)), when: rollForwardInMidFlight},
	"on delete":                   {given: given(s.Strategy(v1.OnDeleteStrategy)), when: onDelete},
	"history is truncated":        {given: given(s.Replicas(1), s.HistoryLimit(1)), when: truncateHistory},
	"no history":                  {given: given(s.Replicas(1), s.HistoryLimit(0)), when: truncateHistory},
	"restart by annotation":       {given: given(), when: restart},
	"parallel with a budget of 2": {given: given(s.Parallel(), s.MaxUnavailable("2")), when: rollOut},

	"deleted pod comes back":       {given: given(), when: deletePodInTheMiddle},
	"failed pod is replaced":       {given: given(), when: func(story *s.Story) { endPod(story, "failed") }},
	"succeeded pod is replaced":    {given: given(), when: func(story *s.Story) { endPod(story, "succeeded") }},
	"released pod":                 {given: given(s.Replicas(1)), when: releasePod},
	"claims kept":                  {given: given(s.Claims("data"), s.Retention(v1.Retain, v1.Retain)), when: scaleDownAndDelete, isRace: true},
	"claims deleted when scaled":   {given: given(s.Claims("data"), s.Retention(v1.Retain, v1.Delete)), when: scaleDownAndDelete, isRace: true},
	"claims deleted when deleted":  {given: given(s.Claims("data"), s.Retention(v1.Delete, v1.Retain)), when: scaleDownAndDelete, isRace: true},
	"claims deleted always":        {given: given(s.Claims("data"), s.Retention(v1.Delete, v1.Delete)), when: scaleDownAndDelete, isRace: true},
	"claim policy changes":         {given: given(s.Claims("data")), when: changeClaimPolicy},
	"delete in the foreground":     {given: given(), when: func(story *s.Story) { deleteSet(story, metav1.DeletePropagationForeground) }, isRace: true},
	"delete in the background":     {given: given(), when: func(story *s.Story) { deleteSet(story, metav1.DeletePropagationBackground) }, isRace: true},
	"delete and adopt the orphans": {given: given(), when: adoptOrphans},
}

func brokenFirstPod(story *s.Story) {
	story.ThenPodBroken(0, "web:1-crash-loop")
	story.ThenQuiet()
}

func scaleUpAndDown(story *s.Story) {
	story.ThenUpdated(3)
	story.Scale(5)
	story.ThenUpdated(5)
	story.Scale(2)
	story.ThenUpdated(2)
}

// The unready pod is the one to be removed: it holds nothing up.
func scaleDownPastUnready(story *s.Story) {
	story.ThenUpdated(3)
	story.Break(2)
	story.Scale(1)
	story.ThenUpdated(1)
}

// The unready pod is to stay: the ordered scale-down waits for it.
func scaleDownWhileUnready(story *s.Story) {
	story.ThenUpdated(3)
	story.Break(0)
	awaitReadyCount(story, 2)
	story.Scale(1)
	story.ThenQuiet()
	story.Mend(0)
	story.ThenUpdated(1)
}

func awaitReadyCount(story *s.Story, n int32) {
	story.Then(fmt.Sprintf("%d pods are ready", n), func(set *v1.StatefulSet) error {
		if set.Status.ReadyReplicas != n {
			return fmt.Errorf("%d are", set.Status.ReadyReplicas)
		}
		return nil
	})
}

func moveStartUp(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Start(1))
	story.ThenPods("web-1 r1", "web-2 r1", "web-3 r1")
	story.ThenUpdated(3)
}

func rollOut(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Image("web:2"))
	story.ThenUpdated(3)
}

func rollOutAndScaleUp(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Image("web:2"), s.Replicas(5))
	story.ThenUpdated(5)
}

func awaitUpdatedCount(story *s.Story, n int32) {
	story.Then(fmt.Sprintf("%d pods are updated and all are ready", n), func(set *v1.StatefulSet) error {
		if set.Status.UpdatedReplicas != n || set.Status.ReadyReplicas != *set.Spec.Replicas {
			return fmt.Errorf("%d are updated, %d ready", set.Status.UpdatedReplicas, set.Status.ReadyReplicas)
		}
		return nil
	})
}

func canary(story *s.Story) {
	story.ThenReady(3)
	story.When(s.Image("web:2"))
	awaitUpdatedCount(story, 1)
	story.ThenSettled()
}

func staged(story *s.Story) {
	story.ThenReady(3)
	story.When(s.Image("web:2"))
	for partition := int32(2); partition > 0; partition-- {
		story.When(s.Partition(partition))
		awaitUpdatedCount(story, 3-partition)
	}
	story.When(s.Partition(0))
	story.ThenUpdated(3)
}

func partitionKeepsRevisions(story *s.Story) {
	canary(story)
	story.DeletePod(0)
	story.ThenSettled()
	story.DeletePod(2)
}

func brokenTemplateHalts(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Image("web:2-crash-loop"))
	story.ThenPodBroken(2, "web:2-crash-loop")
	story.When(s.Image("web:3"))
	story.ThenQuiet()
}

func brokenTemplateFixedByHand(story *s.Story) {
	brokenTemplateHalts(story)
	story.DeletePod(2)
	story.ThenUpdated(3)
}

func rollBack(story *s.Story) {
	rollOut(story)
	story.When(s.Image("web:1"))
	story.ThenUpdated(3)
}

func rollBackInMidFlight(story *s.Story) {
	story.ThenReady(3)
	story.When(s.Image("web:2"))
	awaitUpdatedCount(story, 2)
	story.When(s.Image("web:1"), s.Partition(0))
	story.ThenUpdated(3)
}

func rollForwardInMidFlight(story *s.Story) {
	story.ThenReady(3)
	story.When(s.Image("web:2"))
	awaitUpdatedCount(story, 2)
	story.When(s.Image("web:3"), s.Partition(0))
	story.ThenUpdated(3)
}

func onDelete(story *s.Story) {
	story.ThenReady(3)
	story.When(s.Image("web:2"))
	story.ThenQuiet()
	for number := range 3 {
		story.DeletePod(number)
		awaitUpdatedCount(story, int32(number+1))
	}
}

func truncateHistory(story *s.Story) {
	story.ThenUpdated(1)
	for number := 2; number <= 4; number++ {
		story.When(s.Image(fmt.Sprintf("web:%d", number)))
		story.ThenUpdated(1)
	}
}

func restart(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Annotate("kubectl.kubernetes.io/restartedAt", "2026-03-01T12:00:00Z"))
	story.ThenUpdated(3)
}

func deletePodInTheMiddle(story *s.Story) {
	story.ThenUpdated(3)
	story.DeletePod(1)
	story.ThenTape("create web-0 r1", "create web-1 r1", "create web-2 r1", "delete web-1", "create web-1 r1")
}

func endPod(story *s.Story, course string) {
	story.ThenUpdated(3)
	story.Finish(1, course)
	story.ThenTape("create web-0 r1", "create web-1 r1", "create web-2 r1", "delete web-1", "create web-1 r1")
}

// A pod that is relabelled out of the selector is let go; when it is deleted, its slot is filled.
func releasePod(story *s.Story) {
	story.ThenUpdated(1)
	story.Relabel(0, `{"app":"other"}`)
	story.ThenPod(0, "released", func(pod *corev1.Pod) error {
		if metav1.GetControllerOf(pod) != nil {
			return fmt.Errorf("it is controlled")
		}
		return nil
	})
	story.DeletePod(0)
	story.ThenUpdated(1)
}

func scaleDownAndDelete(story *s.Story) {
	story.ThenUpdated(3)
	story.Scale(1)
	story.ThenUpdated(1)
	story.ThenSettled()
	deleteSet(story, metav1.DeletePropagationForeground)
}

func changeClaimPolicy(story *s.Story) {
	story.ThenUpdated(3)
	story.When(s.Retention(v1.Delete, v1.Delete))
	story.ThenClaims("data-web-0 of StatefulSet", "data-web-1 of StatefulSet", "data-web-2 of StatefulSet")
	story.When(s.Retention(v1.Retain, v1.Delete))
	story.ThenClaims("data-web-0", "data-web-1", "data-web-2")
}

func deleteSet(story *s.Story, policy metav1.DeletionPropagation) {
	story.ThenUpdated(*story.Set().Spec.Replicas)
	story.Delete(policy)
	story.ThenGone()
	story.ThenPods()
	story.ThenNoRevisions()
}

func adoptOrphans(story *s.Story) {
	story.ThenUpdated(3)
	story.Delete(metav1.DeletePropagationOrphan)
	story.ThenGone()
	story.Create(s.Replicas(3))
	story.ThenUpdated(3)
}
