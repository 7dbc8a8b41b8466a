package gormstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"sundry/core/customer"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/ports"
)

type paymentRow struct {
	ID         string `gorm:"primaryKey"`
	CreatorID  string
	CheckoutID string
	Currency   string
	Amount     int64
	Status     string
	Refusal    jsonOf[payment.Refusal]
	Method     string
	Brand      string
	Last4      string
	SaveCard   bool
	CreatedAt  millis `gorm:"autoCreateTime:false"`
	SettledAt  millis
	Refunded   int64
	Revision   int64
}

// TableName implements gorm's tabler.
func (paymentRow) TableName() string { return "payments" }

func rowOfPayment(p payment.State) paymentRow {
	return paymentRow{
		ID: p.ID, CreatorID: p.CreatorID, CheckoutID: p.CheckoutID, Currency: string(p.Amount.Currency), Amount: p.Amount.Minor,
		Status: string(p.Status), Refusal: jsonOf[payment.Refusal]{p.Refusal}, Method: p.Method, Brand: p.Brand, Last4: p.Last4,
		SaveCard: p.SaveCard, CreatedAt: millis(p.CreatedAt), SettledAt: millis(p.SettledAt),
		Refunded: p.Refunded.Minor, Revision: p.Revision,
	}
}

func (r paymentRow) state() payment.State {
	return payment.State{
		ID: r.ID, CreatorID: r.CreatorID, CheckoutID: r.CheckoutID,
		Amount: money.Amount{Minor: r.Amount, Currency: money.Currency(r.Currency)},
		Status: payment.Status(r.Status), Refusal: r.Refusal.V, Method: r.Method, Brand: r.Brand, Last4: r.Last4,
		SaveCard: r.SaveCard, CreatedAt: time.Time(r.CreatedAt), SettledAt: time.Time(r.SettledAt),
		Refunded: money.Amount{Minor: r.Refunded, Currency: money.Currency(r.Currency)}, Revision: r.Revision,
	}
}

type payments struct{ table }

// Add implements ports.Payments.
func (t payments) Add(_ context.Context, p payment.State) error {
	row := rowOfPayment(p)
	return t.put("add payment "+p.ID, &row, "")
}

// Get implements ports.Payments.
func (t payments) Get(_ context.Context, id string) (payment.State, error) {
	row, err := first[paymentRow](t.table, "get payment "+id, "id = ?", id)
	return row.state(), err
}

// Save implements ports.Payments.
func (t payments) Save(_ context.Context, p payment.State) error {
	row := rowOfPayment(p)
	return t.update("save payment "+p.ID, &row, p.ID, p.Revision)
}

// Live implements ports.Payments.
func (t payments) Live(_ context.Context, creatorID string, limit int) ([]payment.State, error) {
	var rows []paymentRow
	err := t.db.Where("creator_id = ? AND settled_at IS NULL", creatorID).Order("id").Limit(limit).Find(&rows).Error
	live := make([]payment.State, len(rows))
	for i, row := range rows {
		live[i] = row.state()
	}
	return live, t.failure("live payments", err)
}

