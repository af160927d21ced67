package simulation

import (
	"fmt"
	"slices"
)

// profile is a family of scenarios.
type profile struct {
	// name is what the table of docs/verification.md calls it.
	name string
	// set is what all its sets have in common.
	set string
	// strategies are the settings that are crossed with the policies.
	strategies []string
	// rest is the rest of the scenario.
	rest string
}

var policies = []string{"OrderedReady", "Parallel"}

// lasting are the strategies to which time means little, with the settings that
// each has; timed are those whose deadlines multiply the states.
var (
	lasting = []string{
		"strategy=RollingUpdate",
		"strategy=RollingUpdate maxUnavailable=2",
		"strategy=RollingUpdate partition=1",
		"strategy=OnDelete",
		"strategy=Recreate",
		"strategy=EnforcedRollingUpdate",
		"strategy=EnforcedRollingUpdate maxUnavailable=2",
		"strategy=EnforcedRollingUpdate partition=1",
	}
	timed = []string{
		"strategy=RollingUpdate timeout=20",
		"strategy=RollingUpdate timeout=20 maxUnavailable=2",
	}
	allStrategies = slices.Concat(lasting, timed)
)

// quick is what every `go test` explores, to the end.
var quick = []profile{
	{
		"a bad template and its correction", "replicas=2 history=1", lasting,
		"edits template=x template=b\nlags pods\nfaults 1 crash blur",
	},
	{
		"the progress timeout", "replicas=2 history=1", timed[:1],
		"edits template=x template=b\nfaults 1 crash",
	},
	{
		"the progress timeout and pods that were ready", "replicas=1 history=1", timed[:1],
		"edits template=b\nlags pods\nmishaps 1 unready fail",
	},
	{
		"pods get lost and come back", "replicas=2 history=0", lasting,
		"edits template=b\nlags pods\nmishaps 1 unready fail succeed evict",
	},
	{
		"minReadySeconds", "replicas=2 minReady=10", lasting,
		"edits template=b\nmishaps 1 unready",
	},
	{
		"scaling in mid-flight", "replicas=2 history=1 claims=1 whenScaled=Delete", lasting,
		"edits template=b replicas=1 replicas=2\nlags claims\nfaults 1 refuse",
	},
	{
		"scaled to nothing and back", "replicas=2 history=1",
		[]string{"strategy=RollingUpdate", "strategy=Recreate", "strategy=EnforcedRollingUpdate"},
		"edits replicas=0 template=b replicas=2\nlags pods",
	},
	{
		"paused and back", "replicas=2 history=1", lasting,
		"edits template=b paused=true template=a paused=false\nmishaps 1 fail",
	},
	{
		"strangers and orphans", "replicas=2 history=1 claims=1",
		[]string{"strategy=RollingUpdate", "strategy=Recreate", "strategy=EnforcedRollingUpdate"},
		"edits template=b\nmishaps 1 squat orphan unlabel hold vanish drop-claim\nfaults 1 lose",
	},
	{
		"deleted and made again", "replicas=1 claims=1 whenDeleted=Delete",
		[]string{"strategy=RollingUpdate"},
		"edits deleted=background recreated deleted=foreground\nlags set",
	},
	{
		"orphaned, adopted, orphaned again", "replicas=1 history=1",
		[]string{"strategy=RollingUpdate", "strategy=Recreate"},
		"edits deleted=orphan recreated template=b deleted=orphan\nlags set",
	},
	{
		"another strategy in mid-flight", "replicas=2 history=1",
		[]string{"strategy=RollingUpdate"},
		"edits template=x strategy=Recreate template=b strategy=EnforcedRollingUpdate\nfaults 1 crash",
	},
	{
		"another start, partition and budget", "replicas=2 history=1",
		[]string{"strategy=RollingUpdate", "strategy=EnforcedRollingUpdate"},
		"edits template=b partition=1 start=1 maxUnavailable=2 partition=0\nfaults 1 crash",
	},
	{
		"edited faster than seen", "replicas=2 history=1",
		[]string{"strategy=RollingUpdate", "strategy=Recreate", "strategy=EnforcedRollingUpdate"},
		"edits template=b template=c\nlags set revisions\nfaults 1 crash blur",
	},
	{
		"gates that are off", "replicas=2 history=1",
		[]string{
			"strategy=RollingUpdate timeout=20 maxUnavailable=2", "strategy=Recreate",
			"strategy=EnforcedRollingUpdate maxUnavailable=2", "strategy=EnforcedRollingUpdate partition=1",
		},
		"edits template=x template=b\noff MaxUnavailable Recreate EnforcedRollingUpdate ProgressDeadline\nlags pods\nmishaps 1 unready\nfaults 1 crash",
	},
	{
		"from scratch", "replicas=2 claims=1",
		[]string{"strategy=RollingUpdate"},
		"scratch\nlags pods claims\nmishaps 1 fail\nfaults 1 crash blur",
	},
}

// bounded are the strategies with every budget and partition that makes a
// difference to at most three replicas, and one partition that is beyond them. The
// timeout is over after one tick; with a budget of two it has many more states and
// stands apart.
var (
	bounded = slices.Concat(
		[]string{"strategy=OnDelete", "strategy=Recreate"},
		tunings("strategy=RollingUpdate", 1, 2),
		tunings("strategy=EnforcedRollingUpdate", 1, 2),
		tunings("strategy=RollingUpdate timeout=9", 1),
	)
	boundedTimeout = tunings("strategy=RollingUpdate timeout=9", 2)
)

// tunings are a strategy with each budget and partition.
func tunings(strategy string, budgets ...int) []string {
	var all []string
	for _, budget := range budgets {
		for partition := range 4 {
			all = append(all, fmt.Sprintf("%s maxUnavailable=%d partition=%d", strategy, budget, partition))
		}
	}
	return all
}

