// Package redisthrottle counts attempts in Redis, for every process of the deployment together.
package redisthrottle

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"sundry/ports"
)

const (
	// patience is how long Redis may take. Counting attempts is not worth more of a request's time.
	patience = 500 * time.Millisecond
	// pause is how long Redis is left alone after it failed.
	pause = time.Second
)

var _ ports.Throttle = (*Throttle)(nil)

// Throttle implements ports.Throttle. While Redis cannot be reached it counts in fallback: limits then hold per
// process, and nobody is locked out.
type Throttle struct {
	limiter  *redis_rate.Limiter
	fallback ports.Throttle
	log      *slog.Logger
	// resumeAt is when (Unix nanoseconds) Redis is asked again.
	resumeAt atomic.Int64
}

// New returns a throttle over the client.
func New(client *redis.Client, fallback ports.Throttle, log *slog.Logger) *Throttle {
	return &Throttle{limiter: redis_rate.NewLimiter(client), fallback: fallback, log: log}
}

// Allow implements ports.Throttle.
func (t *Throttle) Allow(ctx context.Context, key string, limit int, window time.Duration) (time.Duration, error) {
	result, ok := t.count(ctx, key, limit, window, 1)
	if !ok {
		return t.fallback.Allow(ctx, key, limit, window)
	}
	if result.Allowed > 0 {
		return 0, nil
	}
	return max(result.RetryAfter, time.Millisecond), nil
}

// GiveBack implements ports.Throttle.
func (t *Throttle) GiveBack(ctx context.Context, key string, limit int, window time.Duration) error {
	if _, ok := t.count(ctx, key, limit, window, -1); !ok {
		return t.fallback.GiveBack(ctx, key, limit, window)
	}
	return nil
}

// count takes n attempts; ok is false when Redis did not answer.
func (t *Throttle) count(ctx context.Context, key string, limit int, window time.Duration, n int) (result *redis_rate.Result, ok bool) {
	if time.Now().UnixNano() < t.resumeAt.Load() {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	result, err := t.limiter.AllowN(ctx, key, redis_rate.Limit{Rate: limit, Burst: limit, Period: window}, n)
	if err != nil {
		t.resumeAt.Store(time.Now().Add(pause).UnixNano())
		t.log.WarnContext(ctx, "rate limits are counted per process: Redis does not answer", slog.Any("error", err))
		return nil, false
	}
	return result, true
}
