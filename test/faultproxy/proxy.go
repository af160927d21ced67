// Package faultproxy stands between a client and an API server and has things go wrong, at the rates it is given, drawn
// by a seed. It also sets the client's clock wrong, by moving every time that passes through it.
//
// The proxy speaks as the user of its own configuration and passes on whom the client impersonates.
package faultproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// longestDelay and longestWatch bound what is drawn at random.
	longestDelay = 500 * time.Millisecond
	longestWatch = 3 * time.Second
)

// Options are what a proxy does to its client.
type Options struct {
	// Seed determines the faults, as far as the requests come in the same order.
	Seed  uint64
	Rates Rates
	// Ahead is how far the client's clock is ahead of the API server's, in whole seconds; it may be negative.
	Ahead time.Duration
}

// Proxy is a proxy at work.
type Proxy struct {
	// URL is where the client finds it.
	URL string

	ahead   time.Duration
	server  *http.Server
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	random *rand.Rand
	rates  Rates
	counts map[Fault]int
}

// Start starts a proxy in front of the API server of a configuration.
func Start(config *rest.Config, options Options) (*Proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to talk to the API server: %w", err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		URL: "http://" + listener.Addr().String(), ahead: options.Ahead, rates: options.Rates,
		random: rand.New(rand.NewPCG(options.Seed, 0)), counts: map[Fault]int{},
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, FlushInterval: -1, ModifyResponse: p.shiftAnswer,
		ErrorLog:     log.New(io.Discard, "", 0), // what goes wrong goes wrong on purpose
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { reset(w) },
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() error { return p.server.Close() }

// Relent ends all faults. The clock stays wrong.
func (p *Proxy) Relent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rates = nil
}

// Counts returns how often each fault has happened.
func (p *Proxy) Counts() map[Fault]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// ServeHTTP passes a request on, or not.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.shiftQuestion(r); err != nil {
		reset(w)
		return
	}
	fault, length := p.draw(r)
	switch fault {
	case Reset:
		reset(w)
	case Throttled:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	case Failed:
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case Conflicted:
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
	case Lost:
		p.lose(w, r, length)
	case Cut:
		ctx, cancel := context.WithTimeout(r.Context(), length)
		defer cancel()
		p.forward.ServeHTTP(w, r.WithContext(ctx))
	case Delayed:
		wait(r.Context(), length)
		p.forward.ServeHTTP(w, r)
	default:
		p.forward.ServeHTTP(w, r)
	}
}

// draw decides about a request and counts. What is lost is counted when it is known to have been applied.
func (p *Proxy) draw(r *http.Request) (Fault, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := p.rates.draw(r, p.random.Float64())
	if fault != "" && fault != Lost {
		p.counts[fault]++
	}
	if fault == Cut {
		return fault, within(longestWatch, p.random)
	}
	return fault, within(longestDelay, p.random)
}

// lose has a request carried out and hides the answer, in one of two ways.
func (p *Proxy) lose(w http.ResponseWriter, r *http.Request, length time.Duration) {
	answer := &unseen{header: http.Header{}}
	p.forward.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
	if answer.code >= 200 && answer.code < 300 {
		p.mu.Lock()
		p.counts[Lost]++
		p.mu.Unlock()
	}
	if length < longestDelay/2 {
		reset(w)
		return
	}
	refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
}

// unseen is an answer that nobody gets.
type unseen struct {
	header http.Header
	code   int
}

func (u *unseen) Header() http.Header         { return u.header }
func (u *unseen) Write(b []byte) (int, error) { return len(b), nil }
func (u *unseen) WriteHeader(code int)        { u.code = code }

func wait(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// refuse answers as an API server does that refuses.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "the fault proxy had this go wrong",
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status)
}

// reset ends the connection without a word.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	connection, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // discard what is unsent, and say RST instead of FIN
	}
	_ = connection.Close()
}
