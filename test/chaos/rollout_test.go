package chaos

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/podstate"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// rollOut updates the set in a way that is drawn, and waits until that is complete.
func (tn *tenant) rollOut() {
	tn.Helper()
	ways := []func(){tn.plainly, tn.brokenFirst, tn.brokenFirst, tn.scaledMeanwhile, tn.correctedMeanwhile, tn.pausedMeanwhile}
	if tn.hasPartition() {
		ways = append(ways, tn.inStages)
	}
	if tn.name == "staged" {
		ways = []func(){tn.inStages}
	}
	ways[tn.random.IntN(len(ways))]()
	tn.awaitDone()
	tn.stage.count("roll-outs", 1)
}

func (tn *tenant) plainly() { tn.edit(scenario.Image(tn.good())) }

// brokenFirst updates to a template that does not work and then to one that does.
func (tn *tenant) brokenFirst() {
	broken := tn.broken()
	tn.edit(scenario.Image(broken))
	tn.awaitBroken(broken)
	if tn.hasTimeout && tn.random.IntN(2) == 0 {
		tn.awaitReplaced()
	}
	tn.edit(scenario.Image(tn.good()))
}

// awaitReplaced waits until the timeout has replaced a pod of the broken template.
func (tn *tenant) awaitReplaced() {
	tn.Helper()
	tn.await("a pod is replaced by the timeout", func(set *v1.StatefulSet, _ []corev1.Pod) error {
		if len(set.Status.PodProgress) == 0 {
			return errors.New("podProgress is empty")
		}
		return nil
	})
}

// awaitBroken waits until a pod of the template is there and does not get ready. With OnDelete a user has to delete one first.
func (tn *tenant) awaitBroken(broken string) {
	tn.Helper()
	isFirst := true
	tn.await("a pod is broken", func(set *v1.StatefulSet, pods []corev1.Pod) error {
		if tn.strategy == v1.OnDeleteStrategy && isFirst {
			if err := tn.deleteForUpdate(set, pods[:min(1, len(pods))]); err != nil {
				return err
			}
			isFirst = false
		}
		for i := range pods {
			if imageOf(&pods[i].Spec) == broken && pods[i].Spec.NodeName != "" {
				return nil
			}
		}
		return errors.New("no pod of the broken template is there")
	})
}

// awaitBegun waits until the update has done something, unless it is drawn not to.
func (tn *tenant) awaitBegun(image string) {
	tn.Helper()
	if tn.strategy == v1.OnDeleteStrategy || tn.random.IntN(3) == 0 {
		return
	}
	tn.await("the update has begun", func(_ *v1.StatefulSet, pods []corev1.Pod) error {
		for i := range pods {
			if imageOf(&pods[i].Spec) == image || pods[i].DeletionTimestamp != nil {
				return nil
			}
		}
		return errors.New("no pod is at the new template or terminating")
	})
}

func (tn *tenant) scaledMeanwhile() {
	image := tn.good()
	tn.edit(scenario.Image(image))
	tn.awaitBegun(image)
	by := int32(1 - 2*tn.random.IntN(2))
	tn.edit(func(set *v1.StatefulSet) { *set.Spec.Replicas = min(5, max(1, *set.Spec.Replicas+by)) })
}

// correctedMeanwhile has a second template, or the one before, follow the first.
func (tn *tenant) correctedMeanwhile() {
	var before string
	first, second := tn.good(), tn.good()
	isBack := tn.random.IntN(2) == 0
	tn.edit(func(set *v1.StatefulSet) {
		if image := imageOf(&set.Spec.Template.Spec); image != first {
			before = image
		}
		scenario.Image(first)(set)
	})
	tn.awaitBegun(first)
	if isBack {
		second = before
	}
	tn.edit(scenario.Image(second))
}

func (tn *tenant) pausedMeanwhile() {
	image := tn.good()
	tn.edit(scenario.Image(image))
	tn.awaitBegun(image)
	tn.edit(scenario.Paused(true))
	tn.await("the pause is observed", func(set *v1.StatefulSet, _ []corev1.Pod) error {
		if set.Status.ObservedGeneration != set.Generation {
			return errors.New("it is not")
		}
		return nil
	})
	tn.edit(scenario.Paused(false))
}

// inStages updates the highest pod first, and the others when that one is ready.
func (tn *tenant) inStages() {
	image := tn.good()
	tn.edit(scenario.Image(image), func(set *v1.StatefulSet) { scenario.Partition(max(0, *set.Spec.Replicas-1))(set) })
	tn.await("the first stage is over", func(set *v1.StatefulSet, pods []corev1.Pod) error {
		for i := range pods {
			isReady := podstate.Classify(&pods[i], 0, set.CreationTimestamp.Time).Ready
			if imageOf(&pods[i].Spec) == image && isReady {
				return nil
			}
		}
		return fmt.Errorf("no pod is ready with %s", image)
	})
	tn.edit(scenario.Partition(0))
}
