package gormstore

import (
	"context"
	"time"

	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/ports"
)

type sessionRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	ListingID          string
	Offer              jsonOf[plan.Offer]
	Catalog            jsonOf[*checkout.CatalogReference]
	PaymentLinkID      string
	ExternalCustomerID string
	Email              string
	Buyer              jsonOf[customer.Details]
	UIMode             string
	SuccessURL         string
	CancelURL          string
	ReferenceID        string
	Metadata           jsonOf[map[string]string]
	UTM                jsonOf[map[string]string]
	Slots              jsonOf[[]checkout.AppointmentSlot]
	SessionCount       int
	Status             string
	Currency           string
	Subtotal           int64
	Discount           int64
	Tax                int64
	Total              int64
	Attempts           int
	LivePaymentID      string
	LastError          jsonOf[payment.Refusal]
	PaymentID          string
	CustomerID         string
	SubscriptionID     string
	ReceiptNumber      string
	PaidAt             millis
	ExpiresAt          millis
	CreatedAt          millis `gorm:"autoCreateTime:false"`
	Revision           int64
}

// TableName implements gorm's tabler.
func (sessionRow) TableName() string { return "sessions" }

func rowOfSession(s checkout.State) sessionRow {
	return sessionRow{
		ID: s.ID, CreatorID: s.CreatorID, ListingID: s.Offer.ListingID,
		Offer: jsonOf[plan.Offer]{s.Offer}, Catalog: jsonOf[*checkout.CatalogReference]{s.Catalog}, PaymentLinkID: s.PaymentLinkID,
		ExternalCustomerID: s.ExternalCustomerID, Email: s.Email, Buyer: jsonOf[customer.Details]{s.Buyer},
		UIMode: string(s.UIMode), SuccessURL: s.SuccessURL, CancelURL: s.CancelURL, ReferenceID: s.ReferenceID,
		Metadata: jsonOf[map[string]string]{s.Metadata}, UTM: jsonOf[map[string]string]{s.UTM},
		Slots: jsonOf[[]checkout.AppointmentSlot]{s.Slots}, SessionCount: s.Offer.SessionCount,
		Status: string(s.Status), Currency: string(s.Total.Currency),
		Subtotal: s.Subtotal.Minor, Discount: s.Discount.Minor, Tax: s.Tax.Minor, Total: s.Total.Minor,
		Attempts: s.Attempts, LivePaymentID: s.LivePaymentID, LastError: jsonOf[payment.Refusal]{s.LastError},
		PaymentID: s.PaymentID, CustomerID: s.CustomerID, SubscriptionID: s.SubscriptionID, ReceiptNumber: s.ReceiptNumber,
		PaidAt: millis(s.PaidAt), ExpiresAt: millis(s.ExpiresAt), CreatedAt: millis(s.CreatedAt), Revision: s.Revision,
	}
}

func (r sessionRow) state() checkout.State {
	amount := func(minor int64) money.Amount {
		return money.Amount{Minor: minor, Currency: money.Currency(r.Currency)}
	}
	return checkout.State{
		ID: r.ID, CreatorID: r.CreatorID, Offer: r.Offer.V, Catalog: r.Catalog.V, PaymentLinkID: r.PaymentLinkID,
		ExternalCustomerID: r.ExternalCustomerID, Email: r.Email, Buyer: r.Buyer.V,
		UIMode: checkout.UIMode(r.UIMode), SuccessURL: r.SuccessURL, CancelURL: r.CancelURL, ReferenceID: r.ReferenceID,
		Metadata: r.Metadata.V, UTM: r.UTM.V, Slots: r.Slots.V, Status: checkout.Status(r.Status),
		Subtotal: amount(r.Subtotal), Discount: amount(r.Discount), Tax: amount(r.Tax), Total: amount(r.Total),
		Attempts: r.Attempts, LivePaymentID: r.LivePaymentID, LastError: r.LastError.V,
		PaymentID: r.PaymentID, CustomerID: r.CustomerID, SubscriptionID: r.SubscriptionID, ReceiptNumber: r.ReceiptNumber,
		PaidAt: time.Time(r.PaidAt), ExpiresAt: time.Time(r.ExpiresAt), CreatedAt: time.Time(r.CreatedAt), Revision: r.Revision,
	}
}

type sessions struct{ table }

// Add implements ports.Sessions.
func (t sessions) Add(_ context.Context, s checkout.State) error {
	row := rowOfSession(s)
	return t.put("add session "+s.ID, &row, "")
}

// Get implements ports.Sessions.
func (t sessions) Get(_ context.Context, id string) (checkout.State, error) {
	row, err := first[sessionRow](t.table, "get session "+id, "id = ?", id)
	return row.state(), err
}

// Save implements ports.Sessions.
func (t sessions) Save(_ context.Context, s checkout.State) error {
	row := rowOfSession(s)
	return t.update("save session "+s.ID, &row, s.ID, s.Revision)
}

type sellingAudit struct{ table }

// UnbalancedPayments implements ports.SellingAudit.
func (t sellingAudit) UnbalancedPayments(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit payments", `SELECT s.id FROM sessions s LEFT JOIN payments p ON p.id = s.payment_id
		WHERE s.status = ? AND (p.id IS NULL OR p.status <> ? OR p.amount <> s.total OR p.currency <> s.currency
			OR s.total <> s.subtotal - s.discount) ORDER BY s.id LIMIT ?`,
		checkout.StatusPaid, payment.Succeeded, limit)
}

// OverdueSessions implements ports.SellingAudit.
func (t sellingAudit) OverdueSessions(_ context.Context, expiredBefore time.Time, limit int) ([]string, error) {
	return t.ids("audit sessions", `SELECT id FROM sessions WHERE status = ? AND live_payment_id = '' AND expires_at < ? ORDER BY id LIMIT ?`,
		checkout.StatusProcessing, millis(expiredBefore), limit)
}

// MissingAppointments implements ports.SellingAudit.
func (t sellingAudit) MissingAppointments(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit appointments of sessions", `SELECT s.id FROM sessions s WHERE s.status = 'paid' AND s.session_count > 0
		AND s.session_count <> (SELECT COUNT(*) FROM appointments a WHERE a.checkout_id = s.id)
		ORDER BY s.id LIMIT ?`, limit)
}

// StrayHolds implements ports.SellingAudit.
func (t sellingAudit) StrayHolds(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit holds", `SELECT DISTINCT s.id FROM claims c JOIN sessions s ON s.id = c.checkout_id
		WHERE c.status = 'held' AND s.status <> 'processing' ORDER BY s.id LIMIT ?`, limit)
}

// KeptMoney implements ports.SellingAudit.
func (t sellingAudit) KeptMoney(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit kept money", `SELECT p.id FROM payments p JOIN sessions s ON s.id = p.checkout_id
		WHERE p.status = 'succeeded' AND s.status <> 'paid' AND p.refunded <> p.amount
		AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind = 'checkout.give_back' AND subject = p.id) ORDER BY p.id LIMIT ?`, limit)
}

// DocumentGaps implements ports.SellingAudit.
func (t sellingAudit) DocumentGaps(_ context.Context, limit int) ([]string, error) {
	return t.ids("audit document numbers", `SELECT n.series AS id FROM document_numbers n WHERE n.series = 'receipt'
		AND n.last <> (SELECT COUNT(DISTINCT receipt_number) FROM sessions WHERE receipt_number <> '')
		ORDER BY n.series LIMIT ?`, limit)
}

var _ ports.SellingAudit = sellingAudit{}
