package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	core "sundry/core/usage"
	"sundry/ports"
)

type audit struct{ *repo.Base }

// checkSQL counts reports a second time, beside the rollups. A period that has no rollup gets one that shows it as
// uncounted. Of LAST only the last report can be compared: one that is not earlier than what the rollup took is the
// check's.
const checkSQL = `
INSERT INTO usage_rollups AS u (stream_id, period_start, creator_id, aggregation, quantity, last_at, last_id, reports,
step, invoice_id,
    billed_quantity, billed, checked_quantity, checked_reports)
        SELECT n.stream_id, n.period_start, n.creator_id, n.aggregation, 0, n.last_at, n.last_id, 0, 0, '', 0, 0,
            n.quantity,
            n.reports FROM (%s) n
ON CONFLICT (stream_id, period_start) DO UPDATE SET
    checked_quantity = CASE WHEN u.aggregation = 'LAST' THEN
            CASE WHEN (excluded.last_at, excluded.last_id COLLATE "C") < (u.last_at, u.last_id COLLATE "C")
                THEN u.quantity ELSE excluded.checked_quantity END
        WHEN u.checked_reports = 0 THEN excluded.checked_quantity
        WHEN u.aggregation = 'SUM' THEN u.checked_quantity + excluded.checked_quantity
        ELSE GREATEST(u.checked_quantity, excluded.checked_quantity) END,
    checked_reports = u.checked_reports + excluded.checked_reports`

// pageEnd is behind the reports of one page of the check, whose reports are all counted.
const pageEnd = `
SELECT COALESCE((SELECT position FROM usage_events WHERE position > @from AND position < @until ORDER BY position
LIMIT 1 OFFSET @limit), @until)`

// CheckPage implements ports.UsageAudit.
func (t audit) CheckPage(_ context.Context, reports, limit int) (found []string, more bool, err error) {
	const op = "check usage"
	w, err := rollups(t).lock()
	if err != nil {
		return nil, false, err
	}
	end := w.checked
	if w.position > w.checked {
		if err := repo.ScanRow(t.DB.Raw(pageEnd, map[string]any{"from": w.checked, "until": w.position, "limit": reports}),
			&end); err != nil {
			return nil, false, t.Failure(op, err)
		}
		if err := t.countAgain(w.checked, end); err != nil {
			return nil, false, err
		}
		if err := t.DB.Exec("UPDATE usage_watermark SET checked = ? WHERE id = 1", end).Error; err != nil {
			return nil, false, t.Failure(op, err)
		}
	}
	if end < w.position {
		return nil, true, nil
	}
	found, err = t.QueryIDs(op, "SELECT stream_id || '/' || period_start FROM usage_rollups WHERE (reports <> "+
		"checked_reports OR quantity <> checked_quantity) AND NOT incomplete LIMIT ?", limit)
	return found, false, err
}

// countAgain adds the reports of a range to what the rollups are compared with.
func (t audit) countAgain(from, until int64) error {
	const op = "check usage"
	const inRange = "e.position >= @from AND e.position < @until"
	if t.OnPostgres() {
		return t.Failure(op, t.DB.Exec(fmt.Sprintf(checkSQL, fmt.Sprintf(totals, inRange)),
			map[string]any{"from": from, "until": until}).Error)
	}
	rows, err := rollups(t).events(op, inRange, map[string]any{"from": from, "until": until})
	if err != nil {
		return err
	}
	counted, streams, err := rollups(t).total(rows)
	if err != nil {
		return err
	}
	for key, total := range counted {
		if err := t.addChecked(streams[key.stream], key, total); err != nil {
			return err
		}
	}
	return nil
}

