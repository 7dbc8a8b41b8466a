package booking

import (
	"context"
	"time"

	"sundry/adapters/gormstore/repo"
	"sundry/core/appointment"
	"sundry/core/intake"
	"sundry/ports"
)

type appointmentRow struct {
	repo.Revised
	CreatorID          string
	ListingID          string
	VariantID          string
	CheckoutID         string
	Position           int
	ReservationID      string
	GroupID            string
	ExternalCustomerID string
	CustomerID         string
	Title              string
	Intake             repo.SharedJSON[intake.Response]
	Status             string
	StartsAt           repo.UnixMillis
	EndsAt             repo.UnixMillis
	Timezone           string
	DeliveryMode       string
	MeetingURL         string
	Address            string
	BuyerMoves         int
	Sequence           int
	FullRefundHours    *int
	CancelReason       string
	CanceledAt         repo.UnixMillis
	CanceledBy         string
	RefundDecision     string
	RefundID           string
	Outcome            string
	OutcomeAt          repo.UnixMillis
	CreatedAt          repo.UnixMillis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (appointmentRow) TableName() string { return "appointments" }

func newAppointmentRow(a appointment.State) appointmentRow {
	return appointmentRow{
		Revised:   repo.Revised{ID: a.ID, Revision: a.Revision},
		CreatorID: a.CreatorID, ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID,
		Position:      a.Position,
		ReservationID: a.ReservationID, GroupID: a.GroupID, ExternalCustomerID: a.ExternalCustomerID,
		CustomerID: a.CustomerID, Title: a.Title,
		Intake:   repo.Shared(a.Intake),
		Status:   string(a.Status),
		StartsAt: repo.UnixMillis(a.StartsAt), EndsAt: repo.UnixMillis(a.EndsAt), Timezone: a.Timezone,
		DeliveryMode: string(a.DeliveryMode),
		MeetingURL:   a.MeetingURL, Address: a.Address, BuyerMoves: a.BuyerMoves, Sequence: a.Sequence,
		FullRefundHours: a.RefundPolicy.Hours(), CancelReason: a.CancelReason, CanceledAt: repo.UnixMillis(a.CanceledAt),
		CanceledBy: string(a.CanceledBy), RefundDecision: string(a.RefundDecision), RefundID: a.RefundID,
		Outcome: string(a.Outcome), OutcomeAt: repo.UnixMillis(a.OutcomeAt),
		CreatedAt: repo.UnixMillis(a.CreatedAt),
	}
}

func (r appointmentRow) toState() appointment.State {
	state := appointment.State{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, VariantID: r.VariantID, CheckoutID: r.CheckoutID,
		Position:      r.Position,
		ReservationID: r.ReservationID, GroupID: r.GroupID, ExternalCustomerID: r.ExternalCustomerID,
		CustomerID: r.CustomerID, Title: r.Title,
		Intake: r.Intake.V,
		Status: appointment.Status(r.Status), StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt),
		Timezone:     r.Timezone,
		DeliveryMode: appointment.DeliveryMode(r.DeliveryMode), MeetingURL: r.MeetingURL, Address: r.Address,
		BuyerMoves: r.BuyerMoves, Sequence: r.Sequence,
		CancelReason: r.CancelReason, CanceledAt: time.Time(r.CanceledAt), CanceledBy: appointment.Canceler(r.CanceledBy),
		RefundDecision: appointment.RefundDecision(r.RefundDecision), RefundID: r.RefundID, CreatedAt: time.Time(r.CreatedAt),
		Outcome: appointment.Outcome(r.Outcome), OutcomeAt: time.Time(r.OutcomeAt),
		Revision: r.Revision,
	}
	if r.FullRefundHours != nil {
		state.RefundPolicy = appointment.RefundPolicy{Promised: true, FullHours: *r.FullRefundHours}
	}
	return state
}

var appointmentMapping = repo.Mapping[appointmentRow, appointment.State]{
	Name: "appointment", NewRow: newAppointmentRow, ToState: appointmentRow.toState,
	Sorts: repo.Sorts{
		"startsAt": {SQL: "starts_at", Indexed: true},
	},
}

type appointments struct {
	repo.ByID[appointmentRow, appointment.State]
}

// List implements ports.Appointments. Those of a rare status are not looked for among all, in the order of their times.
func (t appointments) List(_ context.Context, creatorID string, search ports.AppointmentSearch,
	page ports.Page) (found ports.List[appointment.State], err error) {
	if search.Status == "" || !appointmentMapping.Sorts.Apply(page.Sort) {
		return t.list(creatorID, search, page)
	}
	err = t.Planned("list appointments", func(b *repo.Base) error {
		found, err = appointments{appointmentMapping.ByID(b)}.list(creatorID, search, page)
		return err
	})
	return found, err
}

func (t appointments) list(creatorID string, search ports.AppointmentSearch,
	page ports.Page) (ports.List[appointment.State], error) {
	query := repo.Equal(t.DB.Where("creator_id = ?", creatorID), map[string]string{
		"external_customer_id": search.ExternalCustomerID, "customer_id": search.CustomerID,
		"checkout_id": search.CheckoutID, "listing_id": search.ListingID, "status": string(search.Status),
	})
	if search.CustomerIDs != nil {
		query = query.Where("customer_id IN ?", search.CustomerIDs)
	}
	if !search.From.IsZero() {
		query = query.Where("starts_at >= ?", repo.UnixMillis(search.From))
	}
	if !search.To.IsZero() {
		query = query.Where("starts_at < ?", repo.UnixMillis(search.To))
	}
	return t.Page("list appointments of "+creatorID, query, page)
}

// ListFrom implements ports.Appointments.
func (t appointments) ListFrom(_ context.Context, creatorID string, from time.Time,
	limit int) ([]appointment.State, error) {
	query := t.DB.Where("creator_id = ? AND starts_at >= ?", creatorID,
		repo.UnixMillis(from)).Order("starts_at, id").Limit(limit)
	return t.ListBy("list appointments of "+creatorID, query)
}

// ListByGroup implements ports.Appointments.
func (t appointments) ListByGroup(_ context.Context, creatorID, groupID string) ([]appointment.State, error) {
	query := t.DB.Where("creator_id = ? AND group_id = ? AND group_id <> ''", creatorID, groupID).Order("id")
	return t.ListBy("list appointments of "+groupID, query)
}

// ListByCheckout implements ports.Appointments.
func (t appointments) ListByCheckout(_ context.Context, creatorID, checkoutID string) ([]appointment.State, error) {
	query := t.DB.Where("creator_id = ? AND checkout_id = ?", creatorID, checkoutID).Order("position")
	return t.ListBy("list appointments of "+checkoutID, query)
}

// Rename implements ports.Appointments.
func (t appointments) Rename(_ context.Context, creatorID, customerID, externalCustomerID string) error {
	return t.Exec("rename appointments of "+customerID,
		`UPDATE appointments SET external_customer_id = ?, revision = revision + 1
			WHERE creator_id = ? AND customer_id = ?`, externalCustomerID, creatorID, customerID)
}
