// Package webhooks keeps events, the endpoints that receive them, and deliveries.
package webhooks

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/event"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.WebhookRepos {
	return ports.WebhookRepos{
		Events: events{eventMapping.On(b), eventWrites{}}, Endpoints: endpoints{endpointMapping.On(b)},
		Deliveries: deliveries{deliveryMapping.On(b)},
		Audit:      audit{b},
	}
}

type eventRow struct {
	repo.Unrevised
	CreatorID string
	Type      string
	// CustomerID and ExternalCustomerID are those that the data names, for searches.
	CustomerID         string
	ExternalCustomerID string
	Livemode           bool
	Data               repo.JSONColumn[json.RawMessage]
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
	// Position is the place among the account's events, in the order of commits.
	Position int64
}

// TableName implements gorm's tabler.
func (eventRow) TableName() string { return "events" }

func (r eventRow) toRecord() event.Record {
	return event.Record{
		ID: r.ID, CreatorID: r.CreatorID, Type: event.Type(r.Type), Livemode: r.Livemode, Data: r.Data.V,
		CreatedAt: time.Time(r.CreatedAt),
	}
}

func newEventRow(e event.Record) eventRow {
	customerID, externalCustomerID := e.Customer()
	return eventRow{
		Unrevised: repo.Unrevised{ID: e.ID}, CreatorID: e.CreatorID, Type: string(e.Type), CustomerID: customerID,
		ExternalCustomerID: externalCustomerID, Livemode: e.Livemode, Data: repo.JSON(e.Data),
		CreatedAt: repo.UnixMillis(e.CreatedAt),
	}
}

var eventMapping = repo.Mapping[eventRow, event.Record]{
	Name: "event", NewRow: newEventRow, ToState: eventRow.toRecord,
}

type events struct {
	repo.Table[eventRow, event.Record]
	writes eventWrites
}

// eventWrites are the events that a transaction writes right before its commit, by account.
type eventWrites map[string][]event.Record

// Insert implements ports.Events. The positions are taken right before the commit, because their row is locked until
// then: transactions of one account commit their events in the order of their positions, and hold nobody up before.
func (t events) Insert(_ context.Context, e event.Record) error {
	if t.AtCommit == nil {
		return t.write(e.CreatorID, []event.Record{e})
	}
	t.writes[e.CreatorID] = append(t.writes[e.CreatorID], e)
	t.AtCommit("events of "+e.CreatorID, func() error { return t.write(e.CreatorID, t.writes[e.CreatorID]) })
	return nil
}

// write inserts events of an account at its next positions. Each gets one of its own, so that a deleted event leaves a
// gap.
func (t events) write(creatorID string, all []event.Record) error {
	op := "insert events of " + creatorID
	for len(all) > 0 {
		some := all[:min(len(all), mostEvents)]
		all = all[len(some):]
		args := make([]any, 0, 9*len(some))
		for i, e := range some {
			row := newEventRow(e)
			args = append(args, row.ID, row.CreatorID, row.Type, row.CustomerID, row.ExternalCustomerID, row.Livemode,
				row.Data, row.CreatedAt, len(some)-1-i)
		}
		if err := t.place(op, creatorID, len(some), args); err != nil {
			return err
		}
	}
	return nil
}

// place raises the account's position by n and inserts n events, each at its distance from the position. On PostgreSQL
// that is one statement; SQLite knows none that writes two tables.
func (t events) place(op, creatorID string, n int, values []any) error {
	const raise = `INSERT INTO event_positions (creator_id, last) VALUES (?, ?)
		ON CONFLICT (creator_id) DO UPDATE SET last = event_positions.last + excluded.last`
	if t.OnPostgres() {
		args := append([]any{creatorID, n}, values...)
		return t.ExecDeferred(op, "WITH raised AS ("+raise+" RETURNING last) "+placedEvents(n)+", raised p", args...)
	}
	if err := t.ExecDeferred(op, raise, creatorID, n); err != nil {
		return err
	}
	return t.ExecDeferred(op, placedEvents(n)+", event_positions p WHERE p.creator_id = ?", append(values, creatorID)...)
}

// placedEvents inserts events, each at its distance from the last position, which p has.
func placedEvents(n int) string {
	const values = "(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), " +
		"CAST(? AS BOOLEAN), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT))"
	return `INSERT INTO events (id, creator_id, type, customer_id, external_customer_id, livemode, data, created_at,
		position) SELECT column1, column2, column3, column4, column5, column6, column7, column8, p.last - column9
		FROM (VALUES ` + values + strings.Repeat(", "+values, n-1) + `) AS event`
}

// mostEvents bounds the rows of one INSERT, and so how many statements there are to prepare.
const mostEvents = 8

// ofCustomer selects the events that name a customer, and those that name nobody but the id under which the customer's
// access is read.
const ofCustomer = `(customer_id = ? AND customer_id <> '' OR customer_id = '' AND external_customer_id <> ''
	AND external_customer_id IN (?, (SELECT c.external_customer_id FROM customers c
	WHERE c.creator_id = ? AND c.id = ?)))`

// ofExternalCustomer selects the events that name an external id, and those that name only the customer who has it.
const ofExternalCustomer = `(external_customer_id = ? AND external_customer_id <> '' OR external_customer_id = ''
	AND customer_id <> '' AND customer_id = (SELECT c.id FROM customers c WHERE c.creator_id = ?
	AND c.external_customer_id = ?))`

// List implements ports.Events.
func (t events) List(_ context.Context, creatorID string, search ports.EventSearch,
	page ports.Page) (ports.List[event.Record], error) {
	query := t.DB.Where("creator_id = ?", creatorID)
	if id := search.CustomerID; id != "" {
		query = query.Where(ofCustomer, id, id, creatorID, id)
	}
	if id := search.ExternalCustomerID; id != "" {
		query = query.Where(ofExternalCustomer, id, creatorID, id)
	}
	if len(search.Types) > 0 {
		query = query.Where("type IN ?", search.Types)
	}
	query = repo.CreatedIn(query, search.Created)
	after, order := "(position, id) < (?, ?)", "position DESC, id DESC"
	if search.OldestFirst {
		after, order = "(position, id) > (?, ?)", "position, id"
	}
	if page.After.ID != "" {
		query = query.Where(after, page.After.Value, page.After.ID)
	}
	var rows []eventRow
	if err := query.Order(order).Limit(page.Limit + 1).Find(&rows).Error; err != nil {
		return ports.List[event.Record]{}, t.Failure("list events of "+creatorID, err)
	}
	list := repo.Paged(rows, page.Limit, eventRow.toRecord, eventRow.cursor)
	if search.OldestFirst {
		list.Last = page.After
		if shown := len(list.Items); shown > 0 {
			list.Last = rows[shown-1].cursor()
		}
	}
	return list, nil
}

// cursor is the position of an event in its account's list.
func (r eventRow) cursor() ports.Cursor { return ports.Cursor{Value: r.Position, ID: r.ID} }

// ListBetween implements ports.Events.
func (t events) ListBetween(_ context.Context, creatorID string, from, to time.Time, afterID string,
	limit int) ([]event.Record, error) {
	query := t.DB.Where("creator_id = ? AND created_at >= ? AND created_at < ? AND id > ?", creatorID,
		repo.UnixMillis(from), repo.UnixMillis(to), afterID)
	return t.ListBy("list events of "+creatorID, query.Order("id").Limit(limit))
}
