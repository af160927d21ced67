package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rollcall-dev/rollcall/test/scenario"
)

// line is a connection to the API server that can be cut.
type line struct {
	isCut atomic.Bool
	// isWatched: somebody has watched for a while, and asked whether the API server is still there.
	isWatched atomic.Bool
	// refused gets a word for each request that fails.
	refused chan struct{}
}

var errGone = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func (l *line) wrap(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if l.isCut.Load() {
				select {
				case l.refused <- struct{}{}:
				default:
				}
				return nil, errGone
			}
			response, err := next.RoundTrip(request)
			if err == nil {
				l.isWatched.CompareAndSwap(false, request.URL.Query().Get("limit") == "1")
				response.Body = &wire{response.Body, l}
			}
			return response, err
		})
	})
	return config
}

// wire is an answer that ends when the line is cut.
type wire struct {
	io.ReadCloser
	line *line
}

func (w *wire) Read(data []byte) (int, error) {
	n, err := w.ReadCloser.Read(data)
	if w.line.isCut.Load() {
		return 0, errGone
	}
	return n, err
}

// TestStatusBearsAnOutage: an API server that is away for a moment ends nothing, and nothing is missed.
func TestStatusBearsAnOutage(t *testing.T) {
	t.Parallel()
	story := scenario.Given(t, scenario.Rollcall, scenario.Image("web:1-never-ready"))
	story.ThenPodBroken(0, "web:1-never-ready")
	connection := &line{refused: make(chan struct{})}
	user := newUser(t, story.Space)
	user.Wrap = connection.wrap
	ended := make(chan outcome)
	go func() { ended <- user.run("status", "web") }()
	story.Eventually(t, "the plugin has begun to watch", func(context.Context) error {
		if !connection.isWatched.Load() {
			return errors.New("it has not")
		}
		return nil
	})
	connection.isCut.Store(true)
	for range 2 {
		<-connection.refused
	}
	connection.isCut.Store(false)
	story.Mend(0)
	(<-ended).want(t, 0, "no answer from the API server, trying again", "web is rolled out")
}
