package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/adapters/memthrottle"
	"sundry/adapters/redisthrottle"
	"sundry/ports"
)

// openRedis connects to REDIS_URL where there is one. Redis only makes things faster and shared: one that does not
// answer now must not stop the start.
func (a *App) openRedis() error {
	if a.cfg.RedisURL == "" {
		return nil
	}
	options, err := redis.ParseURL(a.cfg.RedisURL)
	if err != nil {
		return errors.New("REDIS_URL is not a valid Redis address") // err would print the password
	}
	options.DialTimeout = time.Second
	a.redis = redis.NewClient(options)
	a.closers = append(a.closers, a.redis.Close)
	return nil
}

// throttle counts attempts in Redis where there is one, else in this process.
func (a *App) throttle() ports.Throttle {
	local := memthrottle.New(a.clock.Real)
	if a.redis == nil {
		return local
	}
	return redisthrottle.New(a.redis, local, a.log)
}

// ready reports whether everything behind the API answers.
func (a *App) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := a.store.Ping(ctx)
	if a.redis != nil {
		if redisErr := a.redis.Ping(ctx).Err(); redisErr != nil {
			err = errors.Join(err, fmt.Errorf("ping redis: %w", redisErr))
		}
	}
	return err
}
