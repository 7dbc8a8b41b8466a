package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/period"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/ports"
)

type streamRow struct {
	ID                 int64 `gorm:"primaryKey;autoIncrement:false"`
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	SubscriptionID     string
	MeterID            string
	EventName          string
	Aggregation        string
	BillingInterval    string
	IntervalCount      int
	Anchor             repo.UnixMillis
	StartsAt           repo.UnixMillis
	EndsAt             repo.UnixMillis
	Included           int64
	PlanID             string
	Closed             bool
	Version            int64
}

// TableName implements gorm's tabler.
func (streamRow) TableName() string { return "usage_streams" }

func newStreamRow(s ports.UsageStream) streamRow {
	return streamRow{
		ID: s.ID, CreatorID: s.CreatorID, CustomerID: s.CustomerID, ExternalCustomerID: s.ExternalCustomerID,
		SubscriptionID: s.SubscriptionID,
		MeterID:        s.MeterID, EventName: s.EventName, Aggregation: string(s.Aggregation),
		BillingInterval: string(s.Schedule.Interval),
		IntervalCount:   s.Schedule.Count, Anchor: repo.UnixMillis(s.Schedule.Anchor),
		StartsAt: repo.UnixMillis(s.Schedule.StartsAt), EndsAt: repo.UnixMillis(s.Schedule.EndsAt),
		Included: s.Included, PlanID: s.PlanID, Closed: s.Closed, Version: s.Version,
	}
}

func (r streamRow) toStream() ports.UsageStream {
	return ports.UsageStream{
		ID: r.ID, CreatorID: r.CreatorID, CustomerID: r.CustomerID, ExternalCustomerID: r.ExternalCustomerID,
		SubscriptionID: r.SubscriptionID,
		MeterID:        r.MeterID, EventName: r.EventName, Aggregation: core.Aggregation(r.Aggregation),
		Schedule: core.Schedule{
			Anchor: time.Time(r.Anchor), Interval: period.Interval(r.BillingInterval), Count: r.IntervalCount,
			StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt),
		},
		Included: r.Included, PlanID: r.PlanID, Closed: r.Closed, Version: r.Version,
	}
}

type streams struct{ *repo.Base }

// intakeLock names what reports are accepted under: shared by all that write some, exclusive to anyone who changes how
// they are counted.
const intakeLock = "usage.intake"

// LockIntake implements ports.UsageStreams.
func (t streams) LockIntake(context.Context) error {
	return t.AdvisoryLock("lock usage intake", intakeLock)
}

// Insert implements ports.UsageStreams.
func (t streams) Insert(_ context.Context, s ports.UsageStream) error {
	row := newStreamRow(s)
	if err := t.InsertRow("insert usage stream of "+s.SubscriptionID, &row); err != nil || s.Included == 0 {
		return err
	}
	return t.ExecDeferred("insert included usage of "+s.SubscriptionID,
		"INSERT INTO usage_included (creator_id, stream_id, since, included) VALUES (?, ?, 0, ?)", s.CreatorID, s.ID,
		s.Included)
}

// includeSQL records what streams include now, if that is not what was recorded last: from a time on, but not in closed
// periods, whose invoices are made by what was included then.
const includeSQL = `
INSERT INTO usage_included (creator_id, stream_id, since, included)
SELECT s.creator_id, s.id, (SELECT MAX(m.since) FROM (
        SELECT CAST(? AS BIGINT) AS since
        UNION ALL SELECT i.since FROM usage_included i WHERE i.creator_id = s.creator_id AND i.stream_id = s.id
        UNION ALL SELECT CASE p.status WHEN 'ended' THEN p.current_end ELSE p.current_start END
            FROM usage_billing_plans p WHERE p.creator_id = s.creator_id AND p.id = s.plan_id
    ) m), s.included
FROM usage_streams s WHERE s.creator_id = ? AND s.subscription_id = ? AND s.included <> COALESCE((
    SELECT i.included FROM usage_included i WHERE i.creator_id = s.creator_id AND i.stream_id = s.id
    ORDER BY i.since DESC LIMIT 1), 0)
ON CONFLICT (stream_id, since) DO UPDATE SET included = excluded.included`

