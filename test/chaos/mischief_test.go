package chaos

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/faultproxy"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// mischief is what goes wrong. It starts the operator, too.
type mischief struct {
	name string
	// start begins it and returns how it is ended.
	start func(s *stage) (stop func())
}

// repeat does something again and again in the background, after pauses of random length, until it is stopped.
func repeat(random *rand.Rand, longest time.Duration, do func()) (stop func()) {
	stopped := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stopped:
				return
			case <-time.After(time.Duration(random.Int64N(int64(longest)))):
				do()
			}
		}
	})
	return func() {
		close(stopped)
		running.Wait()
	}
}

// keep revives an operator that has ended for lack of an API server or a lease, as Kubernetes would.
func (s *stage) keep(operator *process.Operator, flags ...string) (stop func()) {
	operator.MayEnd()
	return repeat(s.source(99), time.Second, func() { s.revive(operator, flags...) })
}

func (s *stage) revive(operator *process.Operator, flags ...string) {
	if operator.Revive(flags...) {
		s.count("operators that ended by themselves", 1)
	}
}

// killed kills the operator at random moments, every other time as soon as something was written.
var killed = mischief{"killed", func(s *stage) func() {
	operator := process.Start(s.t, s.space)
	random := s.source(1)
	return repeat(random, 3*time.Second, func() {
		if random.IntN(2) == 0 {
			s.awaitChange(3 * time.Second)
		}
		operator.Restart()
		s.count("kills", 1)
	})
}}

// awaitChange waits until something is recorded, though not for ever.
func (s *stage) awaitChange(longest time.Duration) {
	before := s.recorder.Len()
	for deadline := time.Now().Add(longest); s.recorder.Len() == before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// shaken restarts and pauses etcd and the API server.
var shaken = mischief{"control plane", func(s *stage) func() {
	operator := process.Start(s.t, s.space)
	stopKeeping := s.keep(operator)
	random := s.source(2)
	turns := 0
	stop := repeat(random, 6*time.Second, func() {
		component := []cluster.Component{cluster.APIServer, cluster.Etcd}[turns%2]
		isPause := turns/2%2 == 1
		turns++
		if isPause {
			s.pause(component, time.Second+time.Duration(random.Int64N(int64(5*time.Second))))
			return
		}
		if err := cluster.Restart(component); err != nil {
			s.t.Error(err)
		}
		s.count("restarts of "+string(component), 1)
	})
	return func() {
		stop()
		stopKeeping()
	}
}}

// pause stops a component for a while.
func (s *stage) pause(component cluster.Component, length time.Duration) {
	resume, err := cluster.Pause(component)
	if err != nil {
		s.t.Error(err)
		return
	}
	time.Sleep(length)
	if err := resume(); err != nil {
		s.t.Error(err)
	}
	s.count("pauses of "+string(component), 1)
}

// behind starts the operator behind a proxy.
func (s *stage) behind(options faultproxy.Options) (*faultproxy.Proxy, *process.Operator) {
	proxy, err := faultproxy.Start(s.space.Config, options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = proxy.Close() })
	detour := *s.space
	detour.Config = rest.CopyConfig(s.space.Config)
	detour.Config.Host = proxy.URL
	return proxy, process.Start(s.t, &detour)
}

// rates make a good half of all requests go wrong in some way.
var rates = faultproxy.Rates{
	faultproxy.Reset: 0.05, faultproxy.Throttled: 0.05, faultproxy.Failed: 0.08, faultproxy.Conflicted: 0.08,
	faultproxy.Lost: 0.12, faultproxy.Cut: 0.6, faultproxy.Delayed: 0.15,
}

// garbled has requests of the operator go wrong in every way there is, and kills it now and then.
var garbled = mischief{"proxy", func(s *stage) func() {
	proxy, operator := s.behind(faultproxy.Options{Seed: s.seed, Rates: rates})
	operator.MayEnd()
	random := s.source(3)
	stop := repeat(random, time.Second, func() {
		switch {
		case operator.Revive():
			s.count("operators that ended by themselves", 1)
		case random.IntN(20) == 0:
			operator.Restart()
			s.count("kills", 1)
		}
	})
	return func() {
		proxy.Relent()
		stop()
		for fault, times := range proxy.Counts() {
			s.count(string(fault), times)
		}
	}
}}

// skewed sets the operator's clock wrong.
func skewed(name string, ahead time.Duration) mischief {
	return mischief{name, func(s *stage) func() {
		s.ahead = ahead
		s.behind(faultproxy.Options{Ahead: ahead})
		return func() {}
	}}
}

// deposed has two operators, of which the one that leads is paused until its lease has lapsed and the other leads, and
// then goes on as if nothing had happened.
var deposed = mischief{"leaders", func(s *stage) func() {
	if err := scenario.GrantLeases(s.space); err != nil {
		s.t.Fatal(err)
	}
	elected := []string{"--leader-elect", "--leader-elect-namespace=" + s.space.Name}
	leader := process.Start(s.t, s.space, elected...)
	s.awaitOther("")
	standby := process.Start(s.t, s.space, elected...)
	leader.MayEnd()
	standby.MayEnd()
	stop := repeat(s.source(4), 2*time.Second, func() {
		s.revive(leader, elected...)
		s.revive(standby, elected...)
		s.depose(leader)
		leader, standby = standby, leader
	})
	return func() {
		stop()
		s.revive(leader, elected...)
		s.revive(standby, elected...)
		if s.counts["leaders deposed"] == 0 {
			s.t.Error("no leader was deposed")
		}
	}
}}

// absent takes the webhook away: first it hangs, then nobody listens.
var absent = mischief{"webhook", func(s *stage) func() {
	process.Start(s.t, s.space)
	hook := admission.Serve(s.t, s.space, plan.AllGates())
	hook.Hang()
	random := s.source(5)
	isDown := false
	return repeat(random, 10*time.Second, func() {
		if !isDown {
			hook.Down()
			isDown = true
		}
	})
}}
