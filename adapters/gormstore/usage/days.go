package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/civil"
	core "sundry/core/usage"
	"sundry/ports"
)

const dayMillis = 24 * 60 * 60 * 1000

// dayRow is the use of a day: of all streams of a meter that adds up, whose StreamID is 0, or of one of another meter.
type dayRow struct {
	MeterID     string `gorm:"primaryKey"`
	Day         int32  `gorm:"primaryKey;autoIncrement:false"`
	StreamID    int64  `gorm:"primaryKey;autoIncrement:false"`
	CreatorID   string
	Aggregation string
	Quantity    core.Quantity
	LastAt      repo.UnixMillis
	LastID      string
	Reports     int64
}

// TableName implements gorm's tabler.
func (dayRow) TableName() string { return "usage_days" }

// dayKey names a row.
type dayKey struct {
	meter  string
	day    int32
	stream int64
}

func (r dayRow) key() dayKey { return dayKey{r.MeterID, r.Day, r.StreamID} }

// plus adds other reports of the day.
func (r dayRow) plus(more dayRow) (dayRow, error) {
	total := core.Total{Quantity: r.Quantity, LastAt: time.Time(r.LastAt), LastID: r.LastID, Count: r.Reports}
	sum, ok := total.Merge(core.Aggregation(r.Aggregation), core.Total{
		Quantity: more.Quantity, LastAt: time.Time(more.LastAt), LastID: more.LastID, Count: more.Reports,
	})
	if !ok {
		return r, fmt.Errorf("count days of meter %s: %w", r.MeterID, errTooManyDigits)
	}
	r.Quantity, r.LastAt, r.LastID, r.Reports = sum.Quantity, repo.UnixMillis(sum.LastAt), sum.LastID, sum.Count
	return r, nil
}

const (
	// daySlot is the row of a day that a report e of a stream s belongs to.
	daySlot = "s.meter_id, CAST(e.occurred_at / 86400000 AS INTEGER) AS day, " +
		"CASE s.aggregation WHEN 'SUM' THEN 0 ELSE s.id END AS stream_id"
	// dayTotals sums reports by day, as totals does by period.
	dayTotals = "SELECT " + daySlot + ", " + summed + " GROUP BY 1, 2, 3, s.aggregation"
	// dayEach has a row for each report, for SQLite.
	dayEach = "SELECT " + daySlot + ", e.creator_id, s.aggregation, e.quantity, e.occurred_at AS last_at, " +
		"e.id AS last_id, 1 AS reports FROM usage_events e JOIN usage_streams s ON s.id = e.stream_id " +
		"WHERE e.voided_at IS NULL AND %s"
	countDaysSQL = `INSERT INTO usage_days AS u
(meter_id, day, stream_id, creator_id, aggregation, quantity, last_at, last_id, reports) %s
ON CONFLICT (meter_id, day, stream_id) DO UPDATE SET` + merged
)

// reportsByDay returns the SQL of reports under a condition by day: summed where the database has exact decimals.
func (t rollups) reportsByDay(where string) string {
	if t.OnPostgres() {
		return fmt.Sprintf(dayTotals, where)
	}
	return fmt.Sprintf(dayEach, where)
}

// CountDays implements ports.UsageRollups.
func (t rollups) CountDays(_ context.Context, limit int) (more bool, err error) {
	const op = "count days of usage"
	if w, err := t.read(""); err != nil || w.daily >= w.position {
		return false, err
	}
	w, err := t.lock()
	if err != nil || w.daily >= w.position {
		return false, err
	}
	args := map[string]any{"from": w.daily, "end": w.position, "limit": limit}
	var until int64
	if err := repo.ScanRow(t.DB.Raw(nextPosition, args), &until); err != nil {
		return false, t.Failure(op, err)
	}
	args["until"] = until
	if err := t.addReportsToDays("e.position >= @from AND e.position < @until", args); err != nil {
		return false, err
	}
	return until < w.position, t.Exec(op, "UPDATE usage_watermark SET daily = ? WHERE id = 1", until)
}

func (t rollups) addReportsToDays(where string, args map[string]any) error {
	const op = "count days of usage"
	if t.OnPostgres() {
		return t.Failure(op, t.DB.Exec(fmt.Sprintf(countDaysSQL, t.reportsByDay(where)), args).Error)
	}
	rows, err := t.days(where, args)
	for _, row := range rows {
		if err == nil {
			err = t.addToDay(row)
		}
	}
	return err
}

