// Package access lets in whom the cluster lets in: a request has to bring a
// bearer token, the API server says whose it is (TokenReview) and whether that
// user may do this (SubjectAccessReview). So the right to scrape metrics is
// granted like any other, by RBAC:
//
//	rules:
//	- nonResourceURLs: [/metrics]
//	  verbs: [get]
//
// What answers a request:
//
//	401  no token, or none that the API server knows
//	403  the user may not do this
//	503  the API server could not be asked: nobody is let in on a guess
//
// A yes is remembered for a minute, so that scrapes don't load the API server. A
// no is not: who was granted a right need not wait for it.
package access

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// askTimeout is how long a request waits for the API server's answer.
const askTimeout = 10 * time.Second

// request is what somebody wants to do.
type request struct {
	token string
	verb  string
	path  string
}

// judge is who knows what users may do.
type judge interface {
	// identify tells whose a token is, or errUnknown.
	identify(ctx context.Context, token string) (authenticationv1.UserInfo, error)
	// isAllowed tells whether a user may do something.
	isAllowed(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error)
}

// errUnknown says that a token belongs to nobody.
var errUnknown = errors.New("the token is not valid")

// guard stands before a handler.
type guard struct {
	judge  judge
	memory *memory
	next   http.Handler
	log    logr.Logger
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(response http.ResponseWriter, asked *http.Request) {
	token, ok := bearerToken(asked)
	if !ok {
		refuse(response, http.StatusUnauthorized, "a bearer token is needed")
		return
	}
	wish := request{token: token, verb: strings.ToLower(asked.Method), path: asked.URL.Path}
	if !g.memory.has(wish) {
		if code, why := g.decide(asked.Context(), wish); code != http.StatusOK {
			refuse(response, code, why)
			return
		}
		g.memory.add(wish)
	}
	g.next.ServeHTTP(response, asked)
}

// decide asks the judge and returns the code to answer with, and why.
func (g *guard) decide(ctx context.Context, wish request) (code int, why string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	user, err := g.judge.identify(ctx, wish.token)
	if errors.Is(err, errUnknown) {
		return http.StatusUnauthorized, err.Error()
	}
	isAllowed := false
	if err == nil {
		isAllowed, err = g.judge.isAllowed(ctx, user, wish.verb, wish.path)
	}
	switch {
	case err != nil:
		g.log.Error(err, "Could not tell whether a request is allowed", "verb", wish.verb, "path", wish.path)
		return http.StatusServiceUnavailable, "the API server could not be asked whether this is allowed"
	case !isAllowed:
		return http.StatusForbidden, "user " + user.Username + " may not " + wish.verb + " " + wish.path
	default:
		return http.StatusOK, ""
	}
}

func refuse(response http.ResponseWriter, code int, why string) {
	if code == http.StatusUnauthorized {
		response.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(response, why, code)
}

// bearerToken returns the token of a request, or false if there is none.
func bearerToken(asked *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(asked.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}
