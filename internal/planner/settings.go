package planner

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/ordinal"
	"github.com/rollcall-dev/rollcall/internal/plan"
)

// settings are what the spec asks for, after defaults and feature gates.
type settings struct {
	slots        ordinal.Range
	selector     labels.Selector
	isParallel   bool
	isPaused     bool
	minReady     time.Duration
	historyLimit int
	strategy     v1.UpdateStrategyType
	// partition is counted from the first slot; 0 means that all are updated.
	partition int
	// budget is maxUnavailable resolved.
	budget int
	// progressTimeout is zero when there is none.
	progressTimeout time.Duration
	// ignored are the parameters that would mean something if their feature gates
	// were on.
	ignored []ignoredField
}

// ignoredField is a parameter of a strategy whose feature gate is off.
type ignoredField struct{ field, gate string }

// readSettings fails only for a spec that validation should have refused.
func readSettings(set *v1.StatefulSet, gates plan.Gates) (settings, error) {
	selector, err := readSelector(set.Spec.Selector)
	if err != nil {
		return settings{}, err
	}
	s := settings{
		slots:        ordinal.RangeOf(set),
		selector:     selector,
		isParallel:   set.Spec.PodManagementPolicy == v1.Parallel,
		isPaused:     set.Spec.Paused,
		minReady:     time.Duration(set.Spec.MinReadySeconds) * time.Second,
		historyLimit: int(v1.DefaultRevisionHistoryLimit),
		strategy:     strategyInForce(set.Spec.UpdateStrategy.Type, gates),
		budget:       v1.DefaultMaxUnavailable,
	}
	if limit := set.Spec.RevisionHistoryLimit; limit != nil {
		s.historyLimit = int(*limit)
	}
	return s, s.tune(set.Spec.UpdateStrategy, gates)
}

// readSelector refuses a selector that matches everything or nothing: acting on
// it would adopt or release other people's pods.
func readSelector(given *metav1.LabelSelector) (labels.Selector, error) {
	if given == nil || len(given.MatchLabels)+len(given.MatchExpressions) == 0 {
		return nil, errors.New("spec.selector is empty: set it to labels of the template")
	}
	selector, err := metav1.LabelSelectorAsSelector(given)
	if err != nil {
		return nil, fmt.Errorf("spec.selector is invalid: %w", err)
	}
	return selector, nil
}

// strategyInForce returns RollingUpdate for a strategy whose gate is off.
func strategyInForce(asked v1.UpdateStrategyType, gates plan.Gates) v1.UpdateStrategyType {
	switch {
	case asked == v1.OnDeleteStrategy,
		asked == v1.RecreateStrategy && gates.Recreate,
		asked == v1.EnforcedRollingUpdateStrategy && gates.EnforcedRollingUpdate:
		return asked
	default:
		return v1.RollingUpdateStrategy
	}
}

// tune reads the parameters of the strategy asked for. They hold also when
// RollingUpdate acts in its place: a partition must not be overrun because a
// gate was switched off.
func (s *settings) tune(strategy v1.UpdateStrategy, gates plan.Gates) error {
	tuning := strategy.RollingUpdate
	if strategy.Type == v1.EnforcedRollingUpdateStrategy {
		tuning = strategy.EnforcedRollingUpdate
	}
	if tuning == nil || strategy.Type == v1.OnDeleteStrategy || strategy.Type == v1.RecreateStrategy {
		return nil
	}
	if tuning.Partition != nil {
		s.partition = max(0, int(*tuning.Partition))
	}
	s.tuneTimeout(tuning.PodProgressTimeoutSeconds, gates)
	return s.tuneBudget(tuning.MaxUnavailable, gates)
}

func (s *settings) tuneTimeout(timeout *int32, gates plan.Gates) {
	switch {
	case timeout == nil:
	case gates.ProgressDeadline:
		s.progressTimeout = time.Duration(*timeout) * time.Second
	default:
		s.ignored = append(s.ignored, ignoredField{"podProgressTimeoutSeconds", "StatefulSetProgressDeadline"})
	}
}

// tuneBudget does not call a budget ignored that is what counts anyway.
func (s *settings) tuneBudget(maxUnavailable *intstr.IntOrString, gates plan.Gates) error {
	budget, err := resolveBudget(maxUnavailable, s.slots.Count)
	switch {
	case gates.MaxUnavailable:
		s.budget = budget
		return err
	case err != nil || budget != v1.DefaultMaxUnavailable:
		s.ignored = append(s.ignored, ignoredField{"maxUnavailable", "MaxUnavailableStatefulSet"})
	}
	return nil
}

func resolveBudget(maxUnavailable *intstr.IntOrString, replicas int) (int, error) {
	if maxUnavailable == nil {
		return v1.DefaultMaxUnavailable, nil
	}
	budget, err := intstr.GetScaledValueFromIntOrPercent(maxUnavailable, replicas, false)
	if err != nil {
		return 0, fmt.Errorf("maxUnavailable is neither a number nor a percentage: %w", err)
	}
	return max(1, budget), nil
}

// firstUpdated is the lowest ordinal that an update reaches.
func (s settings) firstUpdated() int { return s.slots.Start + s.partition }