// addChecked is checkSQL for one period.
func (t audit) addChecked(s ports.UsageStream, key rollupKey, total core.Total) error {
	const op = "check usage"
	row, err := repo.TakeOne[rollupRow](t.Base, op, "stream_id = ? AND period_start = ?", s.ID,
		repo.UnixMillis(key.period()))
	if errors.Is(err, ports.ErrNotFound) {
		row, err = newRollupRow(s, ports.UsageRollup{PeriodStart: key.period()}, 0), nil
	}
	if err != nil {
		return err
	}
	checked := core.Total{Quantity: row.CheckedQuantity, Count: row.CheckedReports}
	merged, ok := checked.Merge(s.Aggregation, total)
	if !ok {
		return fmt.Errorf("%s of stream %d: %w", op, s.ID, errTooManyDigits)
	}
	taken := time.Time(row.LastAt)
	if s.Aggregation == core.Last && row.Reports > 0 && (total.LastAt.Before(taken) || total.LastAt.Equal(taken) &&
		total.LastID < row.LastID) {
		merged.Quantity = row.Quantity
	} else if s.Aggregation == core.Last {
		merged.Quantity = total.Quantity
	}
	row.CheckedQuantity, row.CheckedReports = merged.Quantity, merged.Count
	return t.Failure(op, t.DB.Save(&row).Error)
}

// Miscounted implements ports.UsageAudit. Periods of which reports are deleted cannot be counted again.
func (t audit) Miscounted(_ context.Context, limit int) ([]string, error) {
	if t.OnPostgres() {
		return t.QueryIDs("audit usage", `
SELECT COALESCE(u.stream_id, n.stream_id) || '/' || COALESCE(u.period_start, n.period_start)
FROM usage_rollups u FULL JOIN (`+
			fmt.Sprintf(totals, "e.position < (SELECT position FROM usage_watermark WHERE id = 1)")+`) n
    ON n.stream_id = u.stream_id AND n.period_start = u.period_start
WHERE (COALESCE(u.quantity, -1) <> COALESCE(n.quantity, 0) OR COALESCE(u.reports, -1) <> COALESCE(n.reports, 0))
    AND NOT COALESCE(u.incomplete, FALSE) LIMIT ?`, limit)
	}
	return t.miscountedOneByOne(limit)
}

// miscountedOneByOne is Miscounted on SQLite.
func (t audit) miscountedOneByOne(limit int) ([]string, error) {
	w, err := rollups(t).lock()
	if err != nil {
		return nil, err
	}
	var streams []streamRow
	if err := t.DB.Order("id").Find(&streams).Error; err != nil {
		return nil, t.Failure("audit usage", err)
	}
	var faults []string
	for _, row := range streams {
		s := row.toStream()
		counted, err := rollups(t).count(s, "e.position < ? AND e.stream_id = ?", w.position, s.ID)
		if err != nil {
			return nil, err
		}
		var kept []rollupRow
		if err := t.DB.Where("stream_id = ?", s.ID).Find(&kept).Error; err != nil {
			return nil, t.Failure("audit usage", err)
		}
		for _, k := range kept {
			key := k.key()
			if total := k.toRollup().Total; total != counted[key] && !k.Incomplete {
				faults = append(faults, key.String())
			}
			delete(counted, key)
		}
		for key := range counted {
			faults = append(faults, key.String())
		}
	}
	return faults[:min(limit, len(faults))], nil
}

// Repeated implements ports.UsageAudit. Voided reports keep the quantity that they had.
func (t audit) Repeated(_ context.Context, limit int) ([]string, error) {
	return t.QueryIDs("audit unique usage", `
SELECT e.stream_id || '/' || e.period_start FROM usage_events e
WHERE e.unique_value IS NOT NULL AND e.voided_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM usage_rollups u
        WHERE u.stream_id = e.stream_id AND u.period_start = e.period_start AND u.incomplete)
GROUP BY e.stream_id, e.period_start
HAVING SUM(CASE WHEN CAST(e.quantity AS NUMERIC) = 1 THEN 1 ELSE 0 END) <> COUNT(DISTINCT e.unique_value)
LIMIT ?`, limit)
}
