package ports

import (
	"context"
	"time"
)

// Throttle counts attempts per key, across every process that shares it. A key has room for limit attempts at once;
// the room grows back evenly, all of it within a window.
type Throttle interface {
	// Allow counts one attempt against limit per window. It returns 0 when the attempt may go on, else how long to wait.
	Allow(ctx context.Context, key string, limit int, window time.Duration) (wait time.Duration, err error)
	// GiveBack undoes one Allow that turned out not to count.
	GiveBack(ctx context.Context, key string, limit int, window time.Duration) error
}
