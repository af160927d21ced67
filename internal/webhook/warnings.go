package webhook

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// warningKey finds the collector of a request in its context.
type warningKey struct{}

// collected are the warnings that the API server gave about one request of ours, to be handed on to the user.
type collected struct {
	mu    sync.Mutex
	texts []string
}

// collectWarnings returns a context whose requests leave their warnings in the collector.
func collectWarnings(ctx context.Context) (context.Context, *collected) {
	c := &collected{}
	return context.WithValue(ctx, warningKey{}, c), c
}

func (c *collected) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

// warningRouter takes warnings to the collector of the request they belong to.
type warningRouter struct{}

var _ rest.WarningHandlerWithContext = warningRouter{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningRouter) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	c, ok := ctx.Value(warningKey{}).(*collected)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, text)
}
