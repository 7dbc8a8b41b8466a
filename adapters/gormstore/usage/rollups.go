package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	core "sundry/core/usage"
	"sundry/ports"
)

type rollupRow struct {
	StreamID       int64           `gorm:"primaryKey;autoIncrement:false"`
	PeriodStart    repo.UnixMillis `gorm:"primaryKey"`
	CreatorID      string
	Aggregation    string
	Quantity       core.Quantity
	LastAt         repo.UnixMillis
	LastID         string
	Reports        int64
	Step           int64
	AsOf           repo.UnixMillis
	InvoiceID      string
	BilledQuantity core.Quantity
	Billed         int64
	BilledAt       repo.UnixMillis
	BilledParts    repo.JSONColumn[[]core.Part]
	// The audit writes these, and so does a recount.
	CheckedQuantity core.Quantity
	CheckedReports  int64
	Incomplete      bool
}

// TableName implements gorm's tabler.
func (rollupRow) TableName() string { return "usage_rollups" }

func newRollupRow(s ports.UsageStream, u ports.UsageRollup, step int64) rollupRow {
	return rollupRow{
		StreamID: s.ID, PeriodStart: repo.UnixMillis(u.PeriodStart), CreatorID: s.CreatorID,
		Aggregation: string(s.Aggregation),
		Quantity:    u.Total.Quantity, LastAt: repo.UnixMillis(u.Total.LastAt), LastID: u.Total.LastID,
		Reports: u.Total.Count, Step: step, AsOf: repo.UnixMillis(u.AsOf),
		InvoiceID: u.InvoiceID, BilledQuantity: u.BilledQuantity, Billed: u.BilledMinor,
		BilledAt:    repo.UnixMillis(u.BilledAt),
		BilledParts: repo.JSON(u.BilledParts), Incomplete: u.Incomplete,
	}
}

func (r rollupRow) toRollup() ports.UsageRollup {
	return ports.UsageRollup{
		StreamID: r.StreamID, CreatorID: r.CreatorID, PeriodStart: time.Time(r.PeriodStart),
		Total:     core.Total{Quantity: r.Quantity, LastAt: time.Time(r.LastAt), LastID: r.LastID, Count: r.Reports},
		AsOf:      time.Time(r.AsOf),
		InvoiceID: r.InvoiceID, BilledQuantity: r.BilledQuantity, BilledMinor: r.Billed, BilledAt: time.Time(r.BilledAt),
		BilledParts: r.BilledParts.V, Incomplete: r.Incomplete,
	}
}

type rollups struct{ *repo.Base }

// watermark contains the position up to which reports are counted, the one up to which they have been counted a second
// time, the one up to which they are in the parts of their periods, which is not behind the first, and the one up to
// which they are in their days, which is.
type watermark struct{ position, step, checked, divided, daily int64 }

const readWatermark = "SELECT position, step, checked, divided, daily FROM usage_watermark WHERE id = 1"

// The watermark that the transaction has locked, for itself or with others.
var (
	lockedWatermark = repo.NewSlot[watermark]("usage_watermark")
	sharedWatermark = repo.NewSlot[watermark]("usage_watermark")
)

// lock reads the watermark and keeps it until the transaction ends.
func (t rollups) lock() (watermark, error) {
	return lockedWatermark.Get(t.Base, "", func() (watermark, error) { return t.read(" FOR UPDATE") })
}

// locked is lock for a transaction that changes no counts and may hold the shared lock already.
func (t rollups) locked() (watermark, error) {
	if sharedWatermark.Has(t.Base, "") {
		return sharedWatermark.Get(t.Base, "", nil)
	}
	return t.lock()
}

func (t rollups) read(lock string) (w watermark, err error) {
	query := readWatermark
	if t.OnPostgres() {
		query += lock
	}
	err = t.QueryRow("lock usage rollups", query, nil, &w.position, &w.step, &w.checked, &w.divided, &w.daily)
	return w, err
}

// Lock implements ports.UsageRollups.
func (t rollups) Lock(context.Context) error {
	_, err := t.lock()
	return err
}

// LockShared implements ports.UsageRollups.
func (t rollups) LockShared(context.Context) error {
	_, err := sharedWatermark.Get(t.Base, "", func() (watermark, error) { return t.read(" FOR SHARE") })
	return err
}

// rollupKey names a rollup; the period's start is in milliseconds.
type rollupKey struct{ stream, start int64 }

func newRollupKey(streamID int64, periodStart time.Time) rollupKey {
	return rollupKey{streamID, periodStart.UnixMilli()}
}

