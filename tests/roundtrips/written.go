package roundtrips

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// written counts the changes in a range of PostgreSQL's write-ahead log.
type written struct {
	// rows counts those inserted, updated and deleted, entries those of indexes; bytes are those of their log records,
	// without the images of whole pages that a checkpoint causes, and the halves of pages that a split moves.
	rows, entries, bytes int
	// tables lists both by table.
	tables string
}

// writeLog reads the server's write-ahead log.
type writeLog struct{ session *sql.Conn }

// newWriteLog opens a session whose replication slot, which ends with it, keeps the log from being removed.
func newWriteLog(t *testing.T, databaseURL string) *writeLog {
	t.Helper()
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	session, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(session.Close(), db.Close()) })
	l := &writeLog{session}
	l.text(t, "SELECT slot_name::text FROM pg_create_physical_replication_slot('sundry_' || pg_backend_pid(), true, true)")
	_, err = session.ExecContext(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *writeLog) text(t *testing.T, query string) (text string) {
	t.Helper()
	if err := l.session.QueryRowContext(t.Context(), query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// end returns the position up to which the log is flushed.
func (l *writeLog) end(t *testing.T) string {
	t.Helper()
	return l.text(t, "SELECT pg_current_wal_flush_lsn()::text")
}

// changes selects what the tables of this database were written between two places of the server's log, which is that
// of other databases, too. A split of an index page is an entry, like the insertion that caused it.
const changes = `
SELECT COALESCE(string_agg(format('%%s %%s %%s %%s', c.table_name, c.rows, c.entries, c.bytes), E'\n'), '')
FROM (
	SELECT COALESCE(i.indrelid, r.oid)::regclass::text AS table_name,
		COUNT(*) FILTER (WHERE w.resource_manager LIKE 'Heap%%') AS rows,
		COUNT(*) FILTER (WHERE w.resource_manager IN ('Btree', 'Gist', 'Gin')) AS entries,
		SUM(CASE WHEN w.record_type LIKE 'SPLIT%%' THEN 0 ELSE w.record_length - w.fpi_length END) AS bytes
	FROM pg_get_wal_records_info('%s', '%s') w
	JOIN pg_class r ON r.relfilenode = CAST((regexp_match(w.block_ref, 'rel \d+/' ||
		(SELECT oid FROM pg_database WHERE datname = current_database()) || '/(\d+)'))[1] AS OID)
	LEFT JOIN pg_index i ON i.indexrelid = r.oid
	WHERE r.relnamespace = 'public'::regnamespace AND (w.record_type ~ '^(INSERT|MULTI_INSERT|UPDATE|HOT_UPDATE|DELETE)'
		AND w.resource_manager LIKE 'Heap%%' OR w.record_type ~ '^(INSERT_LEAF|SPLIT|PAGE_UPDATE|INSERT$)'
		AND w.resource_manager IN ('Btree', 'Gist', 'Gin'))
	GROUP BY 1 ORDER BY 1
) c`

// since sums what was written since a place of the log.
func (l *writeLog) since(t *testing.T, start string) (w written) {
	t.Helper()
	all := l.text(t, fmt.Sprintf(changes, start, l.end(t)))
	for line := range strings.Lines(all) {
		var table string
		var rows, entries, bytes int
		if _, err := fmt.Sscan(line, &table, &rows, &entries, &bytes); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if slices.Contains([]string{"api_requests", "api_keys"}, table) {
			continue // the log of requests is written once a second, a key's use once a minute
		}
		w.rows, w.entries, w.bytes = w.rows+rows, w.entries+entries, w.bytes+bytes
		w.tables += line
	}
	return w
}

// work counts what PostgreSQL does for an operation: round trips, commits and statements, rows and index entries
// written, and the bytes of its log in thousands, rounded up.
type work struct{ trips, commits, statements, rows, entries, kilobytes int }

func workOf(trips []trip, left written) work {
	did := work{
		trips: len(trips), rows: left.rows, entries: left.entries, kilobytes: (left.bytes + 999) / 1000,
	}
	for _, one := range trips {
		for _, statement := range one.statements {
			if statement != "begin" && statement != "commit" {
				did.statements++
			}
		}
		if one.commits {
			did.commits++
		}
	}
	return did
}

func (w work) exceeds(most work) bool {
	return w.trips > most.trips || w.commits > most.commits || w.statements > most.statements ||
		w.rows > most.rows || w.entries > most.entries || w.kilobytes > most.kilobytes
}

func (w work) String() string {
	return fmt.Sprintf("%d round trips, %d commits, %d statements, %d rows, %d index entries, %d kB of log",
		w.trips, w.commits, w.statements, w.rows, w.entries, w.kilobytes)
}
