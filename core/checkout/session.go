// Package checkout is the buyer's visit: a session that is open until it is paid, fails or expires, and the rules of
// the addresses that lead into and out of it.
package checkout

import (
	"time"

	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/fault"
	"sundry/core/intake"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/tax"
)

// Status is the session's status as the receipt and the API show it.
type Status string

// The four statuses. Processing covers everything that is not decided.
const (
	StatusProcessing Status = "processing"
	StatusPaid       Status = "paid"
	StatusFailed     Status = "failed"
	StatusExpired    Status = "expired"
)

// UIMode selects where the buyer sees the page.
type UIMode string

// The two ways to show the checkout page.
const (
	Hosted   UIMode = "hosted"
	Embedded UIMode = "embedded"
)

// How long an unpaid session can be paid: one for appointments holds somebody's time.
const (
	Lifetime            = 24 * time.Hour
	AppointmentLifetime = 30 * time.Minute
)

// MaxAttempts is the number of declined cards that ends a session.
const MaxAttempts = 10

// CatalogReference contains the keys by which the integrator named the offer, kept to be shown again.
type CatalogReference struct {
	Listing string `json:"listing"`
	Plan    string `json:"plan"`
	// Interval is a period.Cadence.
	Interval string `json:"interval,omitempty"`
	// Variant is the key of a variant; empty = the default one.
	Variant string `json:"variant,omitempty"`
	// Currency selects the price; empty = the currency of the buyer's country, or else the listing's.
	Currency string `json:"currency,omitempty"`
}

// AppointmentSlot is a time that the buyer chose, and when it ends.
type AppointmentSlot struct {
	StartsAt     time.Time `json:"startsAt"`
	EndsAt       time.Time `json:"endsAt"`
	Timezone     string    `json:"timezone"` // of the buyer's view, IANA
	DeliveryMode string    `json:"deliveryMode"`
}

// State is a session's data, as stores and views see it.
type State struct {
	ID        string
	CreatorID string
	Offer     plan.Offer
	// Catalog is nil for a session opened by listing id or payment link.
	Catalog *CatalogReference
	// TrialDropped means that the buyer has had the trial that the offer was opened with.
	TrialDropped bool
	// OpenedBy identifies the networks that visitors opened sessions from; "" for one made with a key.
	OpenedBy           string
	PaymentLinkID      string
	ExternalCustomerID string
	Email              string
	Buyer              customer.Details
	UIMode             UIMode
	SuccessURL         string
	CancelURL          string
	ReferenceID        string
	Metadata           map[string]string
	UTM                map[string]string
	// Slots are the times chosen, in the buyer's order; empty until then, and for what is not booked.
	Slots []AppointmentSlot
	// Intake holds the answers, notes and guests of a buyer of appointments.
	Intake   intake.Response
	Status   Status
	Subtotal money.Amount
	Discount money.Amount
	Tax      money.Amount
	Total    money.Amount
	// DiscountTerms are the terms of the buyer's discount code; nil without one.
	DiscountTerms *discount.Terms
	// TaxDetails explain why the tax is what it is.
	TaxDetails tax.Details
	// Attempts counts declined cards.
	Attempts int
	// LivePaymentID is the attempt that is not settled; empty when there is none.
	LivePaymentID string
	LastError     payment.DeclineReason
	// Consent records the terms that the buyer accepted when they paid on a page; nil for any other payment.
	Consent *Consent
	// What payment brought; empty until paid.
	PaymentID      string
	CustomerID     string
	SubscriptionID string
	ReceiptNumber  string
	PaidAt         time.Time
	ExpiresAt      time.Time
	CreatedAt      time.Time
	Revision       int64
}

// Session is the aggregate.
type Session struct{ s State }

// New starts a session from a validated request. Totals come from the offer, frozen from now on.
func New(s State, now time.Time) *Session {
	s.Status = StatusProcessing
	s.Subtotal = s.Offer.DueNow()
	zero := money.Amount{Currency: s.Subtotal.Currency}
	s.Discount, s.Tax, s.Total = zero, zero, s.Subtotal
	s.CreatedAt, s.ExpiresAt = now, now.Add(Lifetime)
	if s.Offer.ForAppointments() {
		s.ExpiresAt = now.Add(AppointmentLifetime)
	}
	s.Revision = 1
	return &Session{s}
}

// Restore rebuilds a session from its stored state.
func Restore(s State) *Session { return &Session{s} }

// State returns a copy of the data.
func (c *Session) State() State { return c.s }

// NeedsCard reports whether the buyer must give one: to be charged now or, for a subscription, later.
func (s State) NeedsCard() bool {
	return s.Total.Minor > 0 || s.SavesCard()
}

