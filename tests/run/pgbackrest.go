package main

import (
	"context"
	"os"
)

// findPgBackRest returns the path of pgBackRest, and how it was had. The test that needs it starts a PostgreSQL of its
// own beside it.
func findPgBackRest(ctx context.Context, _ *bench) (path, how string, err error) {
	find := func(context.Context) (string, error) {
		return program("pgbackrest", brewPlaces("pgbackrest", "pgbackrest")...)
	}
	if given := os.Getenv("TEST_PGBACKREST"); given != "" {
		_, err := os.Stat(given)
		return given, "TEST_PGBACKREST", err
	}
	return firstOf(ctx, []way{
		{"found on this machine", find},
		{"apt-get install pgbackrest postgresql", func(ctx context.Context) (string, error) {
			if err := aptInstall(ctx, "pgbackrest", "postgresql"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
		{"brew install pgbackrest", func(ctx context.Context) (string, error) {
			if err := brewInstall(ctx, "pgbackrest"); err != nil {
				return "", err
			}
			return find(ctx)
		}},
	})
}
