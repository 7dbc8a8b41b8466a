package usage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/metadata"
	core "sundry/core/usage"
	"sundry/ports"
)

// partRow is the use of a period with one combination of values: of the combination with the number, 0 for use without
// values and beyond core.MaxCombinations.
type partRow struct {
	StreamID    int64           `gorm:"primaryKey;autoIncrement:false"`
	PeriodStart repo.UnixMillis `gorm:"primaryKey"`
	Number      int64           `gorm:"primaryKey;autoIncrement:false"`
	CreatorID   string
	Quantity    core.Quantity
	Reports     int64
	Changed     bool
}

// TableName implements gorm's tabler.
func (partRow) TableName() string { return "usage_parts" }

// hasDimensions finds out whether any meter has dimensions: else nothing is to be divided.
const hasDimensions = "EXISTS (SELECT 1 FROM usage_meters WHERE dimensions <> 'null')"

// divisible are the reports e of meters with dimensions; %s is a condition.
const divisible = `
FROM usage_events e JOIN usage_streams s ON s.id = e.stream_id JOIN usage_meters m ON m.id = s.meter_id
WHERE m.dimensions <> 'null' AND e.voided_at IS NULL AND %s`

// combineSQL numbers the combinations that reports are the first to have, up to @most of a stream.
const combineSQL = `
INSERT INTO usage_combinations (creator_id, stream_id, number, dimensions)
SELECT n.creator_id, n.stream_id, n.known + n.place, n.dimensions FROM (
    SELECT f.creator_id, f.stream_id, f.dimensions,
        (SELECT COUNT(*) FROM usage_combinations c WHERE c.stream_id = f.stream_id) AS known,
        ROW_NUMBER() OVER (PARTITION BY f.stream_id ORDER BY f.first, f.dimensions COLLATE "C") AS place
    FROM (SELECT e.stream_id, e.dimensions, MIN(e.creator_id) AS creator_id, MIN(e.position) AS first %s
        AND e.dimensions IS NOT NULL GROUP BY e.stream_id, e.dimensions) f
    WHERE NOT EXISTS (SELECT 1 FROM usage_combinations c WHERE c.stream_id = f.stream_id
        AND c.dimensions = f.dimensions)
) n WHERE n.known + n.place <= @most`

// divideSQL adds reports to the parts of their periods.
const divideSQL = `
INSERT INTO usage_parts AS p (stream_id, period_start, number, creator_id, quantity, reports, changed)
SELECT d.stream_id, d.period_start, COALESCE(c.number, 0), MIN(d.creator_id), SUM(d.quantity), SUM(d.reports), TRUE
FROM (
    SELECT e.stream_id, e.period_start, e.dimensions, MIN(e.creator_id) AS creator_id, SUM(e.quantity) AS quantity,
        COUNT(*) AS reports %s
    GROUP BY e.stream_id, e.period_start, e.dimensions
) d LEFT JOIN usage_combinations c ON c.stream_id = d.stream_id AND c.dimensions = d.dimensions
GROUP BY d.stream_id, d.period_start, COALESCE(c.number, 0)
ON CONFLICT (stream_id, period_start, number) DO UPDATE SET
    quantity = p.quantity + excluded.quantity, reports = p.reports + excluded.reports, changed = TRUE`

// divide adds the reports that are in no part yet to the parts of their periods, up to a position. Processes of an
// earlier version count without it.
func (t rollups) divide(w watermark, until int64) error {
	return t.divideWhere("e.position >= @divided AND e.position < @until",
		map[string]any{"divided": w.divided, "until": until})
}

// divideCounted is divide up to the position that reports are counted up to.
func (t rollups) divideCounted(w watermark) error {
	if w.divided == w.position {
		return nil
	}
	if err := t.divide(w, w.position); err != nil {
		return err
	}
	return t.Exec("move usage watermark", "UPDATE usage_watermark SET divided = position WHERE id = 1")
}