// SetIncluded implements ports.UsageStreams. It reads nothing: renewals wait for no answer here. The update comes
// first, because it waits for a closing under way, which the other statement then sees.
func (t streams) SetIncluded(_ context.Context, sub subscription.State, included map[string]int64,
	since time.Time) error {
	op := "set included usage of " + sub.ID
	now, args := "CASE event_name", []any{}
	for _, name := range slices.Sorted(maps.Keys(included)) {
		now += " WHEN ? THEN CAST(? AS BIGINT)"
		args = append(args, name, included[name])
	}
	if now += " ELSE 0 END"; len(included) == 0 {
		now = "0"
	}
	err := t.ExecDeferred(op, "UPDATE usage_streams SET included = "+now+", version = version + 1"+
		" WHERE creator_id = ? AND subscription_id = ? AND included <> "+now,
		slices.Concat(args, []any{sub.CreatorID, sub.ID}, args)...)
	if err != nil {
		return err
	}
	return t.ExecDeferred(op, includeSQL, repo.UnixMillis(since), sub.CreatorID, sub.ID)
}

// IncludedAt implements ports.UsageStreams.
func (t streams) IncludedAt(_ context.Context, s ports.UsageStream, end time.Time) (included int64, err error) {
	err = t.QueryRow("get included usage", "SELECT COALESCE((SELECT included FROM usage_included WHERE stream_id = ? "+
		"AND since < ? ORDER BY since DESC LIMIT 1), 0)", []any{s.ID, repo.UnixMillis(end)}, &included)
	return included, err
}

// Get implements ports.UsageStreams.
func (t streams) Get(_ context.Context, creatorID, subscriptionID, eventName string) (ports.UsageStream, error) {
	row, err := repo.TakeOne[streamRow](t.Base, "get usage stream of "+subscriptionID,
		"creator_id = ? AND subscription_id = ? AND event_name = ?", creatorID, subscriptionID, eventName)
	return row.toStream(), err
}

// GetForUpdate implements ports.UsageStreams.
func (t streams) GetForUpdate(ctx context.Context, creatorID, subscriptionID,
	eventName string) (ports.UsageStream, error) {
	return streams{t.ForUpdate()}.Get(ctx, creatorID, subscriptionID, eventName)
}

// GetByID implements ports.UsageStreams.
func (t streams) GetByID(_ context.Context, id int64) (ports.UsageStream, error) {
	row, err := repo.TakeOne[streamRow](t.Base, "get usage stream", "id = ?", id)
	return row.toStream(), err
}

// Update implements ports.UsageStreams.
func (t streams) Update(_ context.Context, s ports.UsageStream) error {
	row := newStreamRow(s)
	res := t.DB.Model(&row).Where("id = ? AND version = ?", s.ID, s.Version-1).Select("*").Omit("id").Updates(&row)
	return t.Changed("update usage stream of "+s.SubscriptionID, res, ports.ErrStale)
}

// ListBySubscription implements ports.UsageStreams.
func (t streams) ListBySubscription(_ context.Context, creatorID, subscriptionID string) ([]ports.UsageStream, error) {
	query := t.DB.Where("creator_id = ? AND subscription_id = ?", creatorID, subscriptionID).Order("event_name")
	return repo.ListBy(t.Base, "list usage streams of "+subscriptionID, query, streamRow.toStream)
}

// ListByID implements ports.UsageStreams.
func (t streams) ListByID(_ context.Context, ids []int64) ([]ports.UsageStream, error) {
	return repo.ListBy(t.Base, "list usage streams", t.DB.Where("id IN ?", ids), streamRow.toStream)
}

// ListByCustomer implements ports.UsageStreams.
func (t streams) ListByCustomer(_ context.Context, creatorID, externalCustomerID string) ([]ports.UsageStream, error) {
	query := t.DB.Where("creator_id = ? AND external_customer_id = ? AND NOT closed", creatorID, externalCustomerID).
		Order("event_name, subscription_id")
	return repo.ListBy(t.Base, "list usage streams of a customer", query, streamRow.toStream)
}

