package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// register is a judge that knows two users: admin may do everything, guest
// nothing. Its other answers are errors.
type register struct{ questions []string }

func (r *register) identify(_ context.Context, token string) (authenticationv1.UserInfo, error) {
	r.questions = append(r.questions, "who is "+token)
	switch token {
	case "admin", "guest", "unclear":
		return authenticationv1.UserInfo{Username: token}, nil
	case "outage":
		return authenticationv1.UserInfo{}, errors.New("connection refused")
	default:
		return authenticationv1.UserInfo{}, errUnknown
	}
}

func (r *register) isAllowed(_ context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	r.questions = append(r.questions, fmt.Sprintf("may %s %s %s", user.Username, verb, path))
	if user.Username == "unclear" {
		return false, errors.New("connection refused")
	}
	return user.Username == "admin", nil
}

func newGuard(judge judge, now func() time.Time) *guard {
	next := http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) { fmt.Fprint(response, "secret") })
	return &guard{judge: judge, memory: newMemory(now), next: next, log: logr.Discard()}
}

func ask(g *guard, method, authorization string) *httptest.ResponseRecorder {
	asked := httptest.NewRequest(method, "/metrics", nil)
	if authorization != "" {
		asked.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	g.ServeHTTP(answer, asked)
	return answer
}

func TestGuard(t *testing.T) {
	tests := map[string]struct {
		authorization string
		wantCode      int
		wantText      string
	}{
		"nothing":              {"", http.StatusUnauthorized, "a bearer token is needed"},
		"a password":           {"Basic YWRtaW46YWRtaW4=", http.StatusUnauthorized, "a bearer token is needed"},
		"an empty token":       {"Bearer ", http.StatusUnauthorized, "a bearer token is needed"},
		"a token of nobody":    {"Bearer nobody", http.StatusUnauthorized, "the token is not valid"},
		"a user without right": {"Bearer guest", http.StatusForbidden, "user guest may not get /metrics"},
		"a user with it":       {"Bearer admin", http.StatusOK, "secret"},
		"any case":             {"bearer admin", http.StatusOK, "secret"},
		"no way to ask who":    {"Bearer outage", http.StatusServiceUnavailable, "the API server could not be asked"},
		"no way to ask what":   {"Bearer unclear", http.StatusServiceUnavailable, "the API server could not be asked"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer := ask(newGuard(&register{}, time.Now), http.MethodGet, test.authorization)
			if answer.Code != test.wantCode || !strings.Contains(answer.Body.String(), test.wantText) {
				t.Errorf("answer %d %q, want %d with %q", answer.Code, answer.Body, test.wantCode, test.wantText)
			}
			if asks, isUnauthorized := answer.Header().Get("WWW-Authenticate"), answer.Code == http.StatusUnauthorized; (asks == "Bearer") != isUnauthorized {
				t.Errorf("WWW-Authenticate is %q with code %d", asks, answer.Code)
			}
		})
	}
}

// A yes is remembered for a while and for what it was about; a no is not.
func TestGuardRemembers(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	judge := &register{}
	g := newGuard(judge, func() time.Time { return now })
	for _, step := range []struct {
		token, method string
		after         time.Duration
	}{
		{"admin", http.MethodGet, 0},
		{"admin", http.MethodGet, memorySpan - time.Second},
		{"admin", http.MethodPost, 0},
		{"admin", http.MethodGet, time.Second},
		{"guest", http.MethodGet, 0},
		{"guest", http.MethodGet, 0},
	} {
		now = now.Add(step.after)
		ask(g, step.method, "Bearer "+step.token)
	}
	want := []string{
		"who is admin", "may admin get /metrics",
		"who is admin", "may admin post /metrics",
		"who is admin", "may admin get /metrics",
		"who is guest", "may guest get /metrics",
		"who is guest", "may guest get /metrics",
	}
	if diff := cmp.Diff(want, judge.questions); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

// The memory stays small however many tokens there are, and forgets what has lapsed.
func TestMemoryIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := newMemory(func() time.Time { return now })
	for i := range 2 * memorySize {
		m.add(request{token: fmt.Sprint(i)})
	}
	if got := len(m.until); got != memorySize {
		t.Errorf("%d requests are remembered, want %d", got, memorySize)
	}
	now = now.Add(memorySpan)
	m.add(request{token: "new"})
	if got := len(m.until); got != 1 || !m.has(request{token: "new"}) {
		t.Errorf("%d requests are remembered, want only the new one", got)
	}
}