// divideWhere adds the reports of meters with dimensions under a condition to the parts of their periods.
func (t rollups) divideWhere(where string, args map[string]any) error {
	if !t.OnPostgres() {
		return t.divideOneByOne(where, args)
	}
	reports := fmt.Sprintf(divisible, where)
	args["most"] = core.MaxCombinations
	if err := t.DB.Exec(fmt.Sprintf(combineSQL, reports), args).Error; err != nil {
		return t.Failure("number combinations of usage", err)
	}
	return t.Failure("divide usage", t.DB.Exec(fmt.Sprintf(divideSQL, reports), args).Error)
}

// combinations are the numbers of the combinations of a stream.
type combinations map[string]int64

func (t rollups) combinationsOf(streamID int64) (combinations, error) {
	var rows []struct {
		Number     int64
		Dimensions string
	}
	err := t.DB.Raw("SELECT number, dimensions FROM usage_combinations WHERE stream_id = ?", streamID).Scan(&rows).Error
	known := combinations{}
	for _, row := range rows {
		known[row.Dimensions] = row.Number
	}
	return known, t.Failure("list combinations of usage", err)
}

// number returns the number of a combination; isNew is true when it is the first time that it is asked for.
func (c combinations) number(dimensions string) (number int64, isNew bool) {
	if number, ok := c[dimensions]; ok || dimensions == "" || len(c) >= core.MaxCombinations {
		return number, false
	}
	c[dimensions] = int64(len(c)) + 1
	return c[dimensions], true
}

// divideOneByOne is divideWhere on SQLite.
func (t rollups) divideOneByOne(where string, args map[string]any) error {
	const op = "divide usage"
	var rows []struct {
		StreamID    int64
		CreatorID   string
		PeriodStart repo.UnixMillis
		Dimensions  string
		Quantity    core.Quantity
	}
	err := t.DB.Raw("SELECT e.stream_id, e.creator_id, e.period_start, COALESCE(e.dimensions, '') AS dimensions, "+
		"e.quantity"+fmt.Sprintf(divisible, where)+" ORDER BY e.position", args).Scan(&rows).Error
	if err != nil {
		return t.Failure(op, err)
	}
	known, parts := map[int64]combinations{}, map[partKey]partRow{}
	for _, row := range rows {
		if known[row.StreamID] == nil {
			if known[row.StreamID], err = t.combinationsOf(row.StreamID); err != nil {
				return err
			}
		}
		number, isNew := known[row.StreamID].number(row.Dimensions)
		if isNew {
			err := t.DB.Exec("INSERT INTO usage_combinations (creator_id, stream_id, number, dimensions) VALUES (?, ?, ?, ?)",
				row.CreatorID, row.StreamID, number, row.Dimensions).Error
			if err != nil {
				return t.Failure(op, err)
			}
		}
		key := partKey{row.StreamID, time.Time(row.PeriodStart).UnixMilli(), number}
		part, ok := parts[key]
		if !ok {
			part = partRow{
				StreamID: row.StreamID, PeriodStart: row.PeriodStart, Number: number, CreatorID: row.CreatorID,
			}
		}
		if parts[key], err = part.plus(row.Quantity, 1); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := t.addPart(part); err != nil {
			return err
		}
	}
	return nil
}

// partKey names a part; the period's start is in milliseconds.
type partKey struct{ stream, start, number int64 }

func (r partRow) plus(q core.Quantity, reports int64) (partRow, error) {
	sum, ok := r.Quantity.Add(q)
	if !ok {
		return r, fmt.Errorf("divide usage stream %d: %w", r.StreamID, errTooManyDigits)
	}
	r.Quantity, r.Reports, r.Changed = sum, r.Reports+reports, true
	return r, nil
}

// addPart adds a quantity and a number of reports to a part.
func (t rollups) addPart(more partRow) error {
	part, err := repo.TakeOne[partRow](t.Base, "get part of usage", "stream_id = ? AND period_start = ? AND number = ?",
		more.StreamID, more.PeriodStart, more.Number)
	if errors.Is(err, ports.ErrNotFound) {
		return t.savePart(more)
	}
	if err == nil {
		part, err = part.plus(more.Quantity, more.Reports)
	}
	if err != nil {
		return err
	}
	return t.savePart(part)
}

