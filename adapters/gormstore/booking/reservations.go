package booking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"sundry/adapters/gormstore/repo"
	"sundry/core/appointment"
	"sundry/core/slot"
	"sundry/ports"
)

// PlaceRow are the columns that reservations and seats have alike. It is exported for gorm, which sees no other.
type PlaceRow struct {
	repo.Revised
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
}

// placeColumns names them.
const placeColumns = `id, creator_id, listing_id, variant_id, checkout_id, position, status, starts_at, ends_at,
	blocked_from, blocked_until, timezone, delivery_mode, created_at, revision`

func newPlaceRow(c appointment.ReservationState) PlaceRow {
	return PlaceRow{
		Revised:   repo.Revised{ID: c.ID, Revision: c.Revision},
		CreatorID: c.CreatorID, ListingID: c.ListingID, VariantID: c.VariantID, CheckoutID: c.CheckoutID,
		Position: c.Position,
		Status:   string(c.Status), StartsAt: repo.UnixMillis(c.StartsAt), EndsAt: repo.UnixMillis(c.EndsAt),
		BlockedFrom: repo.UnixMillis(c.Blocked.From), BlockedUntil: repo.UnixMillis(c.Blocked.Until), Timezone: c.Timezone,
		DeliveryMode: string(c.DeliveryMode), CreatedAt: repo.UnixMillis(c.CreatedAt),
	}
}

func (r PlaceRow) toState() appointment.ReservationState {
	return appointment.ReservationState{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, VariantID: r.VariantID, CheckoutID: r.CheckoutID,
		Position: r.Position,
		Status:   appointment.ReservationStatus(r.Status), StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt),
		Blocked:  slot.Interval{From: time.Time(r.BlockedFrom), Until: time.Time(r.BlockedUntil)},
		Timezone: r.Timezone, DeliveryMode: appointment.DeliveryMode(r.DeliveryMode), CreatedAt: time.Time(r.CreatedAt),
		Revision: r.Revision,
	}
}

type reservationRow struct {
	PlaceRow
	Seats int
}

// TableName implements gorm's tabler.
func (reservationRow) TableName() string { return "reservations" }

func newReservationRow(c appointment.ReservationState) reservationRow {
	return reservationRow{newPlaceRow(c), c.Seats}
}

func (r reservationRow) toState() appointment.ReservationState {
	state := r.PlaceRow.toState()
	state.Seats = r.Seats
	return state
}

// seatRow is a seat of a group's reservation.
type seatRow struct {
	PlaceRow
	GroupID string
	Number  int
}

// TableName implements gorm's tabler.
func (seatRow) TableName() string { return "reservation_seats" }

func newSeatRow(c appointment.ReservationState) seatRow {
	return seatRow{newPlaceRow(c), c.GroupID, c.Number}
}

func (r seatRow) toState() appointment.ReservationState {
	state := r.PlaceRow.toState()
	state.GroupID, state.Number = r.GroupID, r.Number
	return state
}

var reservationMapping = repo.Mapping[reservationRow, appointment.ReservationState]{
	Name: "reservation", NewRow: newReservationRow, ToState: reservationRow.toState,
}

var seatMapping = repo.Mapping[seatRow, appointment.ReservationState]{
	Name: "seat", NewRow: newSeatRow, ToState: seatRow.toState,
}

type reservations struct {
	repo.Table[reservationRow, appointment.ReservationState]
	seats repo.Table[seatRow, appointment.ReservationState]
}

// Update implements ports.Reservations.
func (t reservations) Update(ctx context.Context, c appointment.ReservationState) error {
	if c.IsSeat() {
		return t.seats.Update(ctx, c)
	}
	return t.Table.Update(ctx, c)
}

// InsertSeat implements ports.Reservations.
func (t reservations) InsertSeat(ctx context.Context, seat appointment.ReservationState) error {
	return t.seats.Insert(ctx, seat)
}

// GetGroup implements ports.Reservations.
func (t reservations) GetGroup(ctx context.Context, creatorID, groupID string) (appointment.ReservationState, error) {
	return t.Get(ctx, creatorID, groupID)
}

// ListSeats implements ports.Reservations.
func (t reservations) ListSeats(
	_ context.Context, creatorID, groupID string,
) ([]appointment.ReservationState, error) {
	return t.seats.ListBy("list seats of "+groupID, t.DB.Where(
		"creator_id = ? AND group_id = ? AND status IN ('held', 'confirmed')", creatorID, groupID).Order("number"))
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

// keptRow is a reservation or a seat.
type keptRow struct {
	PlaceRow
	Seats   int
	GroupID string
	Number  int
}

// TableName implements gorm's tabler.
func (keptRow) TableName() string { return "kept" }

func (r keptRow) toState() appointment.ReservationState {
	state := r.PlaceRow.toState()
	state.Seats, state.GroupID, state.Number = r.Seats, r.GroupID, r.Number
	return state
}

// ListByCheckout implements ports.Reservations.
func (t reservations) ListByCheckout(_ context.Context, creatorID,
	checkoutID string) ([]appointment.ReservationState, error) {
	kept := gorm.Expr("SELECT "+placeColumns+", seats, '' AS group_id, 0 AS number FROM reservations "+
		"WHERE creator_id = ? AND checkout_id = ? UNION ALL SELECT "+placeColumns+", 0, group_id, number "+
		"FROM reservation_seats WHERE creator_id = ? AND checkout_id = ?", creatorID, checkoutID, creatorID, checkoutID)
	query := t.DB.Table("(?) AS kept", kept).Order("position, id")
	return repo.ListBy(t.Base, "list reservations of "+checkoutID, query, keptRow.toState)
}

// longestBlock is more than a session of a day blocks with a day's buffers around it. Bounding where a reservation may
// begin from both sides is what keeps the read from scanning the past.
const longestBlock = 4 * 24 * time.Hour

// LiveReservationsSQL reads a creator's live reservations that overlap an interval, with its arguments. PostgreSQL has
// two indexes for it and chooses either while it has no statistics: the condition is written for both, so that each
// leaves out the past.
func LiveReservationsSQL(postgres bool, creatorID string, during slot.Interval) (query string, args []any) {
	from, until := during.From.UnixMilli(), during.Until.UnixMilli()
	query = `SELECT id, listing_id, variant_id, starts_at, ends_at, blocked_from, blocked_until, seats,
		CASE WHEN seats = 0 THEN 0 ELSE (SELECT COUNT(*) FROM reservation_seats s WHERE s.group_id = reservations.id
			AND s.status IN ('held', 'confirmed')) END
	FROM reservations
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
			var startsAt, endsAt, blockedFrom, blockedUntil int64
			err := row.Scan(&live.ID, &live.ListingID, &live.VariantID, &startsAt, &endsAt, &blockedFrom, &blockedUntil,
				&live.Seats, &live.Taken)
			live.StartsAt, live.EndsAt = time.UnixMilli(startsAt).UTC(), time.UnixMilli(endsAt).UTC()
			live.Blocked = interval(blockedFrom, blockedUntil)
			return live, err
		})
}
