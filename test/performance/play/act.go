package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/performance/result"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
	"github.com/rollcall-dev/rollcall/test/performance/stage"
)

// quiet is how long nothing may be asked of the API server before a contestant counts as at rest.
const quiet = 300 * time.Millisecond

// before is what the meters showed when an act began.
type before struct {
	at        time.Time
	mark      stage.Mark
	cost      stage.Cost
	apiServer float64
}

func (p *performance) read() (before, error) {
	mark, err := p.stage.Audit().Mark()
	if err != nil {
		return before{}, err
	}
	cost, err := p.player.Cost()
	if err != nil {
		return before{}, err
	}
	apiServer, err := p.stage.APIServerCPU()
	return before{at: time.Now(), mark: mark, cost: cost, apiServer: apiServer}, err
}

// act plays one act and measures it.
func (p *performance) act(ctx context.Context, number int, act scenarios.Act) (result.Sample, error) {
	sample := result.Sample{
		Scenario: p.scenario.Name, Act: number, Contestant: p.contestant, Round: p.round, Figures: map[string]float64{},
	}
	if err := p.refresh(ctx, number); err != nil {
		return sample, err
	}
	start, err := p.read()
	if err != nil {
		return sample, err
	}
	switch act.Kind {
	case scenarios.Rest:
		err = p.rest(ctx, act, start, &sample)
	case scenarios.Restart:
		err = p.restart(ctx, number, &sample)
	default:
		err = p.reach(ctx, number, act, start, &sample)
	}
	return sample, err
}

// refresh puts a new process to work for every update but the first. Controllers remember of an object how often they told of
// it, and the built-in one falls silent after 25 events, so that a second update would cost less than the same one alone.
func (p *performance) refresh(ctx context.Context, number int) error {
	isUpdate := func(act scenarios.Act) bool { return act.Kind == scenarios.Update }
	acts := p.scenario.Acts
	if p.contestant == scenarios.Floor || !isUpdate(acts[number]) || !slices.ContainsFunc(acts[:number], isUpdate) {
		return nil
	}
	mark, err := p.stage.Audit().Mark()
	if err != nil {
		return err
	}
	if err := p.player.Leave(); err != nil {
		return err
	}
	if p.player, err = p.stage.Enter(p.contestant); err != nil {
		return err
	}
	if err := p.player.Ready(ctx); err != nil {
		return err
	}
	return p.awaitQuiet(ctx, mark)
}

// next is the goal of an act.
func (p *performance) next(number int, act scenarios.Act) goal {
	target := goal{image: p.goal.image, replicas: p.goal.replicas}
	switch act.Kind {
	case scenarios.Scale:
		target.replicas = act.Replicas
	case scenarios.Break:
		target.image, target.isStuck = brokenImage(number), true
	default:
		target.image = imageOf(number)
	}
	return target
}

// reach plays an act that leads to a goal.
func (p *performance) reach(ctx context.Context, number int, act scenarios.Act, start before, sample *result.Sample) error {
	from, target := p.goal, p.next(number, act)
	p.goal = target
	sample.Pods = p.scenario.Sets * target.replicas
	if act.Kind == scenarios.Scale {
		sample.Pods = p.scenario.Sets * max(from.replicas-target.replicas, target.replicas-from.replicas)
	}
	reached := p.audience.expect(target, func() *judge { return newJudge(p.scenario, p.contestant, number, target) })
	if err := p.edit(ctx, number, act, target); err != nil {
		return err
	}
	end, err := p.await(ctx, act, reached)
	if err != nil {
		return err
	}
	violations, astray, err := p.audience.verdict()
	if err != nil {
		return err
	}
	sample.Violations = violations
	sample.Figures[result.Wall] = end.Sub(start.at).Seconds()
	sample.Figures[result.Stuck] = float64(astray)
	if err := p.settle(ctx, start, target, astray > 0); err != nil {
		return err
	}
	return p.measure(start, sample)
}

