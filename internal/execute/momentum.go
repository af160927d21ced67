package execute

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// mostMomentum is the largest first batch of a plan. So many requests may be
// refused before anybody notices that something has changed, a quota for example.
const mostMomentum = 16

// momentum is how large a batch of creates each set may begin with: twice the
// last one if that went well, else a single one.
type momentum struct {
	mu   sync.Mutex
	next map[types.NamespacedName]int
}

func newMomentum() *momentum { return &momentum{next: map[types.NamespacedName]int{}} }

func (m *momentum) of(set types.NamespacedName) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(1, m.next[set])
}

// note remembers how a batch went. A small one that went well takes nothing from what larger ones have gained.
func (m *momentum) note(set types.NamespacedName, size int, isWell bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if isWell {
		m.next[set] = max(m.next[set], 2*size)
	} else {
		m.next[set] = 1
	}
}

// settle ends a plan: the next one begins with no more than is prudent.
func (m *momentum) settle(set types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next[set] = min(m.next[set], mostMomentum)
}

func (m *momentum) forget(set types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.next, set)
}
