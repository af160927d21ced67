package faultproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// upstream is an API server that counts what it is asked and answers with a time.
type upstream struct {
	asked atomic.Int32
	body  atomic.Value
}

const answered = `{"metadata":{"creationTimestamp":"2026-03-01T12:00:00Z"},"eventTime":"2026-03-01T12:00:00.123400Z","name":"time"}` + "\n"

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.asked.Add(1)
	body, _ := io.ReadAll(r.Body)
	u.body.Store(string(body))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answered)
	if isWatch(r) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func start(t *testing.T, options Options) (*Proxy, *upstream) {
	t.Helper()
	up := &upstream{}
	server := httptest.NewServer(up)
	proxy, err := Start(&rest.Config{Host: server.URL}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proxy.Close()
		server.Close()
	})
	return proxy, up
}

func send(t *testing.T, method, url, body string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	// No connection is used twice: net/http sends a GET again when one breaks that was used before.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(request)
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		fault     Fault
		method    string
		wantCode  int
		wantAsked int32
		wantCount int
	}{
		"a reset":                     {Reset, http.MethodGet, 0, 0, 1},
		"throttled":                   {Throttled, http.MethodGet, http.StatusTooManyRequests, 0, 1},
		"failed":                      {Failed, http.MethodPost, http.StatusInternalServerError, 0, 1},
		"a conflict":                  {Conflicted, http.MethodPut, http.StatusConflict, 0, 1},
		"no conflict for a read":      {Conflicted, http.MethodGet, http.StatusOK, 1, 0},
		"delayed":                     {Delayed, http.MethodDelete, http.StatusOK, 1, 1},
		"nothing to lose in a read":   {Lost, http.MethodGet, http.StatusOK, 1, 0},
		"nothing to cut in a request": {Cut, http.MethodGet, http.StatusOK, 1, 0},
		"no fault":                    {"", http.MethodGet, http.StatusOK, 1, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			proxy, up := start(t, Options{Seed: 1, Rates: Rates{tc.fault: 1}})
			response, err := send(t, tc.method, proxy.URL, "{}")
			code := 0
			if err == nil {
				code = response.StatusCode
				response.Body.Close()
			} else if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the error is %v, want a reset connection", err)
			}
			if code != tc.wantCode || up.asked.Load() != tc.wantAsked || proxy.Counts()[tc.fault] != tc.wantCount {
				t.Errorf("code %d, asked %d times, counts %v; want %d, %d and %d",
					code, up.asked.Load(), proxy.Counts(), tc.wantCode, tc.wantAsked, tc.wantCount)
			}
		})
	}
}

// TestLost has writes carried out whose answers are never seen, in both ways.
func TestLost(t *testing.T) {
	const requests = 20
	proxy, up := start(t, Options{Seed: 1, Rates: Rates{Lost: 1}})
	resets, refusals := 0, 0
	for range requests {
		response, err := send(t, http.MethodPost, proxy.URL, "{}")
		switch {
		case errors.Is(err, syscall.ECONNRESET):
			resets++
		case err == nil && response.StatusCode == http.StatusInternalServerError:
			refusals++
			response.Body.Close()
		default:
			t.Fatalf("the answer was seen: %v, %v", response, err)
		}
	}
	if resets == 0 || refusals == 0 || up.asked.Load() != requests || proxy.Counts()[Lost] != requests {
		t.Errorf("%d resets, %d refusals, %d carried out, %d counted, want both and %d", resets, refusals, up.asked.Load(), proxy.Counts()[Lost], requests)
	}
}

func TestCut(t *testing.T) {
	proxy, _ := start(t, Options{Seed: 1, Rates: Rates{Cut: 1}})
	response, err := send(t, http.MethodGet, proxy.URL+"?watch=true", "")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != answered {
		t.Fatalf("the watch began with %q and %v", line, err)
	}
	if _, err := lines.ReadString('\n'); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v, want it broken off", err)
	}
}

func TestRelent(t *testing.T) {
	proxy, _ := start(t, Options{Rates: Rates{Failed: 1}})
	proxy.Relent()
	response, err := send(t, http.MethodGet, proxy.URL, "")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("after the faults: %v, %v", response, err)
	}
	response.Body.Close()
}

// TestClock reads times too early and writes them too late through a proxy for a client whose clock is ahead.
func TestClock(t *testing.T) {
	proxy, up := start(t, Options{Ahead: time.Minute})
	response, err := send(t, http.MethodPut, proxy.URL, answered)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(answered, "12:00:00", "11:59:00")
	if diff := cmp.Diff(want, string(read)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	want = strings.ReplaceAll(answered, "12:00:00", "12:01:00")
	if diff := cmp.Diff(want, up.body.Load()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestSameSeedSameFaults draws the same faults for the same requests.
func TestSameSeedSameFaults(t *testing.T) {
	rates := Rates{Reset: 0.1, Failed: 0.2, Lost: 0.2, Delayed: 0.1}
	request := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	outcome := func(seed uint64) (faults []Fault) {
		proxy, _ := start(t, Options{Seed: seed, Rates: rates})
		for range 100 {
			fault, _ := proxy.draw(request)
			faults = append(faults, fault)
		}
		return faults
	}
	if diff := cmp.Diff(outcome(1), outcome(1)); diff != "" {
		t.Errorf("the same seed gave other faults:\n%s", diff)
	}
	if cmp.Equal(outcome(1), outcome(2)) {
		t.Error("another seed gave the same faults")
	}
}
