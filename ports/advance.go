package ports

import (
	"context"
	"sync"
	"time"
)

const (
	// AdvanceAttemptTimeout bounds a webhook attempt inside an advance of a clock, whose caller waits for it.
	AdvanceAttemptTimeout = 2 * time.Second
	// maxAdvanceFailures is the number of failures in a row after which an advance tries a receiver no more.
	maxAdvanceFailures = 2
)

// Advance is one advance of an account's clock, as the webhook attempts see it that are made inside. It is safe for
// concurrent use.
type Advance struct {
	mu       sync.Mutex
	failures map[string]int // in a row, by endpoint
}

type advanceKey struct{}

// InAdvance returns a context whose attempts are made inside a new advance.
func InAdvance(ctx context.Context) context.Context {
	return context.WithValue(ctx, advanceKey{}, &Advance{failures: map[string]int{}})
}

// AdvanceOf returns the advance that a context is in; nil for none.
func AdvanceOf(ctx context.Context) *Advance {
	a, _ := ctx.Value(advanceKey{}).(*Advance)
	return a
}

// GivenUp reports whether an endpoint is tried no more in this advance.
func (a *Advance) GivenUp(endpointID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failures[endpointID] >= maxAdvanceFailures
}

// Tried records the outcome of an attempt.
func (a *Advance) Tried(endpointID string, succeeded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if succeeded {
		delete(a.failures, endpointID)
	} else {
		a.failures[endpointID]++
	}
}
