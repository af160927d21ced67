package operator

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage may gather before it is collected, as a share of what lives.
// The operator keeps every pod of every set in memory, so the share is half of
// Go's own. With few pods half is so little that collecting it takes a fifth of
// the processor time; garbageLeeway is always allowed.
const (
	garbagePercent = 50
	garbageLeeway  = 12 << 20
)

// paceGarbage has garbage collected at this pace, unless GOGC says otherwise.
func paceGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(garbagePercent)
	afterCollections(func() { debug.SetGCPercent(percentOf(liveBytes())) })
}

// percentOf is the garbage that may gather, in percent of what lives.
func percentOf(live uint64) int {
	return int(max(garbagePercent, garbageLeeway*100/max(live, 1<<20)))
}

// liveBytes is how much of the heap the last collection has left.
func liveBytes() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// afterCollections acts after every collection: each takes an object that nobody holds, and the next one gets another.
func afterCollections(act func()) {
	runtime.AddCleanup(&struct{ held *byte }{}, func(act func()) {
		afterCollections(act)
		act()
	}, act)
}
