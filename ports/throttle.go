package ports

import (
	"context"
	"time"
)

// Throttle counts attempts per key, across every process that shares it.
type Throttle interface {
	// Allow counts one attempt against limit per window. It returns 0 when the attempt may go on, else how long to wait.
	Allow(ctx context.Context, key string, limit int, window time.Duration) (wait time.Duration, err error)
}
