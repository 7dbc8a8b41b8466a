package main

import (
	"context"
	"os"
)

// findPgBouncer returns the path of PgBouncer, and how it was had. Each test that needs one starts its own.
func findPgBouncer(ctx context.Context, _ *bench) (path, how string, err error) {
	find := func(context.Context) (string, error) {
		return program("pgbouncer", append([]string{"/usr/sbin/pgbouncer"}, brewPlaces("pgbouncer", "pgbouncer")...)...)
	}
	if given := os.Getenv("TEST_PGBOUNCER"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_PGBOUNCER", err
	}
	return firstOf(ctx, []way{
		{"found on this machine", find},
		{"apt-get install pgbouncer", func(ctx context.Context) (string, error) {
			if err := aptInstall(ctx, "pgbouncer"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
		{"brew install pgbouncer", func(ctx context.Context) (string, error) {
			if err := brewInstall(ctx, "pgbouncer"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
	})
}
