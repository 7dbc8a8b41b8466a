package checkout

import (
	"time"

	"sundry/core/discount"
	"sundry/core/money"
	"sundry/core/period"
)

// ApplyDiscount takes a discount off the subtotal, in the place of one applied before; nil takes none off. It is
// refused while a payment is under way.
func (c *Session) ApplyDiscount(terms *discount.Terms, now time.Time) error {
	if err := c.CanApplyDiscount(now); err != nil {
		return err
	}
	off := money.Amount{Currency: c.s.Subtotal.Currency}
	if terms != nil {
		var err error
		if off, err = terms.Off(c.s.Subtotal); err != nil {
			return err
		}
	}
	c.s.DiscountTerms, c.s.Discount = terms, off
	c.s.Total.Minor = c.s.Subtotal.Minor - off.Minor // a discount is between zero and the subtotal
	c.s.Revision++
	return nil
}

// Change takes the interval and the quantity that the buyer chose, where they may; "" and nil leave them as they are.
// It is refused while a payment is under way.
func (c *Session) Change(every period.Cadence, quantity *int, now time.Time) error {
	if err := c.CanApplyDiscount(now); err != nil {
		return err
	}
	offer, err := c.s.Offer.Change(every, quantity)
	if err != nil {
		return err
	}
	before := *c
	c.s.Offer = offer
	if err := c.reprice(); err != nil {
		*c = before
		return err
	}
	c.s.Revision++
	return nil
}

// DropTrial makes the first period due now, less the discount. The caller changes the session otherwise, too.
func (c *Session) DropTrial() error {
	c.s.Offer.TrialDays, c.s.TrialDropped = 0, true
	return c.reprice()
}

// reprice makes what the offer costs now due, less the discount. The tax is the caller's to apply.
func (c *Session) reprice() error {
	c.s.Subtotal = c.s.Offer.DueNow()
	c.s.Discount, c.s.Total = money.Amount{Currency: c.s.Subtotal.Currency}, c.s.Subtotal
	if c.s.DiscountTerms == nil {
		return nil
	}
	off, err := c.s.DiscountTerms.Off(c.s.Subtotal)
	if err != nil {
		return err
	}
	c.s.Discount, c.s.Total.Minor = off, c.s.Subtotal.Minor-off.Minor
	return nil
}

// CanApplyDiscount refuses with the reason why the price cannot change now.
func (c *Session) CanApplyDiscount(now time.Time) error {
	if err := c.RequireOpen(now); err != nil {
		return err
	}
	if c.s.LivePaymentID != "" {
		return errPaymentInProgress()
	}
	return nil
}
