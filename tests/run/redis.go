package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// findRedis returns the URL of a Redis that the tests may flush, and how it was had. A server of its own comes before
// the one on the standard port: the tests empty it more than once, and that one may hold somebody's work.
func findRedis(ctx context.Context, b *bench) (address, how string, err error) {
	if given := os.Getenv("TEST_REDIS_URL"); given != "" {
		return given, "TEST_REDIS_URL", checkRedis(ctx, given)
	}
	return firstOf(ctx, []way{
		{"a server of its own", func(ctx context.Context) (string, error) { return startRedis(ctx, b) }},
		{"the server on 127.0.0.1:6379", func(ctx context.Context) (string, error) {
			const address = "redis://127.0.0.1:6379/0"
			return address, checkRedis(ctx, address)
		}},
		{"apt-get install redis-server, a server of its own", func(ctx context.Context) (string, error) {
			if err := aptInstall(ctx, "redis-server"); err != nil {
				return "", err
			}
			return startRedis(ctx, b)
		}},
		{"Docker, redis:7-alpine", func(ctx context.Context) (string, error) {
			host, err := dockerRun(ctx, b, "redis", "6379", "redis:7-alpine", "--save", "")
			if err != nil {
				return "", err
			}
			return awaitRedis(ctx, host)
		}},
		{"brew install redis, a server of its own", func(ctx context.Context) (string, error) {
			if err := brewInstall(ctx, "redis"); err != nil {
				return "", err
			}
			return startRedis(ctx, b)
		}},
	})
}

func awaitRedis(ctx context.Context, host string) (string, error) {
	address := "redis://" + host + "/0"
	return address, await(ctx, 60*time.Second, nil, nil,
		func(ctx context.Context) error { return checkRedis(ctx, address) })
}

func checkRedis(ctx context.Context, address string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	options, err := redis.ParseURL(address)
	if err != nil {
		return err
	}
	options.MaxRetries, options.DialerRetries = -1, 1 // the caller asks again
	logging.Disable()                                 // an absent server is one of the responses expected
	client := redis.NewClient(options)
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.Ping(ctx).Err()
}

func startRedis(ctx context.Context, b *bench) (string, error) {
	server, err := program("redis-server", brewPlaces("redis", "redis-server")...)
	if err != nil {
		return "", err
	}
	dir, err := b.tempDir("redis")
	if err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	s, err := startService(b, nil, syscall.SIGTERM, server,
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no")
	if err != nil {
		return "", err
	}
	address := "redis://127.0.0.1:" + port + "/0"
	return address, s.ready(ctx, func(ctx context.Context) error { return checkRedis(ctx, address) })
}