// days sums the reports under a condition by day.
func (t rollups) days(where string, args map[string]any) (map[dayKey]dayRow, error) {
	var rows []dayRow
	if err := t.DB.Raw(t.reportsByDay(where), args).Scan(&rows).Error; err != nil {
		return nil, t.Failure("count days of usage", err)
	}
	return foldDays(rows)
}

// foldDays adds up rows of the same key.
func foldDays(rows []dayRow) (map[dayKey]dayRow, error) {
	days := map[dayKey]dayRow{}
	for _, row := range rows {
		if known, ok := days[row.key()]; ok {
			var err error
			if row, err = known.plus(row); err != nil {
				return nil, err
			}
		}
		days[row.key()] = row
	}
	return days, nil
}

// addToDay adds reports to a day, or takes some out of one of a meter that adds up.
func (t rollups) addToDay(more dayRow) error {
	const op = "add to a day of usage"
	row, err := repo.TakeOne[dayRow](t.Base, op, "meter_id = ? AND day = ? AND stream_id = ?", more.MeterID, more.Day,
		more.StreamID)
	if errors.Is(err, ports.ErrNotFound) {
		row, err = more, nil
	} else if err == nil {
		row, err = row.plus(more)
	}
	if err != nil {
		return err
	}
	return t.saveDay(row)
}

func (t rollups) saveDay(r dayRow) error {
	return t.Exec("save day of usage", "INSERT INTO usage_days (meter_id, day, stream_id, creator_id, aggregation, "+
		"quantity, last_at, last_id, reports) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (meter_id, day, stream_id) "+
		"DO UPDATE SET quantity = excluded.quantity, last_at = excluded.last_at, last_id = excluded.last_id, "+
		"reports = excluded.reports",
		r.MeterID, r.Day, r.StreamID, r.CreatorID, r.Aggregation, r.Quantity, r.LastAt, r.LastID, r.Reports)
}

// adjustDay adds a quantity and a number of reports to the day of a report that is counted in it already.
func (t rollups) adjustDay(s ports.UsageStream, report dayReport, q core.Quantity, reports int64) error {
	w, err := t.lock()
	if err != nil || report.Position >= w.daily {
		return err
	}
	return t.addToDay(dayRow{
		MeterID: s.MeterID, Day: report.day(), CreatorID: s.CreatorID, Aggregation: string(core.Sum), Quantity: q,
		Reports: reports,
	})
}

// dayReport is a report as its day finds it.
type dayReport struct {
	Position   int64
	OccurredAt repo.UnixMillis
	Quantity   core.Quantity
}

func (r dayReport) day() int32 { return int32(civil.DateIn(time.UTC, time.Time(r.OccurredAt))) }

// voidInDay takes a report that was voided out of its day.
func (t rollups) voidInDay(s ports.UsageStream, voided ports.StoredReport) error {
	const op = "take usage out of its day"
	var report dayReport
	err := t.DB.Raw("SELECT position, occurred_at, quantity FROM usage_events WHERE position = ? AND id = ? AND "+
		"received_at = ?", voided.Position, voided.ID, repo.UnixMillis(voided.ReceivedAt)).Scan(&report).Error
	if err != nil {
		return t.Failure(op, err)
	}
	if s.Aggregation == core.Sum {
		return t.adjustDay(s, report, report.Quantity.Neg(), -1)
	}
	w, err := t.lock()
	if err != nil || report.Position >= w.daily {
		return err
	}
	first := int64(report.day()) * dayMillis // earlier than the report's period may begin
	received, err := streams(t).receivedSince(s, time.UnixMilli(first))
	if err != nil {
		return err
	}
	left, err := t.days("e.stream_id = @stream AND e.occurred_at >= @first AND e.occurred_at < @end AND "+
		"e.received_at >= @received AND e.position < @daily", map[string]any{
		"stream": s.ID, "first": first, "end": first + dayMillis, "daily": w.daily, "received": received,
	})
	if err != nil {
		return err
	}
	for _, row := range left {
		return t.saveDay(row)
	}
	return t.Exec(op, "DELETE FROM usage_days WHERE meter_id = ? AND day = ? AND stream_id = ?", s.MeterID, report.day(),
		s.ID)
}

