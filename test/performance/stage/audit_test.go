package stage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are as kube-apiserver writes them, with what nobody reads left out; the last one is being written.
const lines = `{"level":"Metadata","stage":"ResponseComplete","verb":"update","user":{"username":"u"},"objectRef":{"resource":"statefulsets","namespace":"n","name":"web","subresource":"status"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000001Z","stageTimestamp":"2026-01-02T03:04:05.000009Z"}
{"level":"Metadata","stage":"ResponseComplete","verb":"list","user":{"username":"u"},"objectRef":{"resource":"pods"}}
{"level":"Metadata","stage":"Resp`

func TestParse(t *testing.T) {
	requests, err := parse(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, request := range requests {
		got = append(got, request.What())
	}
	if diff := cmp.Diff([]string{"update statefulsets/status", "list pods"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if took := requests[0].Answered.Sub(requests[0].Received).Microseconds(); took != 8 {
		t.Errorf("the first took %d µs, want 8", took)
	}
	if requests[0].IsRead() || !requests[1].IsRead() {
		t.Error("reads and writes are mixed up")
	}
	if _, err := parse(strings.NewReader("no JSON\n")); err == nil {
		t.Error("a broken log is read without an error")
	}
}
