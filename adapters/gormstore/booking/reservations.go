package booking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/appointment"
	"sundry/core/slot"
	"sundry/ports"
)

type reservationRow struct {
	ID           string `gorm:"primaryKey"`
	CreatorID    string
	ListingID    string
	VariantID    string
	CheckoutID   string
	Position     int
	Status       string
	StartsAt     repo.UnixMillis
	EndsAt       repo.UnixMillis
	BlockedFrom  repo.UnixMillis
	BlockedUntil repo.UnixMillis
	Timezone     string
	DeliveryMode string
	CreatedAt    repo.UnixMillis `gorm:"autoCreateTime:false"`
	Revision     int64
}

// TableName implements gorm's tabler.
func (reservationRow) TableName() string { return "reservations" }

func newReservationRow(c appointment.ReservationState) reservationRow {
	return reservationRow{
		ID: c.ID, CreatorID: c.CreatorID, ListingID: c.ListingID, VariantID: c.VariantID, CheckoutID: c.CheckoutID,
		Position: c.Position,
		Status:   string(c.Status), StartsAt: repo.UnixMillis(c.StartsAt), EndsAt: repo.UnixMillis(c.EndsAt),
		BlockedFrom: repo.UnixMillis(c.Blocked.From), BlockedUntil: repo.UnixMillis(c.Blocked.Until), Timezone: c.Timezone,
		DeliveryMode: string(c.DeliveryMode), CreatedAt: repo.UnixMillis(c.CreatedAt), Revision: c.Revision,
	}
}

func (r reservationRow) toState() appointment.ReservationState {
	return appointment.ReservationState{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, VariantID: r.VariantID, CheckoutID: r.CheckoutID,
		Position: r.Position,
		Status:   appointment.ReservationStatus(r.Status), StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt),
		Blocked:  slot.Interval{From: time.Time(r.BlockedFrom), Until: time.Time(r.BlockedUntil)},
		Timezone: r.Timezone, DeliveryMode: appointment.DeliveryMode(r.DeliveryMode), CreatedAt: time.Time(r.CreatedAt),
		Revision: r.Revision,
	}
}

var reservationMapping = repo.Mapping[reservationRow, appointment.ReservationState]{
	Name: "reservation", NewRow: newReservationRow, ToState: reservationRow.toState,
	Key: func(r reservationRow) (string, int64) { return r.ID, r.Revision },
}

type reservations struct {
	repo.Table[reservationRow, appointment.ReservationState]
}

// Lock implements ports.Reservations.
func (t reservations) Lock(_ context.Context, creatorID string) error {
	return t.AdvisoryLock("lock the time of "+creatorID, "reservations\x00"+creatorID)
}

// Insert implements ports.Reservations. Both engines leave out the rows that would overlap, PostgreSQL by its exclusion
// constraint and SQLite by a trigger. In order of time two transactions that want the same times cannot wait for each
// other.
func (t reservations) Insert(_ context.Context, all []appointment.ReservationState) (bool, error) {
	rows, ids := make([]reservationRow, len(all)), make([]string, len(all))
	for i, c := range all {
		rows[i], ids[i] = newReservationRow(c), c.ID
	}
	slices.SortFunc(rows, func(a, b reservationRow) int {
		return cmp.Compare(time.Time(a.BlockedFrom).UnixMilli(), time.Time(b.BlockedFrom).UnixMilli())
	})
	insert := t.DB.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows)
	if insert.Error != nil || insert.RowsAffected == int64(len(rows)) {
		return insert.Error == nil, t.Failure("insert reservations", insert.Error)
	}
	return false, t.Failure("remove reservations", t.DB.Where("id IN ?", ids).Delete(&reservationRow{}).Error)
}

// ListByCheckout implements ports.Reservations.
func (t reservations) ListByCheckout(_ context.Context, creatorID,
	checkoutID string) ([]appointment.ReservationState, error) {
	query := t.DB.Where("creator_id = ? AND checkout_id = ?", creatorID, checkoutID).Order("position, id")
	return t.ListBy("list reservations of "+checkoutID, query)
}

// longestBlock is more than a session of a day blocks with a day's buffers around it. Bounding where a reservation may
// begin from both sides is what keeps the read from scanning the past.
const longestBlock = 4 * 24 * time.Hour

// LiveReservationsSQL reads a creator's live reservations that overlap an interval, with its arguments. PostgreSQL has
// two indexes for it and chooses either while it has no statistics: the condition is written for both, so that each
// leaves out the past.
func LiveReservationsSQL(postgres bool, creatorID string, during slot.Interval) (query string, args []any) {
	from, until := during.From.UnixMilli(), during.Until.UnixMilli()
	query = `SELECT id, listing_id, starts_at, blocked_from, blocked_until FROM reservations
	WHERE creator_id = ? AND status IN ('held', 'confirmed') AND blocked_from > ? AND blocked_from < ?
	AND blocked_until > ?`
	args = []any{creatorID, from - longestBlock.Milliseconds(), until, from}
	if postgres {
		query, args = query+" AND int8range(blocked_from, blocked_until) && int8range(?, ?)", append(args, from, until)
	}
	return query + " ORDER BY blocked_from", args
}

// interval is one in milliseconds since 1970.
func interval(from, until int64) slot.Interval {
	return slot.Interval{From: time.UnixMilli(from).UTC(), Until: time.UnixMilli(until).UTC()}
}

// ListLive implements ports.Reservations.
func (t reservations) ListLive(_ context.Context, creatorID string,
	during slot.Interval) ([]ports.LiveReservation, error) {
	query, args := LiveReservationsSQL(t.OnPostgres(), creatorID, during)
	return repo.QueryRows(t.Base, "list live reservations of "+creatorID, query, args,
		func(row repo.Scanner) (ports.LiveReservation, error) {
			var live ports.LiveReservation
			var startsAt, blockedFrom, blockedUntil int64
			err := row.Scan(&live.ID, &live.ListingID, &startsAt, &blockedFrom, &blockedUntil)
			live.StartsAt, live.Blocked = time.UnixMilli(startsAt).UTC(), interval(blockedFrom, blockedUntil)
			return live, err
		})
}
