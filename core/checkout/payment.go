package checkout

import (
	"time"

	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
)

// StartPayment makes an attempt the live one, taking what the buyer submitted with it. At most one is live, so two tabs
// cannot both charge.
func (c *Session) StartPayment(paymentID, email string, buyer customer.Details, now time.Time) error {
	if err := c.RequireOpen(now); err != nil {
		return err
	}
	if c.s.LivePaymentID != "" {
		return errPaymentInProgress()
	}
	if want := c.s.Offer.SessionCount; len(c.s.Slots) != want {
		refusal := fault.Newf(fault.SlotCountMismatch, "Choose the times first: expected exactly %d, got %d.", want,
			len(c.s.Slots))
		refusal.Details = []fault.Detail{{Field: "appointmentSlots", Code: fault.DetailTooShort, Message: refusal.Message}}
		return refusal
	}
	c.updateBuyer(email, buyer)
	c.s.LivePaymentID, c.s.LastError = paymentID, payment.DeclineReason{}
	c.s.Revision++
	return nil
}

// Settlement contains the ids, the card and the receipt number that a session gets when it is paid.
type Settlement struct {
	PaymentID  string
	CustomerID string
	// PaymentMethodID is the id that the saved card is to have, and Card what it is; empty when none is saved.
	PaymentMethodID string
	Card            paymentmethod.Card
	// TrialCard recognizes the card that a trial begins with; "" outside live.
	TrialCard string
	// Brand and Last4 name the card that paid; empty when none was needed.
	Brand, Last4   string
	SubscriptionID string // for a recurring offer
	ReceiptNumber  string
}

// Pay makes the session paid. Money that arrives after the session expired or failed is applied too: it was taken.
func (c *Session) Pay(m Settlement, now time.Time) (Paid, error) {
	if c.s.Status == StatusPaid {
		return Paid{}, errPaid()
	}
	c.s.Status, c.s.PaidAt = StatusPaid, now
	c.s.PaymentID, c.s.CustomerID, c.s.SubscriptionID, c.s.ReceiptNumber = m.PaymentID, m.CustomerID, m.SubscriptionID,
		m.ReceiptNumber
	c.s.LivePaymentID, c.s.LastError = "", payment.DeclineReason{}
	c.s.Revision++
	return Paid{
		CheckoutID: c.s.ID, PaymentID: m.PaymentID, CreatorID: c.s.CreatorID, CustomerID: m.CustomerID,
		ExternalCustomerID: c.s.ExternalCustomerID, Email: c.s.Email, BuyerName: c.s.Buyer.Name, Buyer: c.s.Buyer,
		SubscriptionID: m.SubscriptionID, PaymentMethodID: m.PaymentMethodID, Card: m.Card, TrialCard: m.TrialCard,
		Offer: c.s.Offer.Sold(), ReceiptNumber: m.ReceiptNumber, Subtotal: c.s.Subtotal, Discount: c.s.Discount,
		DiscountTerms: c.s.DiscountTerms, Tax: c.s.Tax, Consent: c.s.Consent,
		TaxAdded: c.s.TaxAdded(), TaxDetails: c.s.TaxDetails, Brand: m.Brand, Last4: m.Last4,
		Total: c.s.Total, ReferenceID: c.s.ReferenceID, UTM: c.s.UTM, Metadata: c.s.Metadata, At: now,
	}, nil
}

// Decline ends the live attempt with a refusal. The buyer may try another card until the attempts are used up.
// changed is false for an attempt that is not the live one.
func (c *Session) Decline(paymentID string, why payment.DeclineReason) (changed bool) {
	if !c.ClearPayment(paymentID, why) {
		return false
	}
	c.s.Attempts++
	if c.s.Attempts >= MaxAttempts {
		c.s.Status = StatusFailed
	}
	return true
}

// ClearPayment ends the live attempt when it was canceled: nothing was charged and nothing is counted. changed is false
// for an attempt that is not the live one.
func (c *Session) ClearPayment(paymentID string, why payment.DeclineReason) (changed bool) {
	if c.s.LivePaymentID != paymentID {
		return false
	}
	c.s.LivePaymentID, c.s.LastError = "", why
	c.s.Revision++
	return true
}

// CloseRefunded ends the session whose money has arrived when what it was for is gone: the money goes back.
func (c *Session) CloseRefunded() {
	c.s.LivePaymentID = ""
	if c.s.Status == StatusProcessing {
		c.s.Status = StatusExpired
	}
	c.s.Revision++
}
