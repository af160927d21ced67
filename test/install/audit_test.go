package install

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// request is what the API server notes about a request, as far as it matters here.
type request struct {
	Verb      string `json:"verb"`
	URI       string `json:"requestURI"`
	User      struct{ Username string }
	ObjectRef struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	ResponseStatus struct {
		Code    int
		Message string
	}
	Annotations map[string]string
}

// readAudit returns what the service accounts of a namespace have asked so far.
func readAudit(t testing.TB, namespace string) []request {
	t.Helper()
	file, err := os.Open(auditLog())
	if err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	defer file.Close()
	var requests []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("reading the audit log: %v", err)
		}
		if strings.HasPrefix(r.User.Username, "system:serviceaccount:"+namespace+":") {
			requests = append(requests, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	return requests
}

// forbidden are the requests that RBAC refused. Others with the same code were refused by admission: a quota, PodSecurity.
func forbidden(requests []request) []string {
	var found []string
	for _, r := range requests {
		if r.ResponseStatus.Code == http.StatusForbidden && r.Annotations["authorization.k8s.io/decision"] != "allow" {
			found = append(found, fmt.Sprintf("%s: %s %s", r.User.Username, r.Verb, r.URI))
		}
	}
	return found
}

// right is one thing that a rule allows.
type right struct{ role, verb, group, resource, name string }

func (r right) String() string {
	text := fmt.Sprintf("%s: %s %s", r.role, r.verb, r.resource)
	if r.group != "" {
		text += "." + r.group
	}
	if r.name != "" {
		text += " " + r.name
	}
	return text
}

// rightsOf takes rules apart.
func rightsOf(role string, rules []rbacv1.PolicyRule) []right {
	var rights []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						rights = append(rights, right{role, verb, group, resource, name})
					}
				}
			}
		}
	}
	return rights
}

// isUsedBy tells whether a request needed the right, by what the authorizer says: which role allowed it.
func (r right) isUsedBy(asked request) bool {
	resource := asked.ObjectRef.Resource
	if asked.ObjectRef.Subresource != "" {
		resource += "/" + asked.ObjectRef.Subresource
	}
	return strings.Contains(asked.Annotations["authorization.k8s.io/reason"], `Role "`+r.role) &&
		asked.Verb == r.verb && asked.ObjectRef.APIGroup == r.group && resource == r.resource &&
		(r.name == "" || asked.ObjectRef.Name == r.name)
}

// unused are the rights that no request has needed.
func unused(rights []right, requests []request) []string {
	var found []string
	for _, r := range rights {
		if !slices.ContainsFunc(requests, r.isUsedBy) {
			found = append(found, r.String())
		}
	}
	return found
}
