package operator

import (
	"runtime"
	"testing"
	"time"
)

func TestPercentOf(t *testing.T) {
	for live, want := range map[uint64]int{0: 1200, 6 << 20: 200, 12 << 20: 100, 24 << 20: 50, 4 << 30: 50} {
		if got := percentOf(live); got != want {
			t.Errorf("with %d bytes that live %d %% may gather, want %d", live, got, want)
		}
	}
	if runtime.GC(); liveBytes() == 0 {
		t.Error("nothing lives after a collection")
	}
}

// TestAfterCollections: not only after the first.
func TestAfterCollections(t *testing.T) {
	acted := make(chan struct{}, 100)
	afterCollections(func() { acted <- struct{}{} })
	for range 3 {
		runtime.GC()
		select {
		case <-acted:
		case <-time.After(10 * time.Second):
			t.Fatal("nothing happened after a collection")
		}
	}
}