// Recount implements ports.UsageStreams.
func (t streams) Recount(_ context.Context, s ports.UsageStream, from time.Time) error {
	const op = "recount usage stream"
	received, err := t.receivedSince(s, from)
	if err != nil {
		return err
	}
	var first, last int64
	err = t.QueryRow(op, "SELECT COALESCE(MIN(period_start), ?), COALESCE(MAX(occurred_at), 0) FROM usage_events "+
		"WHERE stream_id = ? AND occurred_at >= ? AND received_at >= ?",
		[]any{from.UnixMilli(), s.ID, from.UnixMilli(), received}, &first, &last)
	if err != nil {
		return err
	}
	for p := s.Schedule.At(from); p.Start.UnixMilli() <= last; p = s.Schedule.Next(p) {
		isLast := !s.Schedule.EndsAt.IsZero() && !p.End.Before(s.Schedule.EndsAt)
		if isLast { // it has what was reported for a later time, too
			p.End = time.UnixMilli(last + 1)
		}
		err := t.DB.Exec("UPDATE usage_events SET period_start = ? WHERE stream_id = ? AND occurred_at >= ? AND "+
			"occurred_at < ? AND period_start <> ? AND received_at >= ?",
			repo.UnixMillis(p.Start), s.ID, repo.UnixMillis(p.Start), repo.UnixMillis(p.End), repo.UnixMillis(p.Start),
			received).Error
		if err != nil {
			return t.Failure(op, err)
		}
		if isLast {
			break
		}
	}
	since := time.UnixMilli(min(first, from.UnixMilli()))
	if received, err = t.receivedSince(s, since); err != nil {
		return err
	}
	if err := t.findUnique(s, since, received); err != nil {
		return err
	}
	if err := rollups(t).recount(s, since, "stream_id = ? AND period_start >= ?", s.ID,
		repo.UnixMillis(since)); err != nil {
		return err
	}
	return rollups(t).divideAgain(s, since)
}

// findUnique chooses again, in each period from a time on, which report of a unique value counts. Periods of which
// reports are deleted stay as they are.
func (t streams) findUnique(s ports.UsageStream, since time.Time, received repo.UnixMillis) error {
	const op = "find unique usage"
	const periods = " WHERE stream_id = @stream AND period_start >= @since AND period_start NOT IN (" +
		"SELECT period_start FROM usage_rollups WHERE stream_id = @stream AND incomplete)"
	const reports = periods + " AND received_at >= @received AND unique_value IS NOT NULL"
	args := map[string]any{"stream": s.ID, "since": repo.UnixMillis(since), "received": received}
	before, err := rollups(t).uniqueDays(s, since, received)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"DELETE FROM usage_unique_values" + periods,
		"INSERT INTO usage_unique_values (creator_id, stream_id, period_start, value, event_id) " +
			"SELECT creator_id, stream_id, period_start, unique_value, MIN(id) FROM usage_events" + reports +
			" AND voided_at IS NULL GROUP BY creator_id, stream_id, period_start, unique_value",
		"UPDATE usage_events SET quantity = CASE WHEN id IN (SELECT event_id FROM usage_unique_values" + periods +
			") THEN 1 ELSE 0 END" + reports,
	} {
		if err := t.DB.Exec(statement, args).Error; err != nil {
			return t.Failure(op, err)
		}
	}
	after, err := rollups(t).uniqueDays(s, since, received)
	if err != nil {
		return err
	}
	return rollups(t).moveUniqueDays(before, after)
}

// receivedSince is the real time before which no report was received of a period that begins at a time, or later.
// Partitions of earlier months are not read.
func (t streams) receivedSince(s ports.UsageStream, periodStart time.Time) (repo.UnixMillis, error) {
	offset, err := rollups(t).offset(s.CreatorID)
	return repo.UnixMillis(periodStart.Add(-core.MaxAhead - offset)), err
}
