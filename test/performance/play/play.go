// Package play plays scenarios on a stage: it edits sets as a user would, watches
// their pods, and measures what the contestant makes of it.
//
// The clock of an act starts before the first edit and stops with the change of
// a pod that brings the last set to its goal. Requests and processor time are
// counted until the contestant has come to rest, its last status included.
package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
	"github.com/rollcall-dev/rollcall/test/performance/stage"
)

// patience is how long an act may take that must come to an end.
const patience = 10 * time.Minute

// performance is one contestant in one scenario.
type performance struct {
	stage      *stage.Stage
	scenario   scenarios.Scenario
	contestant scenarios.Contestant
	round      int
	namespace  string
	sets       []*v1.StatefulSet
	player     *stage.Player
	audience   *audience
	floor      *floor
	// goal is where the last act has led.
	goal goal
}

// Play plays a scenario once and returns a sample for each act that came to its end.
func Play(ctx context.Context, on *stage.Stage, scenario scenarios.Scenario, contestant scenarios.Contestant, round int) ([]result.Sample, error) {
	p := &performance{stage: on, scenario: scenario, contestant: contestant, round: round, goal: goal{replicas: scenario.Pods}}
	defer p.dismissAudience()
	if err := p.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("preparing %q for %s: %w", scenario.Name, contestant, err), p.dismissPlayer())
	}
	samples, err := p.playActs(ctx)
	if err != nil {
		return samples, errors.Join(fmt.Errorf("playing %q by %s: %w", scenario.Name, contestant, err), p.dismissPlayer())
	}
	return samples, p.clear(ctx)
}

func (p *performance) playActs(ctx context.Context) ([]result.Sample, error) {
	var samples []result.Sample
	for i, act := range p.scenario.Acts {
		if p.contestant == scenarios.Floor && !isForFloor(p.scenario, i) {
			continue
		}
		sample, err := p.act(ctx, i, act)
		if err != nil {
			return samples, fmt.Errorf("%s: %w", act.Title(), err)
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

func (p *performance) dismissAudience() {
	if p.audience != nil {
		p.audience.stop()
	}
}

// dismissPlayer sends a contestant home in the middle of a play: the control plane does not end as long as somebody watches.
func (p *performance) dismissPlayer() error {
	if p.player == nil {
		return nil
	}
	return p.player.Leave()
}

// isForFloor: the floor driver knows creations and updates within a budget.
func isForFloor(scenario scenarios.Scenario, act int) bool {
	kind := scenario.Acts[act].Kind
	return kind == scenarios.Create || kind == scenarios.Update && scenario.TermsOf(act).Strategy(scenarios.Rollcall) == v1.RollingUpdateStrategy
}

// prepare makes a namespace that takes pods and puts the contestant to work in it.
func (p *performance) prepare(ctx context.Context) error {
	var err error
	if p.namespace, err = p.stage.Namespace(ctx); err != nil {
		return err
	}
	var names []string
	for i := range p.scenario.Sets {
		name := fmt.Sprintf("web%d", i)
		names = append(names, name)
		p.sets = append(p.sets, newSet(p.scenario, p.contestant, p.namespace, name))
	}
	if p.audience, err = attend(p.stage.Config(), p.namespace, names); err != nil {
		return err
	}
	if p.floor, err = newFloor(p.stage.FloorConfig(), p.audience); err != nil {
		return err
	}
	err = stage.Poll(ctx, stage.Briskly, func() error {
		return p.stage.Client().Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "default"}, &corev1.ServiceAccount{})
	})
	if err != nil {
		return fmt.Errorf("waiting until namespace %s takes pods: %w", p.namespace, err)
	}
	if p.player, err = p.stage.Enter(p.contestant); err != nil {
		return err
	}
	return p.warmUp(ctx)
}

// warmUp has the contestant create a pod, so that what it does at first is not measured: connections, informers.
func (p *performance) warmUp(ctx context.Context) error {
	if err := p.player.Ready(ctx); err != nil || p.contestant == scenarios.Floor {
		return err
	}
	small := p.scenario
	small.Pods = 1
	if err := p.createSet(ctx, newSet(small, p.contestant, p.namespace, "warm")); err != nil {
		return err
	}
	err := stage.Poll(ctx, stage.Briskly, func() error {
		return p.stage.Client().Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "warm-0"}, &corev1.Pod{})
	})
	if err != nil {
		return fmt.Errorf("waiting for the first pod of %s: %w", p.contestant, err)
	}
	if err := p.stage.Client().Delete(ctx, p.blank("warm"), client.PropagationPolicy("Background")); err != nil {
		return err
	}
	return stage.Poll(ctx, stage.Briskly, func() error {
		err := p.stage.Client().Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "warm-0"}, &corev1.Pod{})
		if client.IgnoreNotFound(err) != nil || err != nil {
			return client.IgnoreNotFound(err)
		}
		return fmt.Errorf("the first pod is still there")
	})
}

// clear sends the contestant home and removes what would concern the next one.
func (p *performance) clear(ctx context.Context) error {
	if err := p.player.Leave(); err != nil {
		return err
	}
	in := client.InNamespace(p.namespace)
	everything := []error{
		p.stage.Client().DeleteAllOf(ctx, &corev1.Pod{}, in, client.GracePeriodSeconds(0)),
		p.stage.Client().DeleteAllOf(ctx, &appsv1.ControllerRevision{}, in),
	}
	if p.contestant != scenarios.Floor {
		everything = append(everything, p.stage.Client().DeleteAllOf(ctx, p.blank(""), in))
	}
	for _, err := range everything {
		if err != nil {
			return fmt.Errorf("clearing the stage: %w", err)
		}
	}
	return stage.Poll(ctx, stage.Briskly, func() error {
		var pods corev1.PodList
		err := p.stage.Client().List(ctx, &pods, in, client.Limit(1))
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("pods are left in namespace %s", p.namespace)
		}
		return err
	})
}
