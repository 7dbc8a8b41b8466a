package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
)

// preparing counts what the driver prepares.
type preparing struct {
	driver.Connector
	count *atomic.Int64
}

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return preparingConn{conn.(sqliteConn), p.count}, nil
}

type preparingConn struct {
	sqliteConn
	count *atomic.Int64
}

func (p preparingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	p.count.Add(1)
	return p.sqliteConn.PrepareContext(ctx, query)
}

// numbers is a database with the numbers from 1 to 9, of one connection.
type numbers struct {
	*sql.DB
	t        *testing.T
	path     string
	prepared atomic.Int64
}

func newNumbers(t *testing.T) *numbers {
	t.Helper()
	n := &numbers{t: t, path: filepath.Join(t.TempDir(), "numbers.db")}
	connector, err := sqlite.NewConnector(fileURI(n.path) + "?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	n.DB = sql.OpenDB(cachingConnector{preparing{connector, &n.prepared}})
	n.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	n.exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
	for i := range 9 {
		n.exec("INSERT INTO numbers (n) VALUES (?)", i+1)
	}
	return n
}

func (n *numbers) exec(query string, args ...any) {
	n.t.Helper()
	if _, err := n.ExecContext(n.t.Context(), query, args...); err != nil {
		n.t.Fatalf("%s: %v", query, err)
	}
}

func (n *numbers) get(query string, args ...any) (got int) {
	n.t.Helper()
	if err := n.QueryRowContext(n.t.Context(), query, args...).Scan(&got); err != nil {
		n.t.Fatalf("%s: %v", query, err)
	}
	return got
}

// want fails the test unless so many statements were prepared.
func (n *numbers) want(prepared int64) {
	n.t.Helper()
	if got := n.prepared.Load(); got != prepared {
		n.t.Errorf("prepared %d statements, want %d", got, prepared)
	}
}

const (
	insert  = 1 // what newNumbers prepares
	above   = "SELECT n FROM numbers WHERE n > ? ORDER BY n"
	counted = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) " +
		"SELECT COUNT(*) FROM c WHERE n <> 5 OR reach(n)"
)

func TestStatementsArePreparedOnce(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	n.want(insert)
	for i := range 8 {
		if got := n.get(above, i); got != i+1 {
			t.Errorf("above %d is %d", i, got)
		}
	}
	n.want(insert + 1)
}

func TestStatementsRunBesideThemselves(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	tx, err := n.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for range 2 { // the second time with what the first left
		if got := pairs(t, tx); got != "[7 7 8 8 9 9]" {
			t.Errorf("got %s", got)
		}
	}
	n.want(insert + 3) // the second one of a text is not kept
}

// pairs reads numbers above 6, and each of them again by the same text.
func pairs(t *testing.T, tx *sql.Tx) string {
	t.Helper()
	rows, err := tx.QueryContext(t.Context(), above, 6)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []int
	for rows.Next() {
		var outer, inner int
		if err := errors.Join(rows.Scan(&outer), tx.QueryRowContext(t.Context(), above, outer-1).Scan(&inner)); err != nil {
			t.Fatal(err)
		}
		got = append(got, outer, inner)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(got)
}

// TestStatementsLeftEarlyEndTheirRead leaves rows unread: a read that goes on would keep the log from being emptied.
func TestStatementsLeftEarlyEndTheirRead(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	if got := n.get(above, 3); got != 4 {
		t.Errorf("the first is %d", got)
	}
	other, err := sql.Open("sqlite", n.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	var busy, left, moved int
	err = other.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &left, &moved)
	if err != nil || busy != 0 || left != 0 {
		t.Errorf("busy %d, %d pages left, %v", busy, left, err)
	}
}

func TestStatementsOutliveErrors(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	const add = "INSERT INTO numbers (n) VALUES (?) RETURNING n"
	for i := range 3 {
		if _, err := n.ExecContext(t.Context(), add, 9); err == nil || !strings.Contains(err.Error(), sqliteUnique) {
			t.Errorf("exec: %v", err)
		}
		if err := n.QueryRowContext(t.Context(), add, 9).Scan(new(int)); err == nil ||
			!strings.Contains(err.Error(), sqliteUnique) {
			t.Errorf("query: %v", err)
		}
		if _, err := n.ExecContext(t.Context(), "UPDATE numbers SET n = ? WHERE n = ?", 1); err == nil {
			t.Error("an argument is missing")
		}
		if got := n.get(add, 10+i); got != 10+i {
			t.Errorf("added %d", got)
		}
	}
	n.want(insert + 2)
	if _, err := n.ExecContext(t.Context(), "INSERT INTO letters VALUES (?)", 1); err == nil {
		t.Error("there is no such table")
	}
}

// atFive runs while a statement is counting. An interrupt that comes before a statement's first step is lost: SQLite
// forgets it when the statement starts.
var atFive atomic.Value // of func()

func init() {
	sqlite.MustRegisterScalarFunction("reach", 1, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		atFive.Load().(func())()
		return true, nil
	})
}

