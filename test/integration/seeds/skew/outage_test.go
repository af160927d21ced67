package skew

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/admission"
	"github.com/rollcall-dev/rollcall/test/process"
	"github.com/rollcall-dev/rollcall/test/scenario"
)

// Seeds 000, 001, 003 and 004, troubleshooting: while the API server is out of reach for the controller, updates halt.
// When it is back, the controller goes on from the state it finds; what was corrected meanwhile gets through.
func TestOutageOfTheAPIServer(t *testing.T) {
	t.Parallel()
	story := scenario.PrepareUnattended(t, scenario.Rollcall)
	admission.Serve(t, story.Space, plan.AllGates())
	line := layLine(t, story.Config.Host)
	detour := *story.Space
	detour.Config = rest.CopyConfig(story.Config)
	detour.Config.Host = "https://" + line.listener.Addr().String()
	process.Start(t, &detour)

	story.Create(scenario.Replicas(3), scenario.Strategy(v1.EnforcedRollingUpdateStrategy))
	story.ThenUpdated(3)
	story.When(scenario.Image(crashing))
	story.ThenPodBroken(2, crashing)
	line.cut()
	story.When(scenario.Image(fixed))
	story.ThenQuiet()
	story.ThenPods("web-0 r1", "web-1 r1", "web-2 r2")
	line.mend()
	story.ThenUpdated(3)
	story.ThenPods("web-0 r3", "web-1 r3", "web-2 r3")
}

// line is a connection to the API server that can be cut.
type line struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

// layLine leads to a server until the test ends.
func layLine(t *testing.T, server string) *line {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("reading the address of the API server: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, server: address.Host, open: map[net.Conn]bool{}}
	go l.serve()
	t.Cleanup(func() {
		listener.Close()
		l.cut()
	})
	return l
}

func (l *line) serve() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.server)
		if err != nil || !l.keep(near, far) {
			near.Close()
			continue
		}
		go l.carry(near, far)
		go l.carry(far, near)
	}
}

// carry passes on what comes in until either end is closed, and closes the other.
func (l *line) carry(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	from.Close()
	to.Close()
}

// keep remembers connections, unless the line is cut.
func (l *line) keep(connections ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, connection := range connections {
		if l.isCut {
			connection.Close()
			continue
		}
		l.open[connection] = true
	}
	return !l.isCut
}

// cut ends all connections and lets no new ones through.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for connection := range l.open {
		connection.Close()
	}
	clear(l.open)
}

// mend lets connections through again.
func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}