type customerRow struct {
	ID                 string `gorm:"primaryKey"`
	CreatorID          string
	ExternalCustomerID *string
	Email              string
	DisplayName        string
	CreatedAt          millis `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's tabler.
func (customerRow) TableName() string { return "customers" }

func (r customerRow) state() customer.State {
	s := customer.State{ID: r.ID, CreatorID: r.CreatorID, Email: r.Email, DisplayName: r.DisplayName, CreatedAt: time.Time(r.CreatedAt)}
	if r.ExternalCustomerID != nil {
		s.ExternalCustomerID = *r.ExternalCustomerID
	}
	return s
}

type customers struct{ table }

// Ensure implements ports.Customers.
func (t customers) Ensure(_ context.Context, c customer.State) (customer.State, error) {
	row := customerRow{ID: c.ID, CreatorID: c.CreatorID, Email: c.Email, DisplayName: c.DisplayName, CreatedAt: millis(c.CreatedAt)}
	if c.ExternalCustomerID == "" {
		return c, t.insert("add customer "+c.ID, &row)
	}
	row.ExternalCustomerID = &c.ExternalCustomerID
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error != nil || res.RowsAffected == 1 {
		return c, t.failure("add customer "+c.ID, res.Error)
	}
	found, err := first[customerRow](t.table, "find customer", "creator_id = ? AND external_customer_id = ?", c.CreatorID, c.ExternalCustomerID)
	return found.state(), err
}

type sandboxChargeRow struct {
	PaymentID  string `gorm:"primaryKey"`
	CheckoutID string
	CreatorID  string
	Method     string
	Outcome    jsonOf[payment.Outcome]
	OffsetMs   int64
}

// TableName implements gorm's tabler.
func (sandboxChargeRow) TableName() string { return "sandbox_charges" }

func (r sandboxChargeRow) charge() ports.SandboxCharge {
	return ports.SandboxCharge{
		PaymentID: r.PaymentID, CheckoutID: r.CheckoutID, CreatorID: r.CreatorID, Method: r.Method, Outcome: r.Outcome.V,
		ClockOffset: time.Duration(r.OffsetMs) * time.Millisecond,
	}
}

type sandboxCharges struct{ table }

// Get implements ports.SandboxCharges.
func (t sandboxCharges) Get(_ context.Context, paymentID string) (ports.SandboxCharge, error) {
	row, err := first[sandboxChargeRow](t.locking(), "get sandbox charge "+paymentID, "payment_id = ?", paymentID)
	return row.charge(), err
}

// Add implements ports.SandboxCharges.
func (t sandboxCharges) Add(_ context.Context, c ports.SandboxCharge) error {
	row := sandboxChargeRow{
		PaymentID: c.PaymentID, CheckoutID: c.CheckoutID, CreatorID: c.CreatorID, Method: c.Method,
		Outcome: jsonOf[payment.Outcome]{c.Outcome}, OffsetMs: c.ClockOffset.Milliseconds(),
	}
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error == nil && res.RowsAffected == 0 {
		return fmt.Errorf("add sandbox charge %s: %w", c.PaymentID, ports.ErrStale)
	}
	return t.failure("add sandbox charge "+c.PaymentID, res.Error)
}

// SetOutcome implements ports.SandboxCharges.
func (t sandboxCharges) SetOutcome(_ context.Context, paymentID string, o payment.Outcome) error {
	err := t.db.Model(&sandboxChargeRow{}).Where("payment_id = ?", paymentID).Update("outcome", jsonOf[payment.Outcome]{o}).Error
	return t.failure("set sandbox outcome "+paymentID, err)
}

type sandboxRefundRow struct {
	RefundID  string `gorm:"primaryKey"`
	PaymentID string
	Currency  string
	Amount    int64
}

// TableName implements gorm's tabler.
func (sandboxRefundRow) TableName() string { return "sandbox_refunds" }

// AddRefund implements ports.SandboxCharges.
func (t sandboxCharges) AddRefund(_ context.Context, refundID, paymentID string, amount money.Amount) error {
	row := sandboxRefundRow{RefundID: refundID, PaymentID: paymentID, Currency: string(amount.Currency), Amount: amount.Minor}
	return t.failure("add sandbox refund "+refundID, t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error)
}

// Asked implements ports.SandboxCharges.
func (t sandboxCharges) Asked(_ context.Context, checkoutID, method string) (bool, error) {
	var rows []sandboxChargeRow
	err := t.db.Where("checkout_id = ? AND method = ?", checkoutID, method).Find(&rows).Error
	for _, row := range rows {
		if s := row.Outcome.V.Status; s == payment.Canceled || s == payment.RequiresAction {
			return true, nil
		}
	}
	return false, t.failure("sandbox charges of "+checkoutID, err)
}
