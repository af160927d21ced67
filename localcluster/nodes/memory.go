package nodes

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// memory knows to the millisecond when pods came and were told to go, since the API's own times have whole seconds, and when
// the API server was asked to remove them.
type memory struct {
	sync.Mutex
	arrivals, departures, removals map[types.UID]time.Time
}

// arrival is when the pod came to its node.
func (m *memory) arrival(pod *corev1.Pod, lives life, now time.Time) time.Time {
	if started := pod.Status.StartTime; started != nil {
		// Known only to a simulator that was started after the pod.
		now = started.Time
		if pod.Status.Phase != corev1.PodPending {
			now = now.Add(-lives.startDelay)
		}
	}
	return m.recall(&m.arrivals, pod.UID, now)
}

// departure is when the pod was told to stop.
func (m *memory) departure(pod *corev1.Pod, now time.Time) time.Time {
	return m.recall(&m.departures, pod.UID, now)
}

// removal says how long to wait before asking for the removal of a pod: not at all the first time, whose time is noted. An
// answer changes the pod once more before it is gone, which is no reason to ask again.
func (m *memory) removal(pod *corev1.Pod, now time.Time) time.Duration {
	m.Lock()
	defer m.Unlock()
	if asked, known := m.removals[pod.UID]; known && now.Sub(asked) < retryAfter {
		return retryAfter - now.Sub(asked)
	}
	if m.removals == nil {
		m.removals = map[types.UID]time.Time{}
	}
	m.removals[pod.UID] = now
	return 0
}

// recall is the time noted for a pod; the first one asked for is noted.
func (m *memory) recall(times *map[types.UID]time.Time, uid types.UID, now time.Time) time.Time {
	m.Lock()
	defer m.Unlock()
	if *times == nil {
		*times = map[types.UID]time.Time{}
	}
	if noted, known := (*times)[uid]; known {
		return noted
	}
	(*times)[uid] = now
	return now
}

func (m *memory) forget(uid types.UID) {
	m.Lock()
	defer m.Unlock()
	delete(m.arrivals, uid)
	delete(m.departures, uid)
	delete(m.removals, uid)
}

// addresses hands out pod addresses upwards from 10.128.0.1, each once.
type addresses struct {
	sync.Mutex
	last uint32
}

const firstAddress = 10<<24 | 128<<16

func (a *addresses) take() string {
	a.Lock()
	defer a.Unlock()
	a.last = max(a.last, firstAddress) + 1
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], a.last)
	return netip.AddrFrom4(raw).String()
}

// reserve keeps an address in use, from before a restart, from being handed out again.
func (a *addresses) reserve(ip string) {
	address, err := netip.ParseAddr(ip)
	if err != nil || !address.Is4() {
		return
	}
	a.Lock()
	defer a.Unlock()
	raw := address.As4()
	a.last = max(a.last, binary.BigEndian.Uint32(raw[:]))
}
