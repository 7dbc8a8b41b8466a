package usage

import (
	"context"
	"fmt"
	"time"

	"sundry/adapters/gormstore/repo"
	core "sundry/core/usage"
	"sundry/ports"
)

type storedReportRow struct {
	EventID     string
	CreatorID   string
	Key         string
	StreamID    int64
	PeriodStart repo.UnixMillis
	ReceivedAt  repo.UnixMillis
	Fingerprint []byte
	Position    int64
	Voided      bool
	Deleted     bool
}

func (r storedReportRow) toReport() ports.StoredReport {
	out := ports.StoredReport{
		ID: r.EventID, CreatorID: r.CreatorID, Key: r.Key, StreamID: r.StreamID, PeriodStart: time.Time(r.PeriodStart),
		ReceivedAt: time.Time(r.ReceivedAt), Voided: r.Voided, Deleted: r.Deleted, Position: r.Position,
	}
	copy(out.Fingerprint[:], r.Fingerprint)
	return out
}

type reports struct{ *repo.Base }

// Get implements ports.UsageReports. A key keeps the period that its report was accepted into; the report itself may
// have moved to another since.
func (t reports) Get(_ context.Context, creatorID, key string) (ports.StoredReport, error) {
	const op = "get usage report"
	join := "e.position = k.position AND e.received_at = k.received_at AND e.id = k.event_id"
	if !t.OnPostgres() {
		join = "e.id = k.event_id"
	}
	var rows []storedReportRow
	err := t.DB.Raw("SELECT k.event_id, k.creator_id, k.key, k.stream_id, k.received_at, k.fingerprint, "+
		"COALESCE(e.period_start, k.period_start) AS period_start, COALESCE(e.position, 0) AS position, "+
		"e.id IS NULL AS deleted, e.voided_at IS NOT NULL AS voided FROM usage_keys k LEFT JOIN usage_events e ON "+join+
		" WHERE k.creator_id = ? AND k.key = ?",
		creatorID, key).Scan(&rows).Error
	if err == nil && len(rows) == 0 {
		return ports.StoredReport{}, fmt.Errorf("%s: %w", op, ports.ErrNotFound)
	}
	if err != nil {
		return ports.StoredReport{}, t.Failure(op, err)
	}
	return rows[0].toReport(), nil
}

// Void implements ports.UsageReports.
func (t reports) Void(ctx context.Context, report ports.StoredReport, at time.Time) error {
	const op = "void usage report"
	w, err := rollups(t).lock()
	if err != nil {
		return err
	}
	res := t.DB.Exec("UPDATE usage_events SET voided_at = ? WHERE position = ? AND id = ? AND received_at = ? AND "+
		"voided_at IS NULL",
		repo.UnixMillis(at), report.Position, report.ID, repo.UnixMillis(report.ReceivedAt))
	if res.Error != nil || res.RowsAffected == 0 {
		return t.Failure(op, res.Error)
	}
	s, err := streams(t).GetByID(ctx, report.StreamID)
	if err != nil {
		return err
	}
	if err := rollups(t).voidInDay(s, report); err != nil {
		return err
	}
	unique, err := t.passOn(s, report)
	if err != nil || report.Position >= w.position && !unique {
		return err
	}
	if s.Aggregation != core.Sum || unique {
		return rollups(t).recount(s, report.PeriodStart, "stream_id = ? AND period_start = ?", s.ID,
			repo.UnixMillis(report.PeriodStart))
	}
	return t.subtract(s, report, w)
}

