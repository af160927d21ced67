package operator

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// leaseDuration is how long a standby waits for a leader that is gone without a word.
	leaseDuration = 15 * time.Second
	// renewDeadline is how long a leader goes on without having renewed its lease; nobody else leads until then.
	renewDeadline = 10 * time.Second
)

// fence keeps a process from writing that may not lead any more.
//
// A leader gives up when it can't renew its lease in time. But a process that was stopped meanwhile, with its machine or by
// its memory limit, wakes up with work in its hands and takes a moment to notice; another leads by then. So the fence
// stands where requests leave the process: it sees the lease renewed, and lets writes pass only so long after that.
type fence struct {
	now func() time.Time

	mu      sync.Mutex
	renewed time.Time
}

// before puts the fence before a way to the API server. There are several, one of them for the lease, and one fence.
func (f *fence) before(next http.RoundTripper) http.RoundTripper { return &gate{fence: f, next: next} }

// gate is where one way goes through the fence.
type gate struct {
	*fence
	next http.RoundTripper
}

// The APIs that a standby writes to as well: the lease, and questions about who may read its metrics.
const (
	leases         = "/apis/coordination.k8s.io/"
	authentication = "/apis/authentication.k8s.io/"
	authorization  = "/apis/authorization.k8s.io/"
)

// RoundTrip passes a request on unless it is a write and the lease may have lapsed.
func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	path := request.URL.Path
	switch {
	case request.Method == http.MethodGet, strings.Contains(path, authentication), strings.Contains(path, authorization):
		return g.next.RoundTrip(request)
	case strings.Contains(path, leases):
		return g.renew(request)
	}
	if silence := g.silence(); silence > renewDeadline {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, fmt.Errorf("the lease was last renewed %s ago: another replica may lead by now", silence.Round(time.Millisecond))
	}
	return g.next.RoundTrip(request)
}

// renew passes a write to the lease on. What it is good for counts from its sending.
func (g *gate) renew(request *http.Request) (*http.Response, error) {
	sent := g.wallClock()
	response, err := g.next.RoundTrip(request)
	if err == nil && response.StatusCode < http.StatusMultipleChoices {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.renewed = sent
	}
	return response, err
}

// silence is how long ago the lease was renewed.
func (f *fence) silence() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wallClock().Sub(f.renewed)
}

// wallClock is the time without the reading of a clock that stands still while the machine is suspended.
func (f *fence) wallClock() time.Time { return f.now().Round(0) }
