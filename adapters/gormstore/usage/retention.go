package usage

import (
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
)

const (
	// deletedReports bounds the reports that one transaction deletes, and markedReports those whose periods it marks.
	deletedReports = 2_000
	markedReports  = 50_000
	// dropTimeout in milliseconds: while a month waits to be dropped, no report is accepted.
	dropTimeout = "500"
)

// DeleteReports deletes the reports that were received before a time and have been counted twice, each step in a
// transaction that atomically runs. The rollups of their periods are marked first: those counts are final. On
// PostgreSQL a month is dropped whole.
func DeleteReports(before time.Time, atomically func(step func(*repo.Base) error) error) error {
	for more := true; more; {
		err := atomically(func(b *repo.Base) (err error) {
			more, err = reports{b}.deleteBatch(before)
			return err
		})
		if err != nil {
			return err
		}
	}
	for {
		var month string
		err := atomically(func(b *repo.Base) (err error) {
			month, err = reports{b}.oldMonth(before)
			return err
		})
		if err != nil || month == "" {
			return err
		}
		if err := deleteMonth(month, atomically); err != nil {
			return err
		}
	}
}

func deleteMonth(month string, atomically func(step func(*repo.Base) error) error) error {
	for from := int64(0); from >= 0; {
		err := atomically(func(b *repo.Base) (err error) {
			from, err = reports{b}.markPage(month, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return atomically(func(b *repo.Base) error { return reports{b}.drop(month) })
}

// deleteBatch deletes the oldest reports row by row: on PostgreSQL only those for which there was no month.
func (t reports) deleteBatch(before time.Time) (more bool, err error) {
	const op = "delete usage reports"
	w, err := rollups(t).lock()
	if err != nil {
		return false, err
	}
	table, batch := "usage_events", "position < (SELECT MIN(position) FROM usage_events) + @limit AND received_at < "+
		"@before AND position < @checked"
	if t.OnPostgres() {
		table = "usage_events_other"
		batch = "ctid = ANY(ARRAY(SELECT ctid FROM usage_events_other WHERE received_at < @before AND position < @checked " +
			"ORDER BY position LIMIT @limit))"
	}
	args := map[string]any{"before": repo.UnixMillis(before), "checked": min(w.checked, w.divided, w.daily),
		"limit": deletedReports}
	if err := t.DB.Exec(fmt.Sprintf(markSQL, table, batch), args).Error; err != nil {
		return false, t.Failure(op, err)
	}
	res := t.DB.Exec("DELETE FROM "+table+" WHERE "+batch, args)
	return res.RowsAffected > 0, t.Failure(op, res.Error)
}

const markSQL = `
UPDATE usage_rollups SET incomplete = TRUE
WHERE NOT incomplete AND (stream_id, period_start) IN (SELECT stream_id, period_start FROM %s WHERE %s)`

// oldMonth is the oldest partition that ends by a time, "" where there is none or its reports have not all been counted
// twice.
func (t reports) oldMonth(before time.Time) (month string, err error) {
	const op = "find old usage partition"
	if !t.OnPostgres() {
		return "", nil
	}
	const oldest = `
SELECT COALESCE((SELECT p.name FROM (
    SELECT c.oid::regclass::text AS name, substring(pg_get_expr(c.relpartbound, c.oid)
        FROM 'TO \(''(\d+)''\)')::bigint AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'usage_events'::regclass
) p WHERE p.until <= ? ORDER BY p.until LIMIT 1), '')`
	if err := t.QueryRow(op, oldest, []any{repo.UnixMillis(before)}, &month); err != nil || month == "" {
		return "", err
	}
	var unchecked bool
	query := "SELECT EXISTS (SELECT 1 FROM " + month + " WHERE position >= (SELECT LEAST(checked, divided, daily) FROM " +
		"usage_watermark WHERE id = 1))"
	if err := t.QueryRow(op, query, nil, &unchecked); err != nil || unchecked {
		return "", err
	}
	return month, nil
}

// markPage marks the periods of a page of a month's reports and returns where the next page begins, less than 0 after
// the last.
func (t reports) markPage(month string, from int64) (next int64, err error) {
	const op = "mark usage periods"
	if _, err := rollups(t).lock(); err != nil {
		return 0, err
	}
	query := "SELECT COALESCE((SELECT position FROM " + month + " WHERE position > ? ORDER BY position OFFSET ? LIMIT " +
		"1), -1)"
	if err := t.QueryRow(op, query, []any{from, markedReports}, &next); err != nil {
		return 0, err
	}
	page, args := "position >= @from", map[string]any{"from": from, "next": next}
	if next >= 0 {
		page += " AND position < @next"
	}
	return next, t.Failure(op, t.DB.Exec(fmt.Sprintf(markSQL, month, page), args).Error)
}

func (t reports) drop(month string) error {
	err := t.DB.Exec("SELECT set_config('lock_timeout', ?, true)", dropTimeout).Error
	if err == nil {
		err = t.DB.Exec("DROP TABLE " + month).Error
	}
	return t.Failure("drop usage partition "+month, err)
}