func TestStatementsOutliveACancel(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	const forever = int64(1) << 62
	canceled := func(run func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		atFive.Store(func() { cancel() })
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	for range 2 {
		canceled(func(ctx context.Context) error {
			_, err := n.ExecContext(ctx, counted, forever)
			return err
		})
		canceled(func(ctx context.Context) error {
			return n.QueryRowContext(ctx, counted, forever).Scan(new(int))
		})
		atFive.Store(func() {})
		if got := n.get(counted, 7); got != 7 {
			t.Errorf("counted %d", got)
		}
	}
}

func TestStatementsFollowTheSchema(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	const all = "SELECT * FROM numbers WHERE n = ?"
	columns := func() string {
		rows, err := n.QueryContext(t.Context(), all, 9)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = rows.Close() }()
		names, err := rows.Columns()
		if err != nil || !rows.Next() {
			t.Fatalf("%v, %v", err, rows.Err())
		}
		return strings.Join(names, " ")
	}
	other, err := sql.Open("sqlite", n.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for _, change := range []struct{ statement, want string }{
		{"CREATE INDEX numbers_n ON numbers (n DESC)", "n"},
		{"ALTER TABLE numbers ADD COLUMN name TEXT", "n name"},
		{"ALTER TABLE numbers RENAME TO figures", "no such table"},
		{"ALTER TABLE figures RENAME TO numbers", "n name"},
	} {
		columns()
		if _, err := other.ExecContext(t.Context(), change.statement); err != nil {
			t.Fatal(err)
		}
		if got := columns(); got != change.want && !strings.Contains(got, "no such table") {
			t.Errorf("after %s: %s, want %s", change.statement, got, change.want)
		}
	}
}

func TestStatementsKeptAreBounded(t *testing.T) {
	t.Parallel()
	n := newNumbers(t)
	text := func(i int) string { return fmt.Sprintf("SELECT ? + %d", i) }
	for i := range maxStatements + 50 {
		if got := n.get(text(i), 1); got != 1+i {
			t.Errorf("1 + %d is %d", i, got)
		}
	}
	n.get(text(maxStatements), 1) // one that is kept
	n.want(insert + maxStatements + 50)
	n.get(text(0), 1) // one that is not
	n.want(insert + maxStatements + 51)
	conn, err := n.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Raw(func(lent any) error {
		c := lent.(*cachingConn)
		if len(c.idle) != maxStatements || c.used.Len() != maxStatements {
			t.Errorf("%d and %d are kept, want %d", len(c.idle), c.used.Len(), maxStatements)
		}
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Error(err)
	}
}

func TestStatementsOfBothPoolsRunAtOnce(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "numbers.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := store.write.Exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)").Error; err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 25 {
				n, found := worker*100+i, []int{}
				err := store.write.Exec("INSERT INTO numbers (n) VALUES (?)", n).Error
				err = errors.Join(err, store.read.Raw("SELECT n FROM numbers WHERE n >= ? AND n < ?", n, n+1).Scan(&found).Error)
				if err != nil || len(found) != 1 || found[0] != n {
					t.Errorf("%d: found %v, %v", n, found, err)
				}
			}
		})
	}
	all.Wait()
}
