package ports

import (
	"context"
	"fmt"
	"time"

	"sundry/core/fault"
)

// Quota is the state of a rate limit after an attempt.
type Quota struct {
	// Wait is 0 when the attempt may go on, else how long until it may.
	Wait time.Duration
	// Remaining is the number of further attempts that may follow at once.
	Remaining int
	// Reset is the time until the whole limit is available again.
	Reset time.Duration
}

// RateLimiter counts attempts per key, across every process that shares it. A key allows limit attempts at once, which
// are restored evenly, all of them within a window.
type RateLimiter interface {
	Network
	// Allow counts one attempt against limit per window, unless it has to wait.
	Allow(ctx context.Context, key string, limit int, window time.Duration) (Quota, error)
	// AllowN is Allow for n attempts, of which none counts if they have to wait. n is at most limit.
	AllowN(ctx context.Context, key string, n, limit int, window time.Duration) (Quota, error)
	// Refund undoes one Allow that turned out not to count.
	Refund(ctx context.Context, key string, limit int, window time.Duration) error
}

// Attempt is counted by its key, against a limit per window.
type Attempt struct {
	Key    string
	Limit  int
	Window time.Duration
	// Message is the refusal's.
	Message string
}

// Admit counts an attempt, or refuses it with its message while it has to wait. RATE_LIMITED.
func Admit(ctx context.Context, limiter RateLimiter, a Attempt) error {
	quota, err := limiter.Allow(ctx, a.Key, a.Limit, a.Window)
	if err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}
	if quota.Wait > 0 {
		return fault.TooMany(a.Message, quota.Wait)
	}
	return nil
}
