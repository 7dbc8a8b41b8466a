// Package cardsetup is a customer's visit to save a card: open until a card is saved or a day has passed. Nothing is
// charged; the card's bank may want the customer to authenticate.
package cardsetup

import (
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/secret"
)

// Lifetime is the time for which a setup can be used.
const Lifetime = 24 * time.Hour

// Status is the state of a setup.
type Status string

// The statuses. An authenticating setup waits for the customer's response to their bank.
const (
	Open           Status = "open"
	Authenticating Status = "authenticating"
	Completed      Status = "completed"
)

// State is a setup's data, as stores and views see it.
type State struct {
	ID         string // seti_…
	CreatorID  string
	CustomerID string
	ReturnURL  string
	Status     Status
	// AttemptID names the check of the latest card at the processor; empty before the first.
	AttemptID string
	// ProcessorID is the processor's own id of that check; empty until it has responded.
	ProcessorID string
	LastError   payment.DeclineReason
	// Mandate is the text the customer agreed to with the latest card, as the page showed it; empty before the first.
	Mandate string
	// PaymentMethodID is the card that was saved; empty until then.
	PaymentMethodID string
	CreatedAt       time.Time
	ExpiresAt       time.Time
	Revision        int64
}

// Setup is the aggregate.
type Setup struct{ s State }

// New opens a setup.
func New(id, creatorID, customerID, returnURL string, now time.Time) *Setup {
	return &Setup{State{
		ID: id, CreatorID: creatorID, CustomerID: customerID, ReturnURL: returnURL, Status: Open, CreatedAt: now,
		ExpiresAt: now.Add(Lifetime), Revision: 1,
	}}
}

// Restore rebuilds a setup from its stored state.
func Restore(s State) *Setup { return &Setup{s} }

// State returns a copy of the data.
func (c *Setup) State() State { return c.s }

// Expired reports whether the setup's time is over before a card was saved.
func (s State) Expired(now time.Time) bool { return s.Status != Completed && !now.Before(s.ExpiresAt) }

// Try begins the check of a card, which the customer gave under a mandate; one that waits for authentication is given
// up. STATE_CONFLICT once a card is saved, SESSION_EXPIRED when the time is over.
func (c *Setup) Try(attemptID, mandate string, now time.Time) error {
	if err := c.usable(now); err != nil {
		return err
	}
	c.s.Status, c.s.AttemptID, c.s.ProcessorID, c.s.LastError = Open, attemptID, "", payment.DeclineReason{}
	c.s.Mandate = mandate
	c.s.Revision++
	return nil
}

func (c *Setup) usable(now time.Time) error {
	switch {
	case c.s.Status == Completed:
		return fault.New(fault.StateConflict, "A card has been saved here already.")
	case c.s.Expired(now):
		return fault.New(fault.SessionExpired, "This page has expired. Ask for a new link.")
	}
	return nil
}

// Settle applies the outcome of a card's check. done is true when it saves the card under paymentMethodID. A check that
// is not the latest, or that was settled before, changes nothing.
func (c *Setup) Settle(attemptID, paymentMethodID string, o payment.Outcome) (done, changed bool) {
	if c.s.Status == Completed || c.s.AttemptID != attemptID {
		return false, false
	}
	switch o.Status {
	case payment.Succeeded, payment.Processing: // nothing is charged, so nothing is left to wait for
		c.s.Status, c.s.PaymentMethodID, done = Completed, paymentMethodID, true
	case payment.RequiresAction:
		c.s.Status = Authenticating
	case payment.Declined, payment.Canceled:
		c.s.Status, c.s.LastError = Open, o.Decline
	case payment.Pending:
		return false, false
	}
	if o.ProcessorID != "" {
		c.s.ProcessorID = o.ProcessorID
	}
	c.s.Revision++
	return done, true
}

// Secrets derives the tokens of setup links from the ids of setups (package secret).
type Secrets struct {
	// Keys are used for nothing else.
	Keys secret.Keys
}

const (
	purposePage   = "card-setup"
	purposeClient = "card-setup-client"
)

// Page returns the secret of the hosted page.
func (s Secrets) Page(setupID string) string { return secret.Derive(s.Keys, purposePage, setupID) }

// OpenPage returns the setup behind a page's secret; ok is false for anything that we did not give out.
func (s Secrets) OpenPage(token string) (setupID string, ok bool) {
	return secret.Verify(s.Keys, purposePage, id.CardSetup, token)
}

// Client returns the secret for a card form in the integrator's own page.
func (s Secrets) Client(setupID string) string {
	return setupID + "_secret_" + secret.Derive(s.Keys, purposeClient, setupID)
}
