package usage

import (
	"context"
	"time"

	"sundry/core/metadata"
	core "sundry/core/usage"
)

// Misdivided implements ports.UsageAudit. While a process of an earlier version counts, parts and rollups are not
// compared; of periods of which reports are deleted they cannot be put right.
func (t audit) Misdivided(_ context.Context, limit int) ([]string, error) {
	const op = "audit parts of usage"
	if !t.OnPostgres() {
		return t.misdividedOneByOne(limit)
	}
	return t.QueryIDs(op, `
SELECT COALESCE(u.stream_id, p.stream_id) || '/' || COALESCE(u.period_start, p.period_start)
FROM (SELECT u.stream_id, u.period_start, u.quantity, u.reports, u.incomplete FROM usage_rollups u
    JOIN usage_streams s ON s.id = u.stream_id JOIN usage_meters m ON m.id = s.meter_id WHERE m.dimensions <> 'null') u
FULL JOIN (SELECT stream_id, period_start, SUM(quantity) AS quantity, SUM(reports) AS reports FROM usage_parts
    GROUP BY stream_id, period_start) p ON p.stream_id = u.stream_id AND p.period_start = u.period_start
WHERE (COALESCE(u.quantity, 0) <> COALESCE(p.quantity, 0) OR COALESCE(u.reports, 0) <> COALESCE(p.reports, 0))
    AND NOT COALESCE(u.incomplete, FALSE) AND (SELECT w.position = w.divided FROM usage_watermark w WHERE w.id = 1)
LIMIT ?`, limit)
}

// misdividedOneByOne is Misdivided on SQLite.
func (t audit) misdividedOneByOne(limit int) ([]string, error) {
	const op = "audit parts of usage"
	w, err := rollups(t).lock()
	if err != nil || w.position != w.divided {
		return nil, err
	}
	var kept []rollupRow
	err = t.DB.Where("stream_id IN (SELECT s.id FROM usage_streams s JOIN usage_meters m ON m.id = s.meter_id WHERE " +
		"m.dimensions <> 'null')").Order("stream_id, period_start").Find(&kept).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	var parts []partRow
	if err := t.DB.Find(&parts).Error; err != nil {
		return nil, t.Failure(op, err)
	}
	sums := map[rollupKey]partRow{}
	for _, part := range parts {
		key := newRollupKey(part.StreamID, time.Time(part.PeriodStart))
		if sums[key], err = sums[key].plus(part.Quantity, part.Reports); err != nil {
			return nil, err
		}
	}
	var faults []string
	for _, u := range kept {
		key := u.key()
		if sum := sums[key]; !u.Incomplete && (sum.Quantity != u.Quantity || sum.Reports != u.Reports) {
			faults = append(faults, key.String())
		}
		delete(sums, key)
	}
	for key, sum := range sums {
		if sum.Reports != 0 || !sum.Quantity.IsZero() {
			faults = append(faults, key.String())
		}
	}
	return faults[:min(limit, len(faults))], nil
}

// partsOf returns the parts of streams by their periods, as they are divided so far.
func (t audit) partsOf(streamIDs []int64) (map[rollupKey][]core.Combined, error) {
	var rows []struct {
		StreamID, PeriodStart int64
		Dimensions            string
		Quantity              core.Quantity
	}
	err := t.DB.Raw("SELECT p.stream_id, p.period_start, COALESCE(c.dimensions, '') AS dimensions, p.quantity "+
		"FROM usage_parts p LEFT JOIN usage_combinations c ON c.stream_id = p.stream_id AND c.number = p.number "+
		"WHERE p.stream_id IN ?", streamIDs).Scan(&rows).Error
	all := map[rollupKey][]core.Combined{}
	for _, row := range rows {
		key := rollupKey{row.StreamID, row.PeriodStart}
		all[key] = append(all[key], core.Combined{Values: metadata.Restore(row.Dimensions), Quantity: row.Quantity})
	}
	return all, t.Failure("audit parts of usage", err)
}
