package usage

import (
	"fmt"
	"time"

	"sundry/core/money"
	"sundry/core/plan"
)

// CreditEnd names why nothing is left of a usage credit.
type CreditEnd string

// The ends. A credit whose end is empty can be used.
const (
	CreditUsedUp   CreditEnd = "used_up"
	CreditExpired  CreditEnd = "expired"
	CreditReturned CreditEnd = "returned" // the money that bought it went back
)

// CreditState is a usage credit's data: an amount that a customer has prepaid for metered use, or paid too much for it.
// The parts of Granted are what invoices have used, what went back with the purchase, what expired, and the rest. All
// are minor units.
type CreditState struct {
	ID                 string // ucr_…
	CreatorID          string
	CustomerID         string
	ExternalCustomerID string
	// CheckoutID and PaymentID name its purchase, and Paid is the price of that; PaymentID is empty where Paid is 0.
	// A credit that late use has left was not bought, and has none of them.
	CheckoutID, PaymentID string
	Paid                  int64
	Currency              money.Currency
	// Meter is the event name of the only meter whose use it pays for; "" = of all.
	Meter                            string
	Granted, Used, Returned, Expired int64
	// Disputed means that the purchase is in dispute: it is not used meanwhile.
	Disputed  bool
	ExpiresAt time.Time // zero = never
	CreatedAt time.Time
	End       CreditEnd
	EndedAt   time.Time // zero while something is left
	Revision  int64
}

// Rest returns what can still be used.
func (s CreditState) Rest() int64 { return s.Granted - s.Used - s.Returned - s.Expired }

// Pays reports whether the credit pays for use of a meter at a time.
func (s CreditState) Pays(c money.Currency, meter string, at time.Time) bool {
	return s.End == "" && !s.Disputed && s.Currency == c && (s.Meter == "" || s.Meter == meter) &&
		(s.ExpiresAt.IsZero() || at.Before(s.ExpiresAt))
}

// Credit is the aggregate.
type Credit struct{ s CreditState }

// NewCredit makes a credit of what a plan sells, or of what late use has left. s brings whose it is, and its purchase.
func NewCredit(s CreditState, sold plan.UsageCredit, now time.Time) (*Credit, CreditGranted) {
	s.Granted, s.Currency, s.Meter = sold.AmountInCents, money.Currency(sold.Currency), sold.Meter
	if sold.ExpiresInDays > 0 {
		s.ExpiresAt = now.AddDate(0, 0, sold.ExpiresInDays)
	}
	s.CreatedAt, s.Revision = now, 1
	return &Credit{s}, CreditGranted{s}
}

// RestoreCredit rebuilds a credit from its stored state.
func RestoreCredit(s CreditState) *Credit { return &Credit{s} }

// State returns a copy of the data.
func (c *Credit) State() CreditState { return c.s }

// lowShare is the part of a credit at which CreditLow is emitted: a fifth.
const lowShare = 5

// Use takes up to an amount of the credit for an invoice. low is nil unless the rest falls to a fifth by it, and ended
// unless nothing is left.
func (c *Credit) Use(upTo int64, now time.Time) (used int64, low *CreditLow, ended *CreditEnded) {
	before := c.s.Rest()
	used = min(max(upTo, 0), before)
	if used == 0 {
		return 0, nil, nil
	}
	c.s.Used += used
	c.s.Revision++
	if rest := c.s.Rest(); rest > 0 && before > c.s.Granted/lowShare && rest <= c.s.Granted/lowShare {
		low = &CreditLow{c.s}
	}
	return used, low, c.end(CreditUsedUp, now)
}

// end ends a credit of which nothing is left.
func (c *Credit) end(why CreditEnd, now time.Time) *CreditEnded {
	if c.s.Rest() > 0 || c.s.End != "" {
		return nil
	}
	c.s.End, c.s.EndedAt = why, now
	return &CreditEnded{c.s}
}

// Return takes the share of the credit back that went back of its purchase, as far as it is left; all of it for the
// last share. changed is false when nothing was left.
func (c *Credit) Return(minor int64, last bool, now time.Time) (ended *CreditEnded, changed bool, err error) {
	share := money.Amount{Minor: c.s.Granted, Currency: c.s.Currency}
	if !last && c.s.Paid > 0 {
		if share, err = share.RatioPayable(minor, c.s.Paid); err != nil {
			return nil, false, fmt.Errorf("return %s: %w", c.s.ID, err)
		}
	}
	back := min(share.Minor, c.s.Rest())
	if back <= 0 {
		return nil, false, nil
	}
	c.s.Returned += back
	c.s.Revision++
	return c.end(CreditReturned, now), true, nil
}

// RefundFailed restores what refunds have taken of the credit, because the money of one of them came back. It leaves
// the share of the amount of the purchase that is still refunded. changed is false when a dispute of the purchase is
// lost, or the credit's time is over.
func (c *Credit) RefundFailed(refunded int64, disputed bool, now time.Time) (changed bool, err error) {
	lost := disputed && !c.s.Disputed
	over := !c.s.ExpiresAt.IsZero() && !now.Before(c.s.ExpiresAt)
	if lost || over || c.s.Paid == 0 {
		return false, nil
	}
	share, err := money.Amount{Minor: c.s.Granted, Currency: c.s.Currency}.RatioPayable(refunded, c.s.Paid)
	if err != nil {
		return false, fmt.Errorf("restore %s: %w", c.s.ID, err)
	}
	if share.Minor >= c.s.Returned {
		return false, nil
	}
	c.s.Returned, c.s.End, c.s.EndedAt = share.Minor, "", time.Time{}
	c.s.Revision++
	return true, nil
}

// Dispute keeps the credit from being used while its purchase is in dispute. changed is false when it was so before.
func (c *Credit) Dispute(open bool) (changed bool) {
	if c.s.Disputed == open {
		return false
	}
	c.s.Disputed = open
	c.s.Revision++
	return true
}

// Expire ends a credit whose time is over. It returns nil when it ended before, or is not over yet.
func (c *Credit) Expire(now time.Time) *CreditEnded {
	if c.s.End != "" || c.s.ExpiresAt.IsZero() || now.Before(c.s.ExpiresAt) {
		return nil
	}
	c.s.Expired = c.s.Rest()
	c.s.Revision++
	return c.end(CreditExpired, now)
}

// CreditUse is the part of a credit that an invoice has used.
type CreditUse struct {
	CreditID string
	Minor    int64
}

// The events of a usage credit.
type (
	// CreditGranted is emitted when it was bought, or left by late use, and again when it had ended and a refund of its
	// purchase fails.
	CreditGranted struct{ CreditState }
	// CreditLow is emitted once, when the rest falls to a fifth or less by an invoice.
	CreditLow struct{ CreditState }
	// CreditEnded is emitted when nothing is left.
	CreditEnded struct{ CreditState }
)

// EventName implements event.Event.
func (CreditGranted) EventName() string { return "usage_credit.granted" }

// EventName implements event.Event.
func (CreditLow) EventName() string { return "usage_credit.low" }

// EventName implements event.Event.
func (CreditEnded) EventName() string { return "usage_credit.ended" }
