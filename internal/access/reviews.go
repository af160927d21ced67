package access

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Questions are asked at this rate at most, so that whoever tries tokens out does
// not try the API server.
const (
	questionsPerSecond = 10
	questionBurst      = 20
)

// reviews has the API server judge.
type reviews struct {
	tokens authenticationclient.TokenReviewInterface
	rights authorizationclient.SubjectAccessReviewInterface
}

// NewFilter returns a filter for the metrics server of controller-runtime.
func NewFilter(config *rest.Config, httpClient *http.Client) (metricsserver.Filter, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = questionsPerSecond, questionBurst, nil
	authentication, err := authenticationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client for token reviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews: %w", err)
	}
	judge := reviews{tokens: authentication.TokenReviews(), rights: authorization.SubjectAccessReviews()}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return &guard{judge: judge, memory: newMemory(time.Now), next: next, log: log}, nil
	}, nil
}

func (r reviews) identify(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	answer, err := r.tokens.Create(ctx, review, metav1.CreateOptions{})
	switch {
	case err != nil:
		return authenticationv1.UserInfo{}, fmt.Errorf("reviewing a token: %w", err)
	case !answer.Status.Authenticated:
		return authenticationv1.UserInfo{}, errUnknown
	default:
		return answer.Status.User, nil
	}
}

func (r reviews) isAllowed(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra(user),
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
	}}
	answer, err := r.rights.Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("reviewing the rights of user %s: %w", user.Username, err)
	}
	return answer.Status.Allowed && !answer.Status.Denied, nil
}

// extra is what authorizers may want to know besides, the same in the types of
// both groups.
func extra(user authenticationv1.UserInfo) map[string]authorizationv1.ExtraValue {
	values := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, value := range user.Extra {
		values[key] = authorizationv1.ExtraValue(value)
	}
	return values
}