// uniqueDays sums the unique values of a stream that count, by day, among the reports that are in their days.
func (t rollups) uniqueDays(s ports.UsageStream, since time.Time, received repo.UnixMillis) (map[dayKey]dayRow, error) {
	w, err := t.lock()
	if err != nil {
		return nil, err
	}
	return t.days("e.stream_id = @stream AND e.period_start >= @since AND e.received_at >= @received AND "+
		"e.unique_value IS NOT NULL AND e.position < @daily", map[string]any{
		"stream": s.ID, "since": repo.UnixMillis(since), "received": received, "daily": w.daily,
	})
}

// moveUniqueDays adds to the days what their unique values count for more than before, or less.
func (t rollups) moveUniqueDays(before, after map[dayKey]dayRow) error {
	for key, row := range after {
		var err error
		if row, err = row.plus(dayRow{Quantity: before[key].Quantity.Neg(), Reports: -before[key].Reports}); err != nil {
			return err
		}
		if row.Quantity.IsZero() && row.Reports == 0 {
			continue
		}
		if err := t.addToDay(row); err != nil {
			return err
		}
	}
	return nil
}

// daysOf reads the days of an account, those of one meter unless that is "", with the reports that wait for the next
// step, in one statement: a step meanwhile would count some twice, or not at all.
func (t rollups) daysOf(creatorID, meterID string, days civil.Days) ([]dayRow, error) {
	const stored = "SELECT meter_id, day, stream_id, creator_id, aggregation, quantity, last_at, last_id, reports " +
		"FROM usage_days WHERE creator_id = @creator AND day >= @from AND day <= @to AND (@meter = '' OR meter_id = @meter)"
	all := stored + " UNION ALL " + t.reportsByDay("e.position >= (SELECT daily FROM usage_watermark WHERE id = 1) AND "+
		"e.creator_id = @creator AND e.occurred_at >= @first AND e.occurred_at < @end AND "+
		"(@meter = '' OR s.meter_id = @meter)")
	if t.OnPostgres() { // the rows of the streams of a day are added up there
		all = `SELECT meter_id, day, MIN(creator_id) AS creator_id, 'SUM' AS aggregation, SUM(quantity) AS quantity,
    SUM(reports) AS reports
FROM (SELECT meter_id, day, stream_id, MIN(creator_id) AS creator_id, CASE aggregation WHEN 'SUM' THEN SUM(quantity)
        WHEN 'MAX' THEN MAX(quantity)
        ELSE (ARRAY_AGG(quantity ORDER BY last_at DESC, last_id COLLATE "C" DESC))[1] END AS quantity,
        SUM(reports) AS reports
    FROM (` + all + `) parts GROUP BY meter_id, day, stream_id, aggregation) days
GROUP BY meter_id, day`
	}
	var rows []dayRow
	err := t.DB.Raw(all, map[string]any{
		"creator": creatorID, "meter": meterID, "from": int32(days.From), "to": int32(days.To),
		"first": int64(days.From) * dayMillis, "end": (int64(days.To) + 1) * dayMillis,
	}).Scan(&rows).Error
	return rows, t.Failure("list days of usage", err)
}

// ListDays implements ports.UsageRollups.
func (t rollups) ListDays(
	_ context.Context, creatorID, meterID string, days civil.Days,
) ([]ports.MeterDay, error) {
	rows, err := t.daysOf(creatorID, meterID, days)
	if err != nil {
		return nil, err
	}
	streams, err := foldDays(rows)
	if err != nil {
		return nil, err
	}
	meters := map[dayKey]dayRow{}
	for _, row := range streams {
		row.StreamID, row.Aggregation = 0, string(core.Sum)
		known, ok := meters[row.key()]
		if ok {
			if row, err = known.plus(row); err != nil {
				return nil, err
			}
		}
		meters[row.key()] = row
	}
	var all []ports.MeterDay
	for _, row := range meters {
		if row.Reports > 0 {
			all = append(all, ports.MeterDay{MeterID: row.MeterID, DayUse: core.DayUse{
				Day: civil.Date(row.Day), Quantity: row.Quantity, Reports: row.Reports,
			}})
		}
	}
	slices.SortFunc(all, func(a, b ports.MeterDay) int {
		return cmp.Or(cmp.Compare(a.MeterID, b.MeterID), cmp.Compare(a.Day, b.Day))
	})
	return all, nil
}
