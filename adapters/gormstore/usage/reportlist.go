package usage

import (
	"context"
	"math"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/metadata"
	core "sundry/core/usage"
	"sundry/ports"
)

type listedReportRow struct {
	Position    int64
	ID          string
	StreamID    int64
	Key         *string
	Quantity    core.Quantity
	Dimensions  string
	OccurredAt  repo.UnixMillis
	ReceivedAt  repo.UnixMillis
	PeriodStart repo.UnixMillis
	VoidedAt    repo.UnixMillis
	InvoiceID   string
	BilledAt    repo.UnixMillis
}

func (r listedReportRow) toReport() ports.ListedReport {
	out := ports.ListedReport{
		ID: r.ID, StreamID: r.StreamID, Quantity: r.Quantity, At: time.Time(r.OccurredAt),
		ReceivedAt: time.Time(r.ReceivedAt), PeriodStart: time.Time(r.PeriodStart), VoidedAt: time.Time(r.VoidedAt),
		InvoiceID: r.InvoiceID, BilledAt: time.Time(r.BilledAt), Dimensions: metadata.Restore(r.Dimensions),
	}
	if r.Key != nil {
		out.Key = *r.Key
	}
	return out
}

// wholeWindow is the id of a cursor behind all reports of its position: it sorts before every id.
const wholeWindow = "-"

// clockSkew bounds how far processes' clocks put successive reports out of order.
const clockSkew = time.Hour

// List implements ports.UsageReports. Reports have an index by their position alone, so that writing them is cheap: a
// page reads backwards, over those of other streams, until it is full or has read f.Window of them.
func (t reports) List(
	_ context.Context, f ports.ReportFilter, page ports.Page,
) (ports.List[ports.ListedReport], error) {
	const op = "list usage reports"
	var list ports.List[ports.ListedReport]
	if len(f.StreamIDs) == 0 && f.CreatorID == "" {
		return list, nil
	}
	args := map[string]any{
		"at": int64(math.MaxInt64), "id": wholeWindow, "streams": f.StreamIDs, "limit": page.Limit + 1,
		"window": f.Window - 1, "creator": f.CreatorID, "event": f.EventName,
		"since": f.ReceivedSince.UnixMilli(), "from": repo.UnixMillis(f.From), "to": repo.UnixMillis(f.To),
	}
	if page.After.ID != "" {
		args["at"], args["id"] = page.After.Value, page.After.ID
	}
	before := "position < @at" // of a cursor that is a report, others may be left at its position
	if args["id"] != wholeWindow {
		before = "position <= @at"
	}
	// Whole positions are read: on PostgreSQL, all reports of a write have the same one.
	var ends []struct{ Position, ReceivedAt int64 }
	err := t.DB.Raw("SELECT position, received_at FROM usage_events WHERE "+before+" "+
		"ORDER BY position DESC LIMIT 1 OFFSET @window", args).Scan(&ends).Error
	if err != nil {
		return list, t.Failure(op, err)
	}
	args["until"] = int64(0)
	if len(ends) > 0 {
		args["until"] = ends[0].Position
	}
	var rows []listedReportRow
	if err := t.DB.Raw(t.listSQL(f), args).Scan(&rows).Error; err != nil {
		return list, t.Failure(op, err)
	}
	switch {
	case len(rows) > page.Limit:
		rows = rows[:page.Limit]
		last := rows[len(rows)-1]
		list.Next = ports.Cursor{Value: last.Position, ID: last.ID}
	case len(ends) > 0 && time.UnixMilli(ends[0].ReceivedAt).After(f.ReceivedSince.Add(-clockSkew)):
		list.Next = ports.Cursor{Value: ends[0].Position, ID: wholeWindow}
	}
	list.Items = make([]ports.ListedReport, len(rows))
	for i, row := range rows {
		list.Items[i] = row.toReport()
	}
	return list, nil
}

// listSQL reads a page. Of SQLite a position is one report's, and it is to read them by it, too, instead of sorting all
// of a stream.
func (t reports) listSQL(f ports.ReportFilter) string {
	table, order := "usage_events e", `e.position DESC, e.id COLLATE "C" DESC`
	after := `e.position <= @at AND (e.position < @at OR e.id COLLATE "C" < @id)`
	if !t.OnPostgres() {
		table, order, after = "usage_events e NOT INDEXED", "e.position DESC", "e.position < @at"
	}
	query := "SELECT e.position, e.id, e.stream_id, e.key, e.quantity, COALESCE(e.dimensions, '') AS dimensions, " +
		"e.occurred_at, e.received_at, e.period_start, e.voided_at, COALESCE(u.invoice_id, '') AS invoice_id, " +
		"u.billed_at FROM " + table +
		" LEFT JOIN usage_rollups u ON u.stream_id = e.stream_id AND u.period_start = e.period_start WHERE " + after +
		" AND e.position >= @until AND e.received_at >= @since"
	switch {
	case len(f.StreamIDs) > 0:
		query += " AND e.stream_id IN @streams"
	case f.EventName != "":
		query += " AND e.stream_id IN (SELECT id FROM usage_streams WHERE creator_id = @creator AND event_name = @event)"
	default:
		query += " AND e.creator_id = @creator"
	}
	if !f.From.IsZero() {
		query += " AND e.occurred_at >= @from"
	}
	if !f.To.IsZero() {
		query += " AND e.occurred_at < @to"
	}
	return query + " ORDER BY " + order + " LIMIT @limit"
}
