// Package redisratelimit counts attempts in Redis, for every process of the deployment together.
package redisratelimit

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
	// timeout bounds a call of Redis: counting attempts is not worth more of a request's time.
	timeout = 500 * time.Millisecond
	// retryAfter is the pause after a failure before Redis is called again.
	retryAfter = time.Second
)

var _ ports.RateLimiter = (*RateLimiter)(nil)

// RateLimiter implements ports.RateLimiter. While Redis cannot be reached it counts in fallback: limits then hold per
// process, and nobody is locked out.
type RateLimiter struct {
	limiter  *redis_rate.Limiter
	prefix   string
	fallback ports.RateLimiter
	log      *slog.Logger
	// resumeAt is the time (Unix nanoseconds) from which Redis is called again.
	resumeAt atomic.Int64
}

// New returns a rate limiter over the client, whose keys begin with prefix.
func New(client *redis.Client, prefix string, fallback ports.RateLimiter, log *slog.Logger) *RateLimiter {
	return &RateLimiter{limiter: redis_rate.NewLimiter(client), prefix: prefix, fallback: fallback, log: log}
}

// Allow implements ports.RateLimiter.
func (l *RateLimiter) Allow(ctx context.Context, key string, limit int, window time.Duration) (ports.Quota, error) {
	return l.AllowN(ctx, key, 1, limit, window)
}

// AllowN implements ports.RateLimiter.
func (l *RateLimiter) AllowN(
	ctx context.Context, key string, n, limit int, window time.Duration,
) (ports.Quota, error) {
	result, ok := l.count(ctx, key, limit, window, n)
	if !ok {
		return l.fallback.AllowN(ctx, key, n, limit, window)
	}
	quota := ports.Quota{Remaining: result.Remaining, Reset: result.ResetAfter}
	if result.Allowed == 0 {
		quota.Wait = max(result.RetryAfter, time.Millisecond)
	}
	return quota, nil
}

// Refund implements ports.RateLimiter.
func (l *RateLimiter) Refund(ctx context.Context, key string, limit int, window time.Duration) error {
	if _, ok := l.count(ctx, key, limit, window, -1); !ok {
		return l.fallback.Refund(ctx, key, limit, window)
	}
	return nil
}

// count takes n attempts; ok is false when Redis did not respond.
func (l *RateLimiter) count(ctx context.Context, key string, limit int, window time.Duration,
	n int) (result *redis_rate.Result, ok bool) {
	if time.Now().UnixNano() < l.resumeAt.Load() {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	result, err := l.limiter.AllowN(ctx, l.prefix+":"+key, redis_rate.Limit{Rate: limit, Burst: limit, Period: window}, n)
	if err != nil {
		l.resumeAt.Store(time.Now().Add(retryAfter).UnixNano())
		l.log.WarnContext(ctx, "rate limits are counted per process: Redis does not respond", slog.Any("error", err))
		return nil, false
	}
	return result, true
}
