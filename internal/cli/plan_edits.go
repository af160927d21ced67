package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// specEdits are changes to a set that flags ask for.
type specEdits struct {
	images         []string
	restart        bool
	replicas       int32
	strategy       string
	partition      int32
	maxUnavailable string
	timeout        int32
	minReady       int32
	paused         bool
	// given are the flags that were given.
	given map[string]bool
}

// The names of the flags.
const (
	flagImage, flagRestart, flagReplicas, flagStrategy = "set-image", "restart", "replicas", "strategy"
	flagPartition, flagBudget, flagTimeout             = "partition", "max-unavailable", "progress-timeout"
	flagMinReady, flagPaused                           = "min-ready-seconds", "paused"
)

func (e *specEdits) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&e.images, flagImage, nil, "[CONTAINER=]IMAGE: another image. May be given several times.")
	flags.BoolVar(&e.restart, flagRestart, false, "Restart all pods, as \"kubectl rollcall restart\" does.")
	flags.Int32Var(&e.replicas, flagReplicas, 0, "Another number of pods.")
	flags.StringVar(&e.strategy, flagStrategy, "", "Another update strategy: RollingUpdate, EnforcedRollingUpdate, Recreate or OnDelete.")
	flags.Int32Var(&e.partition, flagPartition, 0, "Another partition.")
	flags.StringVar(&e.maxUnavailable, flagBudget, "", "Another maxUnavailable: a number, or a percentage.")
	flags.Int32Var(&e.timeout, flagTimeout, 0, "Another podProgressTimeoutSeconds; 0 for none.")
	flags.Int32Var(&e.minReady, flagMinReady, 0, "Another minReadySeconds.")
	flags.BoolVar(&e.paused, flagPaused, false, "Paused, or with --paused=false not.")
	mustComplete(command, flagStrategy, completeStrategies)
}

var editFlags = []string{
	flagImage, flagRestart, flagReplicas, flagStrategy, flagPartition, flagBudget, flagTimeout, flagMinReady, flagPaused,
}

// any tells whether a change is asked for.
func (e *specEdits) any(command *cobra.Command) bool {
	e.note(command)
	return len(e.given) > 0
}

// note takes down which flags were given.
func (e *specEdits) note(command *cobra.Command) {
	e.given = map[string]bool{}
	for _, name := range editFlags {
		if command.Flags().Changed(name) {
			e.given[name] = true
		}
	}
}

// apply makes the changes to a set, which it modifies. Whether they make sense is for the API server or the CRD to say.
func (e *specEdits) apply(set *v1.StatefulSet, now time.Time) error {
	spec := &set.Spec
	if err := e.applyImages(set); err != nil {
		return err
	}
	if e.restart {
		annotate(&spec.Template, restartedAt, now.UTC().Format(time.RFC3339))
	}
	if e.given[flagReplicas] {
		spec.Replicas = &e.replicas
	}
	if e.given[flagMinReady] {
		spec.MinReadySeconds = e.minReady
	}
	if e.given[flagPaused] {
		spec.Paused = e.paused
	}
	e.applyStrategy(&spec.UpdateStrategy)
	return nil
}

func (e *specEdits) applyImages(set *v1.StatefulSet) error {
	spec := &set.Spec.Template.Spec
	for _, argument := range e.images {
		name, image, err := splitImage(set, argument)
		if err != nil {
			return err
		}
		if _, _, err := findContainer(set, name); err != nil {
			return err
		}
		for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
			for i := range containers {
				if containers[i].Name == name {
					containers[i].Image = image
				}
			}
		}
	}
	return nil
}

// applyStrategy changes the strategy. Between the two rolling ones what both have is kept.
func (e *specEdits) applyStrategy(strategy *v1.UpdateStrategy) {
	if e.given[flagStrategy] && strategy.Type != v1.UpdateStrategyType(e.strategy) {
		tuning := tuningOf(strategy)
		*strategy = v1.UpdateStrategy{Type: v1.UpdateStrategyType(e.strategy)}
		switch strategy.Type {
		case v1.RollingUpdateStrategy:
			strategy.RollingUpdate = tuning
		case v1.EnforcedRollingUpdateStrategy:
			tuning.PodProgressTimeoutSeconds = nil
			strategy.EnforcedRollingUpdate = tuning
		}
	}
	if !e.given[flagPartition] && !e.given[flagBudget] && !e.given[flagTimeout] {
		return
	}
	tuning := tuningOf(strategy)
	if e.given[flagPartition] {
		tuning.Partition = &e.partition
	}
	if e.given[flagBudget] {
		tuning.MaxUnavailable = new(intstr.Parse(e.maxUnavailable))
	}
	if e.given[flagTimeout] {
		tuning.PodProgressTimeoutSeconds = nil
		if e.timeout != 0 {
			tuning.PodProgressTimeoutSeconds = &e.timeout
		}
	}
	setTuning(strategy, tuning)
}

// tuningOf returns a copy of the parameters of a rolling strategy, empty ones for others.
func tuningOf(strategy *v1.UpdateStrategy) *v1.RollingUpdate {
	for _, tuning := range []*v1.RollingUpdate{strategy.RollingUpdate, strategy.EnforcedRollingUpdate} {
		if tuning != nil {
			return tuning.DeepCopy()
		}
	}
	return &v1.RollingUpdate{}
}

// setTuning puts parameters where the strategy has them. With a strategy that has none they are put all the same, for
// somebody who knows the rules to refuse them.
func setTuning(strategy *v1.UpdateStrategy, tuning *v1.RollingUpdate) {
	if strategy.Type == v1.EnforcedRollingUpdateStrategy {
		strategy.EnforcedRollingUpdate = tuning
	} else {
		strategy.RollingUpdate = tuning
	}
}

func annotate(template *corev1.PodTemplateSpec, key, value string) {
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[key] = value
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
