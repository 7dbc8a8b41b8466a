package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
)

const backupUsage = `usage: sundry backup FILE

Copies the SQLite database that DATABASE_URL names to FILE, which must not exist, while the program runs. The copy is
the database as it was at one moment. Keep APP_SECRET, or the file app_secret of DATA_DIR, at another place: the copy
can't be started without it.

PostgreSQL has tools of its own: docs/recovery.md`

func backupRow() command {
	return command{
		name: "backup", parse: parseBackup, help: text(backupUsage),
		lines: []line{{"FILE", "copy the SQLite database to a new file while the program runs"}},
	}
}

func parseBackup(args []string) (action, error) {
	if len(args) != 1 || args[0] == "" {
		return nil, errors.New(backupUsage)
	}
	return func(ctx context.Context, c call) error {
		if err := c.Backup(ctx, args[0]); err != nil {
			return err
		}
		written, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.Out, "%s: %d bytes\n", args[0], written.Size())
		return err
	}, nil
}