func (r rollupRow) key() rollupKey { return newRollupKey(r.StreamID, time.Time(r.PeriodStart)) }

func (k rollupKey) period() time.Time { return time.UnixMilli(k.start).UTC() }

// String names the rollup as audits report it.
func (k rollupKey) String() string { return fmt.Sprintf("%d/%d", k.stream, k.start) }

// errTooManyDigits is wrapped by the errors of sums that no column holds.
var errTooManyDigits = errors.New("the sum has too many digits")

// merge adds what was counted to a rollup, and saves it.
func (t rollups) merge(s ports.UsageStream, start time.Time, total core.Total, step int64, now time.Time) error {
	u, err := t.get(s, start)
	if err == nil {
		u, err = t.add(s, u, total)
	}
	if err != nil {
		return err
	}
	u.AsOf = now
	row := newRollupRow(s, u, step)
	return t.Failure("save usage rollup", t.DB.Omit("checked_quantity", "checked_reports").Save(&row).Error)
}

// get is Get without a position to start at.
func (t rollups) get(s ports.UsageStream, start time.Time) (ports.UsageRollup, error) {
	row, err := repo.TakeOne[rollupRow](t.Base, "get usage rollup", "stream_id = ? AND period_start = ?", s.ID,
		repo.UnixMillis(start))
	if errors.Is(err, ports.ErrNotFound) {
		return ports.UsageRollup{StreamID: s.ID, CreatorID: s.CreatorID, PeriodStart: start}, nil
	}
	return row.toRollup(), err
}

// Get implements ports.UsageRollups.
func (t rollups) Get(_ context.Context, s ports.UsageStream, periodStart time.Time) (ports.UsageRollup, error) {
	return t.get(s, periodStart)
}

// HasAfter implements ports.UsageRollups. One statement sees each report either counted or waiting.
func (t rollups) HasAfter(_ context.Context, s ports.UsageStream, periodStart time.Time) (has bool, err error) {
	const of = " WHERE stream_id = ? AND period_start > ?"
	start := repo.UnixMillis(periodStart)
	err = t.QueryRow("find later usage", "SELECT EXISTS (SELECT 1 FROM usage_rollups"+of+" AND reports > 0) OR "+
		"EXISTS (SELECT 1 FROM usage_events"+of+" AND position >= (SELECT position FROM usage_watermark WHERE id = 1))",
		[]any{s.ID, start, s.ID, start}, &has)
	return has, err
}

// GetCurrent implements ports.UsageRollups.
func (t rollups) GetCurrent(_ context.Context, s ports.UsageStream, periodStart time.Time) (ports.UsageRollup, error) {
	waiting, err := t.waiting(s)
	if err != nil {
		return ports.UsageRollup{}, err
	}
	u, err := t.get(s, periodStart)
	if err != nil {
		return u, err
	}
	return t.add(s, u, waiting[newRollupKey(s.ID, periodStart)])
}

// waiting counts the reports of a stream that wait for the next step, by period.
func (t rollups) waiting(s ports.UsageStream) (map[rollupKey]core.Total, error) {
	w, err := t.locked()
	if err != nil {
		return nil, err
	}
	return waitingReports.Get(t.Base, strconv.FormatInt(s.ID, 10), func() (map[rollupKey]core.Total, error) {
		return t.count(s, "e.position >= ? AND e.stream_id = ?", w.position, s.ID)
	})
}

// waitingReports caches the totals of a stream's reports that are not counted yet. Callers must not change them.
var waitingReports = repo.NewSlot[map[rollupKey]core.Total]("usage_events")

// count sums the reports of a stream under a condition, by period.
func (t rollups) count(s ports.UsageStream, where string, args ...any) (map[rollupKey]core.Total, error) {
	counted := map[rollupKey]core.Total{}
	if !t.OnPostgres() {
		rows, err := t.events("count usage", where, args...)
		for _, row := range rows {
			if err == nil {
				err = take(counted, s, row)
			}
		}
		return counted, err
	}
	var rows []rollupRow
	if err := t.DB.Raw(fmt.Sprintf(totals, where), args...).Scan(&rows).Error; err != nil {
		return nil, t.Failure("count usage", err)
	}
	for _, row := range rows {
		counted[row.key()] = row.toRollup().Total
	}
	return counted, nil
}

