package operator

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answers is a way to the API server on which every request is answered with a code.
type answers int

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a), Body: http.NoBody}, nil
}

func TestFence(t *testing.T) {
	const (
		lease = "/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-controller"
		pods  = "/api/v1/namespaces/shop/pods"
	)
	cases := map[string]struct {
		// renewal is how the attempt to renew the lease was answered; 0 if there was none.
		renewal     int
		later       time.Duration
		method      string
		path        string
		wantRefused bool
	}{
		"before the election":             {0, 0, http.MethodPost, pods, true},
		"reads before the election":       {0, 0, http.MethodGet, pods, false},
		"as the leader":                   {http.StatusOK, renewDeadline, http.MethodDelete, pods + "/web-0", false},
		"after waking up":                 {http.StatusOK, renewDeadline + time.Millisecond, http.MethodDelete, pods + "/web-0", true},
		"the first renewal creates":       {http.StatusCreated, 0, http.MethodPatch, pods + "/web-0", false},
		"somebody else has the lease":     {http.StatusConflict, 0, http.MethodPost, pods, true},
		"the lease itself":                {0, 0, http.MethodPut, lease, false},
		"who may read metrics of standby": {0, 0, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", false},
		"what they may do":                {0, 0, http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", false},
		"behind a path of a proxy":        {http.StatusOK, time.Hour, http.MethodPut, "/clusters/one" + pods, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
			f := &fence{now: func() time.Time { return now }}
			if tc.renewal != 0 {
				_ = send(t, f.before(answers(tc.renewal)), http.MethodPut, lease)
			}
			now = now.Add(tc.later)
			if err := send(t, f.before(answers(http.StatusOK)), tc.method, tc.path); (err != nil) != tc.wantRefused {
				t.Errorf("%s %s: error %v, want a refusal: %t", tc.method, tc.path, err, tc.wantRefused)
			}
		})
	}
}

func send(t *testing.T, way http.RoundTripper, method, path string) error {
	t.Helper()
	response, err := way.RoundTrip(httptest.NewRequest(method, path, strings.NewReader("{}")))
	if err == nil {
		response.Body.Close()
	}
	return err
}