// edit brings what is asked for to the goal; the floor driver, of which nobody asks anything, goes there itself.
func (p *performance) edit(ctx context.Context, number int, act scenarios.Act, target goal) error {
	terms := p.scenario.TermsOf(number)
	switch {
	case p.contestant == scenarios.Floor:
		return p.floor.drive(ctx, p.sets, target, resolve(terms.MaxUnavailable, target.replicas))
	case act.Kind == scenarios.Create:
		return forEach(p.sets, func(set *v1.StatefulSet) error { return p.createSet(ctx, set) })
	default:
		return forEach(p.sets, func(set *v1.StatefulSet) error { return p.patchSet(ctx, set, terms, target) })
	}
}

// await waits for the goal. Only a fix may fail to reach it.
func (p *performance) await(ctx context.Context, act scenarios.Act, reached <-chan time.Time) (time.Time, error) {
	limit := patience
	if act.Kind == scenarios.Fix {
		limit = act.For.Duration
	}
	select {
	case at := <-reached:
		return at, nil
	case <-time.After(limit):
		if act.Kind == scenarios.Fix {
			return time.Now(), nil
		}
		_, astray, err := p.audience.verdict()
		return time.Time{}, errors.Join(fmt.Errorf("%d of %d sets are not where they should be after %s", astray, p.scenario.Sets, limit), err)
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// settle waits until the status tells what is, and the contestant asks for nothing any more.
func (p *performance) settle(ctx context.Context, start before, target goal, isAstray bool) error {
	if p.contestant == scenarios.Floor {
		return nil
	}
	if !isAstray && !target.isStuck {
		if err := stage.Poll(ctx, stage.Calmly, func() error { return p.checkStatuses(ctx, target) }); err != nil {
			return fmt.Errorf("waiting for the status: %w", err)
		}
	}
	return p.awaitQuiet(ctx, start.mark)
}

// awaitQuiet waits until the contestant asks for nothing any more.
func (p *performance) awaitQuiet(ctx context.Context, since stage.Mark) error {
	return stage.Poll(ctx, stage.Calmly, func() error {
		requests, err := p.stage.Audit().Since(since, stage.UserOf(p.contestant))
		if err != nil {
			return err
		}
		if len(requests) > 0 && time.Since(requests[len(requests)-1].Answered) < quiet {
			return fmt.Errorf("%s is still at work: %s", p.contestant, requests[len(requests)-1].What())
		}
		return nil
	})
}

// measure reads the meters again.
func (p *performance) measure(start before, sample *result.Sample) error {
	end, err := p.read()
	if err != nil {
		return err
	}
	requests, err := p.stage.Audit().Since(start.mark, stage.UserOf(p.contestant))
	if err != nil {
		return err
	}
	pods := float64(max(1, sample.Pods))
	figures := sample.Figures
	figures[result.APIServerCPU] = end.apiServer - start.apiServer
	sample.Requests = countRequests(requests, figures, pods)
	if p.contestant == scenarios.Floor {
		return nil
	}
	figures[result.CPU] = end.cost.CPU - start.cost.CPU
	figures[result.CPUPerPod] = figures[result.CPU] / pods * 1000
	figures[result.Resident], figures[result.Anonymous] = end.cost.Resident, end.cost.Anonymous
	return p.measureReaction(start, requests, sample)
}

// countRequests counts requests by verb and resource, and the kinds that targets are about.
func countRequests(requests []stage.Request, figures map[string]float64, pods float64) map[string]int {
	counts := map[string]int{}
	var status, events, reads float64
	for _, request := range requests {
		counts[request.What()]++
		switch {
		case request.IsRead():
			reads++
		case request.Resource.Resource == "events":
			events++
		case request.Resource.Resource == "statefulsets" && request.Resource.Subresource == "status":
			status++
		}
	}
	figures[result.RequestsPerPod] = float64(len(requests)) / pods
	figures[result.StatusWritesPerPod] = status / pods
	figures[result.EventsPerPod] = events / pods
	figures[result.ReadsPerPod] = reads / pods
	return counts
}

// measureReaction takes the time from what a node wrote about a pod to what the
// controller wrote next. With one set and one pod at a time the two belong
// together; otherwise nobody can tell.
func (p *performance) measureReaction(start before, ours []stage.Request, sample *result.Sample) error {
	if p.scenario.Sets > 1 || p.scenario.TermsOf(sample.Act).MaxUnavailable != "1" {
		return nil
	}
	theirs, err := p.stage.Audit().Since(start.mark, cluster.NodesUser)
	if err != nil {
		return err
	}
	var delays []float64
	for _, request := range ours {
		if request.Resource.Resource != "pods" {
			continue
		}
		if delay, ok := reactionTo(request, theirs); ok {
			delays = append(delays, delay)
		}
	}
	if len(delays) == 0 {
		return nil
	}
	slices.Sort(delays)
	sample.Figures[result.ReactionMedian] = delays[len(delays)/2]
	sample.Figures[result.ReactionP99] = delays[len(delays)*99/100]
	return nil
}

// reactionTo is the time, in milliseconds, from the answer to a node's last write before a request to the request. A watch
// may bring the news before the node has its answer: then it is 0.
func reactionTo(request stage.Request, theirs []stage.Request) (float64, bool) {
	var cause stage.Request
	for _, other := range theirs {
		if other.Received.Before(request.Received) && other.Received.After(cause.Received) {
			cause = other
		}
	}
	delay := request.Received.Sub(cause.Answered)
	return float64(max(0, delay).Microseconds()) / 1000, !cause.Received.IsZero()
}

// rest counts the requests of a time without edits; leases are renewed in it, which is nobody's fault.
func (p *performance) rest(ctx context.Context, act scenarios.Act, start before, sample *result.Sample) error {
	select {
	case <-time.After(act.For.Duration):
	case <-ctx.Done():
		return ctx.Err()
	}
	requests, err := p.stage.Audit().Since(start.mark, stage.UserOf(p.contestant))
	if err != nil {
		return err
	}
	count := 0
	for _, request := range requests {
		if request.Resource.Resource != "leases" {
			count++
		}
	}
	sample.Figures[result.RestRequests] = float64(count)
	sample.Requests = countRequests(requests, map[string]float64{}, 1)
	return nil
}

// restart stops the contestant, edits a set and takes the time from its start to its first write to a pod.
func (p *performance) restart(ctx context.Context, number int, sample *result.Sample) error {
	if err := p.player.Leave(); err != nil {
		return err
	}
	if err := p.patchSet(ctx, p.sets[0], p.scenario.TermsOf(number), goal{image: imageOf(number), replicas: p.goal.replicas}); err != nil {
		return err
	}
	mark, err := p.stage.Audit().Mark()
	if err != nil {
		return err
	}
	start := time.Now()
	if p.player, err = p.stage.Enter(p.contestant); err != nil {
		return err
	}
	return stage.Poll(ctx, stage.Briskly, func() error {
		requests, err := p.stage.Audit().Since(mark, stage.UserOf(p.contestant))
		for _, request := range requests {
			if request.Resource.Resource == "pods" && !request.IsRead() {
				sample.Figures[result.Wall] = request.Received.Sub(start).Seconds()
				return p.weigh(sample)
			}
		}
		return errors.Join(fmt.Errorf("%s has not written to a pod yet", p.contestant), err)
	})
}

// weigh notes how much memory a contestant takes that has just read everything.
func (p *performance) weigh(sample *result.Sample) error {
	cost, err := p.player.Cost()
	sample.Figures[result.Resident], sample.Figures[result.Anonymous] = cost.Resident, cost.Anonymous
	return err
}
