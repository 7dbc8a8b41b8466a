package redisratelimit

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"sundry/ports"
	"sundry/tests/contract"
	"sundry/tests/testredis"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestContract(t *testing.T) {
	t.Parallel()
	client := testredis.Client(t, testredis.Shared)
	contract.RateLimiter(t, New(client, "sundry", refuser{t}, quiet()))
	for range 2 { // each under a prefix of its own
		limiter := New(client, rand.Text(), refuser{t}, quiet())
		if quota, err := limiter.Allow(t.Context(), "k", 1, time.Minute); quota.Wait != 0 || err != nil {
			t.Errorf("the first attempt under a prefix waits %v, %v", quota.Wait, err)
		}
	}
}

// refuser fails the test that falls back.
type refuser struct{ t *testing.T }

func (r refuser) Allow(context.Context, string, int, time.Duration) (ports.Quota, error) {
	r.t.Error("fell back although Redis responds")
	return ports.Quota{}, nil
}

func (r refuser) AllowN(ctx context.Context, key string, _, limit int, window time.Duration) (ports.Quota, error) {
	return r.Allow(ctx, key, limit, window)
}

func (r refuser) Refund(context.Context, string, int, time.Duration) error {
	r.t.Error("fell back although Redis responds")
	return nil
}

// tally counts what reaches the fallback.
type tally struct{ allowed, givenBack int }

func (c *tally) Allow(context.Context, string, int, time.Duration) (ports.Quota, error) {
	c.allowed++
	return ports.Quota{Wait: 7 * time.Second}, nil
}

func (c *tally) AllowN(ctx context.Context, key string, _, limit int, window time.Duration) (ports.Quota, error) {
	return c.Allow(ctx, key, limit, window)
}

func (c *tally) Refund(context.Context, string, int, time.Duration) error {
	c.givenBack++
	return nil
}

func TestWithoutRedisTheFallbackCounts(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialTimeout: 100 * time.Millisecond})
	t.Cleanup(func() { _ = client.Close() })
	fallback, log := &tally{}, &bytes.Buffer{}
	limiter := New(client, "sundry", fallback, slog.New(slog.NewTextHandler(log, nil)))
	ctx := context.Background()

	if quota, err := limiter.Allow(ctx, "k", 2, time.Minute); quota.Wait != 0 || err != nil || fallback.allowed != 0 {
		t.Fatalf("with Redis: wait %v, %v, fallback asked %d times", quota, err, fallback.allowed)
	}
	server.Close()
	for range 3 {
		if quota, err := limiter.Allow(ctx, "k", 2, time.Minute); quota.Wait != 7*time.Second || err != nil {
			t.Fatalf("without Redis: wait %v, %v", quota, err)
		}
	}
	if err := limiter.Refund(ctx, "k", 2, time.Minute); err != nil || fallback.allowed != 3 || fallback.givenBack != 1 {
		t.Errorf("fallback: %+v, %v", fallback, err)
	}
	if n := bytes.Count(log.Bytes(), []byte("level=WARN")); n != 1 {
		t.Errorf("an outage is logged once a second, not %d times:\n%s", n, log)
	}

	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	limiter.resumeAt.Store(0) // the pause is over
	if quota, err := limiter.Allow(ctx, "k", 2, time.Minute); quota.Wait != 0 || err != nil || fallback.allowed != 3 {
		t.Errorf("with Redis again: wait %v, %v, fallback asked %d times", quota, err, fallback.allowed)
	}
}

func TestASilentRedisCostsLittleTime(t *testing.T) {
	t.Parallel()
	silent := redis.NewClient(&redis.Options{Addr: "192.0.2.1:6379"}) // TEST-NET-1: nobody responds
	t.Cleanup(func() { _ = silent.Close() })
	limiter := New(silent, "sundry", &tally{}, quiet())
	start := time.Now()
	for range 50 {
		if _, err := limiter.Allow(context.Background(), "k", 2, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > 10*timeout { // one after the other they would need 50
		t.Errorf("50 attempts took %v", took)
	}
}
