package gormstore

import (
	"context"
	"time"

	"sundry/core/appointment"
	"sundry/ports"
)

type appointmentRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	ListingID          string
	VariantID          string
	CheckoutID         string
	Position           int
	ClaimID            string
	ExternalCustomerID string
	CustomerID         string
	Title              string
	Status             string
	StartsAt           millis
	EndsAt             millis
	Timezone           string
	DeliveryMode       string
	MeetingURL         string
	Address            string
	Sequence           int
	CancelReason       string
	CanceledAt         millis
	CreatedAt          millis `gorm:"autoCreateTime:false"`
	Revision           int64
}

// TableName implements gorm's tabler.
func (appointmentRow) TableName() string { return "appointments" }

func rowOfAppointment(a appointment.State) appointmentRow {
	return appointmentRow{
		ID: a.ID, CreatorID: a.CreatorID, ListingID: a.ListingID, VariantID: a.VariantID, CheckoutID: a.CheckoutID, Position: a.Position,
		ClaimID: a.ClaimID, ExternalCustomerID: a.ExternalCustomerID, CustomerID: a.CustomerID, Title: a.Title, Status: string(a.Status),
		StartsAt: millis(a.StartsAt), EndsAt: millis(a.EndsAt), Timezone: a.Timezone, DeliveryMode: string(a.DeliveryMode),
		MeetingURL: a.MeetingURL, Address: a.Address, Sequence: a.Sequence, CancelReason: a.CancelReason, CanceledAt: millis(a.CanceledAt),
		CreatedAt: millis(a.CreatedAt), Revision: a.Revision,
	}
}

func (r appointmentRow) state() appointment.State {
	return appointment.State{
		ID: r.ID, CreatorID: r.CreatorID, ListingID: r.ListingID, VariantID: r.VariantID, CheckoutID: r.CheckoutID, Position: r.Position,
		ClaimID: r.ClaimID, ExternalCustomerID: r.ExternalCustomerID, CustomerID: r.CustomerID, Title: r.Title,
		Status: appointment.Status(r.Status), StartsAt: time.Time(r.StartsAt), EndsAt: time.Time(r.EndsAt), Timezone: r.Timezone,
		DeliveryMode: appointment.DeliveryMode(r.DeliveryMode), MeetingURL: r.MeetingURL, Address: r.Address, Sequence: r.Sequence,
		CancelReason: r.CancelReason, CanceledAt: time.Time(r.CanceledAt), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type appointments struct{ table }

// Add implements ports.Appointments.
func (t appointments) Add(_ context.Context, a appointment.State) error {
	row := rowOfAppointment(a)
	return t.insert("add appointment "+a.ID, &row)
}

// Get implements ports.Appointments.
func (t appointments) Get(_ context.Context, id string) (appointment.State, error) {
	row, err := first[appointmentRow](t.table, "get appointment "+id, "id = ?", id)
	return row.state(), err
}

// Save implements ports.Appointments.
func (t appointments) Save(_ context.Context, a appointment.State) error {
	row := rowOfAppointment(a)
	return t.update("save appointment "+a.ID, &row, a.ID, a.Revision)
}

// List implements ports.Appointments.
func (t appointments) List(_ context.Context, creatorID string, search ports.AppointmentSearch, page ports.Page) (ports.List[appointment.State], error) {
	query := t.db.Where("creator_id = ?", creatorID)
	if search.ExternalCustomerID != "" {
		query = query.Where("external_customer_id = ?", search.ExternalCustomerID)
	}
	if search.ListingID != "" {
		query = query.Where("listing_id = ?", search.ListingID)
	}
	if search.Status != "" {
		query = query.Where("status = ?", string(search.Status))
	}
	if !search.From.IsZero() {
		query = query.Where("starts_at >= ?", millis(search.From))
	}
	if !search.To.IsZero() {
		query = query.Where("starts_at < ?", millis(search.To))
	}
	return newest(t.table, "appointments of "+creatorID, query, page, appointmentRow.state, func(r appointmentRow) string { return r.ID })
}

// OfCheckout implements ports.Appointments.
func (t appointments) OfCheckout(_ context.Context, creatorID, checkoutID string) ([]appointment.State, error) {
	var rows []appointmentRow
	err := t.db.Where("creator_id = ? AND checkout_id = ?", creatorID, checkoutID).Order("position").Find(&rows).Error
	states := make([]appointment.State, len(rows))
	for i, row := range rows {
		states[i] = row.state()
	}
	return states, t.failure("appointments of session "+checkoutID, err)
}

type bookingAudit struct{ table }

// Overlaps implements ports.BookingAudit.
func (t bookingAudit) Overlaps(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit claims", `SELECT id FROM (
			SELECT id, blocked_until, LEAD(blocked_from) OVER (PARTITION BY creator_id ORDER BY blocked_from) AS next
			FROM claims WHERE status IN ('held', 'confirmed')) AS live
		WHERE next < blocked_until ORDER BY id LIMIT ?`, limit)
}

// Unmatched implements ports.BookingAudit.
func (t bookingAudit) Unmatched(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit appointments", `SELECT a.id AS id FROM appointments a LEFT JOIN claims c ON c.id = a.claim_id
		WHERE a.status = 'confirmed' AND (c.id IS NULL OR c.status <> 'confirmed' OR c.starts_at <> a.starts_at OR c.creator_id <> a.creator_id)
		UNION ALL SELECT c.id FROM claims c LEFT JOIN appointments a ON a.claim_id = c.id
		WHERE c.status = 'confirmed' AND (a.id IS NULL OR a.status <> 'confirmed') ORDER BY id LIMIT ?`, limit)
}

var _ ports.BookingAudit = bookingAudit{}
