package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/adapters/gormstore"
	"sundry/tests/harness"
	"sundry/tests/testdb"
)

// backedUp copies the database of a running program while sell goes on, and returns the address of the copy.
func backedUp(t *testing.T, app *harness.App, sell func()) (databaseURL string) {
	t.Helper()
	file, ended := filepath.Join(t.TempDir(), "backup.db"), make(chan error, 1)
	go func() { ended <- gormstore.Backup(t.Context(), app.DatabaseURL, file) }()
	for {
		sell()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return "sqlite:" + file
		default:
		}
	}
}

func TestBackup_UnderLoad(t *testing.T) {
	t.Parallel()
	secret := map[string]string{"APP_SECRET": "a secret of forty characters, for tests."}
	app := harness.New(t, testdb.SQLite, secret)
	w := newFixture(t, app)
	sell := func() { w.Pay(t, w.session(t), harness.CardSucceeds).Want(t, 200) }
	sell()
	url := backedUp(t, app, sell)
	sell()
	const sales = "SELECT COUNT(*) FROM payments WHERE status = 'succeeded'"
	all := app.Count(t, sales)

	copied := harness.On(t, testdb.SQLite, url, secret)
	verified(t, copied)
	verified(t, app)
	if got := copied.Count(t, sales); got < 1 || got >= all {
		t.Errorf("the copy has %d sales, want some of %d", got, all)
	}
	info, err := os.Stat(strings.TrimPrefix(url, "sqlite:"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v; want a file for its owner alone", info, err)
	}
}

func TestBackup_Refusals(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx             context.Context
		url, file, want string
	}{
		"PostgreSQL":         {t.Context(), "postgres://localhost/sundry", "new.db", "pgBackRest"},
		"a file that exists": {t.Context(), testdb.SQLite.URL(t), "existing.db", "exists"},
		"a database that is missing": {t.Context(), "sqlite:" + filepath.Join(t.TempDir(), "none.db"), "new.db",
			"none.db: set DATA_DIR or DATABASE_URL"},
		"a folder that is missing":  {t.Context(), testdb.SQLite.URL(t), "none/new.db", "none/new.db: "},
		"a caller who has given up": {stopped, testdb.SQLite.URL(t), "new.db", "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			existing := filepath.Join(folder, "existing.db")
			if err := os.WriteFile(existing, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := gormstore.Backup(c.ctx, c.url, filepath.Join(folder, c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			files, err := filepath.Glob(filepath.Join(folder, "*"))
			if err != nil || len(files) != 1 {
				t.Errorf("left %v, %v; want existing.db alone", files, err)
			}
			if content, err := os.ReadFile(existing); err != nil || string(content) != "kept" {
				t.Errorf("existing.db holds %q, %v", content, err)
			}
		})
	}
}
