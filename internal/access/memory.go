package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// memorySpan is how long a yes holds. For as long, a right that was taken away
	// still works.
	memorySpan = time.Minute
	// memorySize is far more than there are scrapers.
	memorySize = 1000
)

// memory is what was allowed lately. Tokens are kept as hashes: nothing that
// could be stolen is in it.
type memory struct {
	now func() time.Time

	mu    sync.Mutex
	until map[request]time.Time
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, until: map[request]time.Time{}}
}

func hashed(r request) request {
	sum := sha256.Sum256([]byte(r.token))
	r.token = string(sum[:])
	return r
}

func (m *memory) has(r request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now().Before(m.until[hashed(r)])
}

// add remembers a request. What has lapsed makes room; if there is none, the
// request is not remembered and only costs a question more.
func (m *memory) add(r request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for known, until := range m.until {
		if !now.Before(until) {
			delete(m.until, known)
		}
	}
	if len(m.until) < memorySize {
		m.until[hashed(r)] = now.Add(memorySpan)
	}
}