func (t rollups) savePart(r partRow) error {
	return t.Exec("save part of usage", "INSERT INTO usage_parts (stream_id, period_start, number, creator_id, quantity, "+
		"reports, changed) VALUES (?, ?, ?, ?, ?, ?, TRUE) ON CONFLICT (stream_id, period_start, number) DO UPDATE SET "+
		"quantity = excluded.quantity, reports = excluded.reports, changed = TRUE",
		r.StreamID, r.PeriodStart, r.Number, r.CreatorID, r.Quantity, r.Reports)
}

// subtractPart takes a report out of its part, if its meter has dimensions.
func (t rollups) subtractPart(report ports.StoredReport, dimensions string, q core.Quantity) error {
	const op = "subtract usage from a part"
	part, err := repo.TakeOne[partRow](t.Base, op, "stream_id = ? AND period_start = ? AND number = COALESCE(("+
		"SELECT c.number FROM usage_combinations c WHERE c.stream_id = ? AND c.dimensions = ?), 0)",
		report.StreamID, repo.UnixMillis(report.PeriodStart), report.StreamID, dimensions)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err == nil {
		part, err = part.plus(q.Neg(), -1)
	}
	if err != nil {
		return err
	}
	return t.savePart(part)
}

// divideAgain divides the periods of a stream from a time on again, once their reports have moved. Those of which
// reports are deleted stay as they are.
func (t rollups) divideAgain(s ports.UsageStream, since time.Time) error {
	const op = "divide usage again"
	w, err := t.lock()
	if err != nil {
		return err
	}
	received, err := streams(t).receivedSince(s, since)
	if err != nil {
		return err
	}
	args := map[string]any{
		"stream": s.ID, "since": repo.UnixMillis(since), "divided": w.divided, "received": received,
	}
	const whole = "period_start NOT IN (SELECT u.period_start FROM usage_rollups u WHERE u.stream_id = @stream " +
		"AND u.incomplete)"
	res := t.DB.Exec("DELETE FROM usage_parts WHERE stream_id = @stream AND period_start >= @since AND "+whole, args)
	if res.Error != nil || res.RowsAffected == 0 { // it has no parts
		return t.Failure(op, res.Error)
	}
	return t.divideWhere("e.stream_id = @stream AND e.period_start >= @since AND e.position < @divided AND "+
		"e.received_at >= @received AND e."+whole, args)
}

// dividedRow is the use of a period with a combination of values.
type dividedRow struct {
	PeriodStart repo.UnixMillis
	Dimensions  string
	Counted     bool // it is in the rollup of the period
	Quantity    core.Quantity
	Reports     int64
}

// ListParts implements ports.UsageRollups. Where the parts are not what the rollup has in all, because a process of an
// earlier version has changed one without the other, the reports are counted.
func (t rollups) ListParts(_ context.Context, s ports.UsageStream, periodStart time.Time) ([]core.Combined, error) {
	const op = "list parts of usage"
	var rows []dividedRow
	err := t.DB.Raw("SELECT p.period_start, COALESCE(c.dimensions, '') AS dimensions, TRUE AS counted, p.quantity, "+
		"p.reports FROM usage_parts p LEFT JOIN usage_combinations c ON c.stream_id = p.stream_id AND "+
		"c.number = p.number WHERE p.stream_id = ? AND p.period_start = ? ORDER BY p.number",
		s.ID, repo.UnixMillis(periodStart)).Scan(&rows).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	waiting, err := t.undivided(s)
	if err != nil {
		return nil, err
	}
	for _, row := range waiting {
		if time.Time(row.PeriodStart).Equal(periodStart) {
			rows = append(rows, row)
		}
	}
	u, err := t.get(s, periodStart)
	if err != nil {
		return nil, err
	}
	counted, err := sumOf(rows, func(r dividedRow) bool { return r.Counted })
	if err == nil && !u.Incomplete && (counted.Quantity != u.Total.Quantity || counted.Count != u.Total.Count) {
		rows, err = t.countParts(s, periodStart)
	}
	if err != nil {
		return nil, err
	}
	all, at := []core.Combined(nil), map[string]int{}
	for _, row := range rows {
		i, ok := at[row.Dimensions]
		if !ok {
			i, at[row.Dimensions] = len(all), len(all)
			all = append(all, core.Combined{Values: metadata.Restore(row.Dimensions)})
		}
		if all[i].Quantity, ok = all[i].Quantity.Add(row.Quantity); !ok {
			return nil, fmt.Errorf("%s of stream %d: %w", op, s.ID, errTooManyDigits)
		}
	}
	return all, nil
}