// deep is what docs/verification.md promises: up to three replicas, three
// revisions, a budget of up to two, two faults, at every write, in views that
// lag, for every strategy, management policy and partition.
var deep = []profile{
	{
		"three replicas, two faults", "replicas=3 history=1", bounded,
		"edits template=x template=b\nlags pods\nfaults 2 crash refuse lose blur",
	},
	{
		"three replicas and a timeout, two at a time, two crashes", "replicas=3 history=1", boundedTimeout,
		"edits template=x template=b\nlags pods\nfaults 2 crash",
	},
	{
		"three replicas, set and revisions lag, two faults", "replicas=3 history=1", bounded,
		"edits template=x template=b\nlags set revisions\nfaults 2 crash blur",
	},
	{
		"two replicas, two faults", "replicas=2 history=1", bounded,
		"edits template=x template=b\nlags pods\nfaults 2 crash refuse lose blur",
	},
	{
		"two replicas and a timeout, two at a time, two faults", "replicas=2 history=1", boundedTimeout,
		"edits template=x template=b\nlags pods\nfaults 2 crash refuse lose blur",
	},
	{
		"one replica, a mishap and a fault", "replicas=1 history=1", bounded,
		"edits template=x template=b\nlags pods\nmishaps 1 unready fail evict\nfaults 1 crash refuse lose blur",
	},
}

// wide is what comes after deep: more at the same time. It has not been run to
// its end yet.
var wide = []profile{
	{
		"two replicas, a mishap and a fault", "replicas=2 history=1", slices.Concat(bounded, boundedTimeout),
		"edits template=x template=b\nlags pods\nmishaps 1 unready fail evict\nfaults 1 crash refuse lose blur",
	},
	{
		"set and revisions lag, two faults, a timeout and two at a time", "replicas=3 history=1", boundedTimeout,
		"edits template=x template=b\nlags set revisions\nfaults 2 crash blur",
	},
	{
		"all views lag, two faults", "replicas=3 history=1", slices.Concat(bounded, boundedTimeout),
		"edits template=x template=b\nlags pods set revisions\nfaults 2 crash refuse lose blur",
	},
	{
		"pods lag, any mishap and any fault", "replicas=3 history=1", slices.Concat(bounded, boundedTimeout),
		"edits template=x template=b\nlags pods\nmishaps 1 unready fail succeed evict vanish\nfaults 1 crash refuse lose blur",
	},
	{
		"pods get lost and come back", "replicas=3 history=0 minReady=10", allStrategies,
		"edits template=b\nlags pods\nmishaps 2 unready fail evict succeed\nfaults 1 crash",
	},
	{
		"scaling in mid-flight", "replicas=3 history=1 claims=1 whenScaled=Delete whenDeleted=Delete", allStrategies,
		"edits template=b replicas=1 replicas=3\nlags pods claims\nfaults 1 crash refuse lose blur",
	},
	{
		"strangers and orphans", "replicas=3 history=1 claims=1", allStrategies,
		"edits template=b replicas=2\nlags pods\nmishaps 1 squat orphan unlabel hold vanish drop-claim\nfaults 1 crash lose",
	},
	{
		"edited on and on", "replicas=3 history=1", allStrategies,
		"edits template=b template=x template=a paused=true template=b paused=false\nlags pods set revisions\nfaults 1 crash",
	},
	{
		"another strategy in mid-flight", "replicas=3 history=1",
		[]string{"strategy=RollingUpdate"},
		"edits template=x strategy=Recreate template=b strategy=EnforcedRollingUpdate\nlags pods set\nfaults 1 crash",
	},
	{
		"another start, partition and budget", "replicas=3 history=1",
		[]string{"strategy=RollingUpdate", "strategy=EnforcedRollingUpdate"},
		"edits template=b partition=1 start=1 maxUnavailable=2 partition=0\nlags pods set\nfaults 1 crash",
	},
}

// walks are the big sets, on which steps are taken at random.
var walks = []profile{
	{"50 replicas", "replicas=50 history=2 minReady=10", []string{
		"strategy=RollingUpdate maxUnavailable=5", "strategy=RollingUpdate timeout=60 maxUnavailable=10%", "strategy=OnDelete",
		"strategy=Recreate", "strategy=EnforcedRollingUpdate maxUnavailable=5", "strategy=EnforcedRollingUpdate partition=20 maxUnavailable=3",
	}, "edits template=x template=b replicas=40 template=c paused=true replicas=50 paused=false template=a\nlags set pods claims revisions\n" +
		"mishaps 40 unready fail succeed evict vanish hold unlabel orphan squat\nfaults 20 crash refuse lose blur"},
	{
		"5 replicas with claims", "replicas=5 history=1 claims=1 whenScaled=Delete", allStrategies,
		"edits template=x replicas=3 template=b replicas=6 start=1 template=a maxUnavailable=3 template=c\nlags set pods claims revisions\n" +
			"mishaps 10 unready fail succeed evict vanish hold unlabel orphan squat drop-claim\nfaults 10 crash refuse lose blur",
	},
}

// scenarios are those of a profile, by strategy and policy.
func (p profile) scenarios() ([]*Scenario, error) {
	var all []*Scenario
	for _, strategy := range p.strategies {
		for _, policy := range policies {
			scenario, err := ParseScenario(fmt.Sprintf("setup %s policy=%s %s\n%s", p.set, policy, strategy, p.rest))
			if err != nil {
				return nil, fmt.Errorf("profile %q: %w", p.name, err)
			}
			all = append(all, scenario)
		}
	}
	return all, nil
}
