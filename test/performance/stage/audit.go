package stage

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/performance/scenarios"
)

// policy records what contestants ask for and what nodes do to pods, and spends
// nothing on the rest.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["%s"]
- level: Metadata
  users: ["%s"]
  verbs: [update, patch, delete]
  resources: [{group: "", resources: [pods, pods/status]}]
- level: None
`

// Audit is the API server's record of requests.
type Audit struct{ path string }

func newAudit(path string) *Audit { return &Audit{path: path} }

// flags writes the policy down and returns the API server's flags for it.
func (a *Audit) flags(policyPath string) (map[string]string, error) {
	var users []string
	for _, contestant := range []scenarios.Contestant{scenarios.BuiltIn, scenarios.Rollcall, scenarios.Floor} {
		users = append(users, UserOf(contestant))
	}
	text := fmt.Sprintf(policy, strings.Join(users, `", "`), cluster.NodesUser)
	if err := os.WriteFile(policyPath, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	const neverRotate = "100000"
	return map[string]string{"audit-policy-file": policyPath, "audit-log-path": a.path, "audit-log-maxsize": neverRotate}, nil
}

// Mark is a place in the record.
type Mark int64

// Mark returns where the record ends now.
func (a *Audit) Mark() (Mark, error) {
	info, err := os.Stat(a.path)
	if err != nil {
		return 0, fmt.Errorf("looking at the audit log: %w", err)
	}
	return Mark(info.Size()), nil
}

// Request is a line of the record.
type Request struct {
	User     struct{ Username string }
	Verb     string
	Stage    string
	Resource struct {
		Resource, Subresource, Namespace, Name string
	} `json:"objectRef"`
	Status struct{ Code int } `json:"responseStatus"`
	// Received is when the request came, Answered when it was answered.
	Received time.Time `json:"requestReceivedTimestamp"`
	Answered time.Time `json:"stageTimestamp"`
}

// What says what was asked: "create pods", "update statefulsets/status".
func (r Request) What() string {
	what := r.Verb + " " + r.Resource.Resource
	if r.Resource.Subresource != "" {
		what += "/" + r.Resource.Subresource
	}
	return what
}

// IsRead tells whether nothing was to be changed; watches are no reads, but what saves them.
func (r Request) IsRead() bool { return r.Verb == "get" || r.Verb == "list" }

// Since returns the requests of a user that were answered after the mark, watches left out.
func (a *Audit) Since(mark Mark, user string) ([]Request, error) {
	all, err := a.read(mark)
	var found []Request
	for _, request := range all {
		if request.User.Username == user && request.Stage == "ResponseComplete" && request.Verb != "watch" {
			found = append(found, request)
		}
	}
	return found, err
}

// Watches returns the resources for which a user has opened watches since the mark.
func (a *Audit) Watches(mark Mark, user string) (map[string]bool, error) {
	all, err := a.read(mark)
	found := map[string]bool{}
	for _, request := range all {
		if request.User.Username == user && request.Stage == "ResponseStarted" && request.Verb == "watch" {
			found[request.Resource.Resource] = true
		}
	}
	return found, err
}

func (a *Audit) read(mark Mark) ([]Request, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(int64(mark), io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return parse(file)
}

// parse reads whole lines; one that is being written is left for the next time.
func parse(from io.Reader) ([]Request, error) {
	var found []Request
	for reader := bufio.NewReaderSize(from, 1<<16); ; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return found, nil
		}
		var request Request
		if err := json.Unmarshal(line, &request); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		found = append(found, request)
	}
}