// sumOf adds up the rows that a condition is true of.
func sumOf(rows []dividedRow, which func(dividedRow) bool) (total core.Total, err error) {
	for _, row := range rows {
		if !which(row) {
			continue
		}
		var ok bool
		if total.Quantity, ok = total.Quantity.Add(row.Quantity); !ok {
			return total, fmt.Errorf("sum parts of usage: %w", errTooManyDigits)
		}
		total.Count += row.Reports
	}
	return total, nil
}

// undividedReports caches the reports of a stream that are in no part yet. Callers must not change them.
var undividedReports = repo.NewSlot[[]dividedRow]("usage_events")

// undivided counts the reports of a stream that are in no part yet, by period and combination.
func (t rollups) undivided(s ports.UsageStream) ([]dividedRow, error) {
	w, err := t.locked()
	if err != nil {
		return nil, err
	}
	return undividedReports.Get(t.Base, "parts of "+strconv.FormatInt(s.ID, 10), func() ([]dividedRow, error) {
		return t.combine(s, "position >= @divided", map[string]any{"divided": w.divided, "position": w.position})
	})
}

// countParts counts all reports of a period by their combinations.
func (t rollups) countParts(s ports.UsageStream, periodStart time.Time) ([]dividedRow, error) {
	received, err := streams(t).receivedSince(s, periodStart)
	if err != nil {
		return nil, err
	}
	return t.combine(s, "period_start = @period AND received_at >= @received", map[string]any{
		"period": repo.UnixMillis(periodStart), "received": received, "position": 0,
	})
}

// combine counts the reports of a stream under a condition by period and combination. Those beyond the combinations
// that a stream may have are without values, as they will be once they are divided.
func (t rollups) combine(s ports.UsageStream, where string, args map[string]any) ([]dividedRow, error) {
	const op = "count parts of usage"
	columns, groups, order := "quantity, 1 AS reports", "", "position"
	if t.OnPostgres() {
		columns = "SUM(quantity) AS quantity, COUNT(*) AS reports"
		groups, order = " GROUP BY 1, 2, 3", `MIN(position), COALESCE(dimensions, '') COLLATE "C"`
	}
	args["stream"] = s.ID
	var rows []dividedRow
	err := t.DB.Raw("SELECT period_start, COALESCE(dimensions, '') AS dimensions, position < @position AS counted, "+
		columns+" FROM usage_events WHERE voided_at IS NULL AND stream_id = @stream AND "+where+groups+" ORDER BY "+order,
		args).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, t.Failure(op, err)
	}
	known, err := t.combinationsOf(s.ID)
	for i := range rows {
		if number, _ := known.number(rows[i].Dimensions); number == 0 {
			rows[i].Dimensions = ""
		}
	}
	return rows, err
}

// SetPartsBilled implements ports.UsageRollups.
func (t rollups) SetPartsBilled(_ context.Context, s ports.UsageStream, periodStart time.Time) error {
	return t.ExecDeferred("set parts of usage billed",
		"UPDATE usage_parts SET changed = FALSE WHERE stream_id = ? AND period_start = ? AND changed", s.ID,
		repo.UnixMillis(periodStart))
}
