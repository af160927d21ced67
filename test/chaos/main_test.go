// Package chaos lets everything go wrong around the real operator on a real control plane, while users update their
// sets, and has test/judge say afterwards whether a promise was broken at any moment.
//
//	go test ./test/chaos -v             a short version of everything, as part of make test
//	make test-chaos                     the long one: 100 roll-outs with kills, and all other faults
//	go test ./test/chaos -v -seed 17 -run TestChaos/killed
//
// The seed determines what users do and which faults are drawn; when they strike depends on the machine.
package chaos

import (
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the users and the faults; 0 takes one from the clock")
	isLong = flag.Bool("long", false, "run the long version")
)

// chosenSeed is the seed of this run.
var chosenSeed = sync.OnceValue(func() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
})

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	scenario.AtOnce(len(styles))
	process.Main(m)
}