// subtract takes a report out of what it was counted in by a watermark, whatever else was counted there.
func (t reports) subtract(s ports.UsageStream, report ports.StoredReport, w watermark) error {
	const op = "subtract usage report"
	var quantity core.Quantity
	var dimensions string
	err := t.QueryRow(op, "SELECT quantity, COALESCE(dimensions, '') FROM usage_events WHERE position = ? AND id = ? AND "+
		"received_at = ?", []any{report.Position, report.ID, repo.UnixMillis(report.ReceivedAt)}, &quantity, &dimensions)
	if err != nil {
		return err
	}
	row, err := repo.TakeOne[rollupRow](t.Base, op, "stream_id = ? AND period_start = ?", s.ID,
		repo.UnixMillis(report.PeriodStart))
	if err != nil {
		return err
	}
	var ok bool
	if row.Quantity, ok = row.Quantity.Add(quantity.Neg()); !ok {
		return fmt.Errorf("%s: %w", op, errTooManyDigits)
	}
	row.Reports--
	if report.Position < w.checked {
		if row.CheckedQuantity, ok = row.CheckedQuantity.Add(quantity.Neg()); !ok {
			return fmt.Errorf("%s: %w", op, errTooManyDigits)
		}
		row.CheckedReports--
	}
	if err := t.DB.Save(&row).Error; err != nil || report.Position >= w.divided {
		return t.Failure(op, err)
	}
	return rollups(t).subtractPart(report, dimensions, quantity)
}

// passOn makes the next report with the unique value of a voided one count in its place. unique is false for a report
// without such a value.
func (t reports) passOn(s ports.UsageStream, voided ports.StoredReport) (unique bool, err error) {
	const op = "pass on a unique value"
	args := map[string]any{
		"stream": voided.StreamID, "period": repo.UnixMillis(voided.PeriodStart), "id": voided.ID,
		"position": voided.Position, "received": repo.UnixMillis(voided.ReceivedAt),
	}
	var values [][]byte
	err = t.DB.Raw("SELECT unique_value FROM usage_events WHERE position = @position AND id = @id AND received_at = "+
		"@received AND unique_value IS NOT NULL", args).Scan(&values).Error
	if err != nil || len(values) == 0 {
		return false, t.Failure(op, err)
	}
	args["value"] = values[0]
	freed := t.DB.Exec("DELETE FROM usage_unique_values WHERE stream_id = @stream AND period_start = @period AND "+
		"value = @value AND event_id = @id", args)
	if freed.Error != nil || freed.RowsAffected == 0 { // another report counted
		return true, t.Failure(op, freed.Error)
	}
	err = t.DB.Exec(`INSERT INTO usage_unique_values (creator_id, stream_id, period_start, value, event_id)
SELECT creator_id, stream_id, period_start, unique_value, MIN(id) FROM usage_events
WHERE ordered AND stream_id = @stream AND period_start = @period AND unique_value = @value AND voided_at IS NULL
GROUP BY creator_id, stream_id, period_start, unique_value`, args).Error
	if err != nil {
		return true, t.Failure(op, err)
	}
	var next []dayReport
	err = t.DB.Raw(`UPDATE usage_events SET quantity = 1 WHERE ordered AND stream_id = @stream AND period_start = @period
AND id = (SELECT event_id FROM usage_unique_values
    WHERE stream_id = @stream AND period_start = @period AND value = @value) RETURNING position, occurred_at`,
		args).Scan(&next).Error
	if err != nil || len(next) == 0 {
		return true, t.Failure(op, err)
	}
	return true, rollups(t).adjustDay(s, next[0], core.Units(1), 0)
}

// partitionsAhead is the number of months that have a partition before they begin.
const partitionsAhead = 3

// EnsurePartitions implements ports.UsageReports. A month whose reports are in the partition of all others stays there.
func (t reports) EnsurePartitions(_ context.Context, now time.Time) error {
	if !t.OnPostgres() {
		return nil
	}
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for n := range partitionsAhead {
		from, until := first.AddDate(0, n, 0), first.AddDate(0, n+1, 0)
		name := "usage_events_" + from.Format("2006_01")
		var there bool
		err := t.QueryRow("find usage partition "+name, "SELECT to_regclass(?) IS NOT NULL OR EXISTS ("+
			"SELECT 1 FROM usage_events_other WHERE received_at >= ? AND received_at < ?)",
			[]any{name, repo.UnixMillis(from), repo.UnixMillis(until)}, &there)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		// A partition's bounds cannot be parameters.
		err = t.DB.Exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF usage_events FOR VALUES FROM (%d) TO (%d)",
			name, from.UnixMilli(), until.UnixMilli())).Error
		if err != nil {
			return t.Failure("make usage partition "+name, err)
		}
		if err := t.Exec("let replicas follow "+name, "ALTER TABLE "+name+" REPLICA IDENTITY FULL"); err != nil {
			return err
		}
	}
	return nil
}