// LimitsSubscription reports whether the listing gives the buyer, whom the integrator has named, one subscription.
func (s State) LimitsSubscription() bool {
	return s.Offer.OneSubscription && s.ExternalCustomerID != ""
}

// SavesCard reports whether the card is kept for renewals.
func (s State) SavesCard() bool { return s.Offer.Recurring() && s.Offer.Price.Minor > 0 }

// RequireOpen refuses with the reason why a session takes no more payment: SESSION_ALREADY_PAID, SESSION_EXPIRED, or
// STATE_CONFLICT once it has failed.
func (c *Session) RequireOpen(now time.Time) error {
	switch c.s.Status {
	case StatusPaid:
		return errPaid()
	case StatusExpired:
		return errExpired()
	case StatusFailed:
		return fault.New(fault.StateConflict, "This checkout session has failed: too many cards were declined. Create a "+
			"new one.")
	case StatusProcessing:
	}
	if !now.Before(c.s.ExpiresAt) {
		return errExpired()
	}
	return nil
}

func errPaid() error {
	return fault.New(fault.SessionAlreadyPaid, "This checkout session is already paid.")
}

func errExpired() error {
	return fault.New(fault.SessionExpired, "This checkout session has expired. Create a new one.")
}

// UpdateBuyer takes what the buyer enters about themselves. What they leave out stays as it was.
// It is refused while a payment is under way, whose tax is that of the buyer so far.
func (c *Session) UpdateBuyer(email string, buyer customer.Details, now time.Time) error {
	if err := c.RequireOpen(now); err != nil {
		return err
	}
	if c.s.LivePaymentID != "" {
		return errPaymentInProgress()
	}
	c.updateBuyer(email, buyer)
	c.s.Revision++
	return nil
}

func (c *Session) updateBuyer(email string, buyer customer.Details) {
	if email != "" {
		c.s.Email = email
	}
	c.s.Buyer = buyer.Over(c.s.Buyer)
}

// TakeIntake lays what is given over what the buyer has answered before. With final it also refuses, with
// VALIDATION_FAILED and every fault, when an answer is missing. The caller changes the session otherwise, too.
func (c *Session) TakeIntake(g intake.Given, final bool) error {
	var f fault.Violations
	after := c.s.CheckIntake(&f, g, final)
	if err := f.Err(); err != nil {
		return err
	}
	c.s.Intake = after
	return nil
}

// CheckIntake adds to f what is wrong with what is given, and with final what is missing. It returns what the buyer has
// answered then.
func (s State) CheckIntake(f *fault.Violations, g intake.Given, final bool) intake.Response {
	if s.Offer.ForAppointments() {
		return s.Offer.Intake.Apply(f, s.Intake, g, final)
	}
	for member, given := range map[string]bool{
		"answers": g.Answers != nil, "notes": g.Notes != nil, "guests": g.Guests != nil,
	} {
		f.Check(!given, member, fault.DetailNotAllowed, "Only appointment listings take it.")
	}
	return s.Intake
}

// SelectSlots takes the times that the buyer chose, in the place of those chosen before. The caller holds their
// reservations.
func (c *Session) SelectSlots(slots []AppointmentSlot, now time.Time) error {
	if err := c.CanSelectSlots(now); err != nil {
		return err
	}
	c.s.Slots = slots
	c.s.Revision++
	return nil
}

// CanSelectSlots refuses with the reason why times cannot be chosen now.
func (c *Session) CanSelectSlots(now time.Time) error {
	switch err := c.RequireOpen(now); {
	case err != nil:
		return err
	case !c.s.Offer.ForAppointments():
		return fault.Invalid(fault.Detail{Field: "appointmentSlots", Code: fault.DetailNotAllowed,
			Message: "Only appointment listings take times."})
	case c.s.LivePaymentID != "":
		return errPaymentInProgress()
	}
	return nil
}

// errPaymentInProgress reports that another attempt is not settled yet.
func errPaymentInProgress() error {
	return fault.New(fault.StateConflict, "A payment of this checkout session is under way. Poll its receipt.")
}

// Expire ends an unpaid session. It is refused while an attempt is live: cancel that first, its money may be on its
// way. changed is false for a session that has ended without payment already.
func (c *Session) Expire() (changed bool, err error) {
	switch {
	case c.s.Status == StatusPaid:
		return false, errPaid()
	case c.s.LivePaymentID != "":
		return false, errPaymentInProgress()
	case c.s.Status != StatusProcessing:
		return false, nil
	}
	c.s.Status = StatusExpired
	c.s.Revision++
	return true, nil
}
