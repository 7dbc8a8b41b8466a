package ports

import (
	"context"
	"time"
)

// Quota is what an attempt meets.
type Quota struct {
	// Wait is 0 when the attempt may go on, else how long until it may.
	Wait time.Duration
	// Remaining is how many more attempts may follow at once.
	Remaining int
	// Reset is how long until the whole limit is there again.
	Reset time.Duration
}

// RateLimiter counts attempts per key, across every process that shares it. A key allows limit attempts at once, which
// are restored evenly, all of them within a window.
type RateLimiter interface {
	Network
	// Allow counts one attempt against limit per window, unless it has to wait.
	Allow(ctx context.Context, key string, limit int, window time.Duration) (Quota, error)
	// Refund undoes one Allow that turned out not to count.
	Refund(ctx context.Context, key string, limit int, window time.Duration) error
}
