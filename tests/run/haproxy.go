package main

import (
	"context"
	"os"
)

// findHAProxy returns the path of HAProxy, and how it was had. Each test that needs one starts its own.
func findHAProxy(ctx context.Context, _ *bench) (path, how string, err error) {
	find := func(context.Context) (string, error) {
		return program("haproxy", append([]string{"/usr/sbin/haproxy"}, brewPlaces("haproxy", "haproxy")...)...)
	}
	if given := os.Getenv("TEST_HAPROXY"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_HAPROXY", err
	}
	return firstOf(ctx, []way{
		{"found on this machine", find},
		{"apt-get install haproxy", func(ctx context.Context) (string, error) {
			if err := aptInstall(ctx, "haproxy"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
		{"brew install haproxy", func(ctx context.Context) (string, error) {
			if err := brewInstall(ctx, "haproxy"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
	})
}