// recount counts those reports of a stream again that are counted already, under a condition that must hold for whole
// periods, of which none began before since. What was billed of them stays, and so does the count of periods whose
// reports are deleted.
func (t rollups) recount(s ports.UsageStream, since time.Time, where string, args ...any) error {
	w, err := t.lock()
	if err != nil {
		return err
	}
	var before []rollupRow
	if err := t.DB.Where(where, args...).Find(&before).Error; err != nil {
		return t.Failure("recount usage", err)
	}
	received, err := streams(t).receivedSince(s, since)
	if err != nil {
		return err
	}
	periods := "e.position < ? AND e.received_at >= ? AND e." + strings.ReplaceAll(where, " AND ", " AND e.")
	counted, err := t.count(s, periods, append([]any{w.position, received}, args...)...)
	if err != nil {
		return err
	}
	checked, err := t.count(s, periods, append([]any{w.checked, received}, args...)...)
	if err != nil {
		return err
	}
	save := func(key rollupKey, u ports.UsageRollup, step int64) error {
		u.Total = counted[key]
		row := newRollupRow(s, u, step)
		row.CheckedQuantity, row.CheckedReports = checked[key].Quantity, checked[key].Count
		delete(counted, key)
		return t.Failure("save usage rollup", t.DB.Save(&row).Error)
	}
	for _, row := range before {
		if row.Incomplete {
			delete(counted, row.key())
			continue
		}
		if err := save(row.key(), row.toRollup(), row.Step); err != nil {
			return err
		}
	}
	for key := range counted {
		if err := save(key, ports.UsageRollup{PeriodStart: key.period()}, w.step); err != nil {
			return err
		}
	}
	return nil
}

// ListUnsettled implements ports.UsageRollups.
func (t rollups) ListUnsettled(_ context.Context, s ports.UsageStream) ([]ports.UsageRollup, error) {
	const op = "list unsettled usage"
	waiting, err := t.waiting(s)
	if err != nil {
		return nil, err
	}
	// A period that was not billed, because its amount was too large, still costs its minimum when no use is left in it.
	unsettled, err := repo.ListBy(t.Base, op, t.DB.Where("stream_id = ? AND invoice_id <> '' AND "+
		"(quantity <> billed_quantity OR billed_at IS NULL OR period_start IN (SELECT p.period_start FROM usage_parts p "+
		"WHERE p.stream_id = ? AND p.changed))", s.ID, s.ID), rollupRow.toRollup)
	if err != nil {
		return nil, err
	}
	known := map[rollupKey]bool{}
	for i, u := range unsettled {
		key := newRollupKey(s.ID, u.PeriodStart)
		if unsettled[i], err = t.add(s, u, waiting[key]); err != nil {
			return nil, err
		}
		known[key] = true
	}
	for key, more := range waiting {
		if known[key] {
			continue
		}
		u, err := t.get(s, key.period())
		if err == nil && u.InvoiceID != "" {
			u, err = t.add(s, u, more)
			unsettled = append(unsettled, u)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(unsettled, func(a, b ports.UsageRollup) int { return a.PeriodStart.Compare(b.PeriodStart) })
	return unsettled, nil
}

// add adds what was counted of more reports to a rollup.
func (t rollups) add(s ports.UsageStream, u ports.UsageRollup, more core.Total) (ports.UsageRollup, error) {
	if more.Count == 0 {
		return u, nil
	}
	total, ok := u.Total.Merge(s.Aggregation, more)
	if !ok {
		return u, fmt.Errorf("count usage stream %d: %w", s.ID, errTooManyDigits)
	}
	u.Total = total
	return u, nil
}

// SetBilled implements ports.UsageRollups.
func (t rollups) SetBilled(_ context.Context, s ports.UsageStream, u ports.UsageRollup) error {
	u.Total, u.AsOf = core.Total{}, time.Time{} // of a period that nothing was counted of
	row := newRollupRow(s, u, 0)
	return t.InsertRowDeferred("set usage billed", &row, `ON CONFLICT (stream_id, period_start) DO UPDATE SET
		invoice_id = excluded.invoice_id, billed_quantity = excluded.billed_quantity, billed = excluded.billed,
		billed_at = excluded.billed_at, billed_parts = excluded.billed_parts`)
}

// ListFlushedCustomers implements ports.UsageRollups.
func (t rollups) ListFlushedCustomers(_ context.Context, step int64) ([]ports.UsageCustomer, error) {
	var all []ports.UsageCustomer
	err := t.DB.Raw(`
SELECT DISTINCT s.creator_id, COALESCE(NULLIF(s.external_customer_id, ''), s.customer_id) AS access_key
FROM usage_rollups u JOIN usage_streams s ON s.id = u.stream_id WHERE u.step = ? ORDER BY 1, 2`, step).Scan(&all).Error
	return all, t.Failure("list customers of flushed usage", err)
}
