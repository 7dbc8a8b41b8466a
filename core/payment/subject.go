package payment

import (
	"fmt"
	"time"

	"sundry/core/locale"
	"sundry/core/money"
	"sundry/core/tax"
)

// Purpose is the kind of thing that a payment is for.
type Purpose string

// The purposes. Each subject has at most one attempt that is not settled.
const (
	ForCheckout     Purpose = "checkout"
	ForSubscription Purpose = "subscription"
	ForInvoice      Purpose = "invoice"
)

// Subject names what a payment is for.
type Subject struct {
	Purpose Purpose
	// SubjectID is the checkout session (cs_…), subscription (sub_…) or invoice (inv_…).
	SubjectID string
	// CustomerID names the payer; empty until a checkout is paid.
	CustomerID string
	// PaymentMethodID is the saved card (pm_…) that is charged; empty when the buyer gives one at checkout.
	PaymentMethodID string
}

// CheckoutID returns the session that the payment is for; empty for any other purpose.
func (s Subject) CheckoutID() string {
	if s.Purpose == ForCheckout {
		return s.SubjectID
	}
	return ""
}

// Sale breaks down the amount of a payment. All amounts are in one currency and none is negative.
type Sale struct {
	Subtotal money.Amount `json:"subtotal"`
	Discount money.Amount `json:"discount"`
	// Tax is the amount that goes to the state. TaxAdded equals it where prices exclude tax, and is zero where they
	// contain it.
	Tax      money.Amount `json:"tax"`
	TaxAdded money.Amount `json:"taxAdded"`
	// TaxDetails explain why the tax is what it is.
	TaxDetails tax.Details `json:"taxDetails,omitzero"`
	// Credit is the customer's credit from an earlier change of plan that was used up here.
	Credit money.Amount `json:"credit"`
	Lines  []Line       `json:"lines,omitempty"`
	// ListingID names the listing that was sold; empty for an invoice.
	ListingID string `json:"listingId,omitempty"`
	// PeriodStart and PeriodEnd bound the time that is paid for; zero for what is sold once.
	PeriodStart time.Time `json:"periodStart,omitzero"`
	PeriodEnd   time.Time `json:"periodEnd,omitzero"`
	// ReceiptNumber is given when the money has arrived; empty until then, and for invoices, which have their own.
	ReceiptNumber string `json:"receiptNumber,omitempty"`
}

// Total returns the amount to charge: Subtotal − Discount + TaxAdded − Credit, never negative.
func (s Sale) Total() (money.Amount, error) {
	total := s.Subtotal
	for _, off := range []money.Amount{s.Discount, s.Credit} {
		var err error
		if total, err = total.Sub(off); err != nil {
			return money.Amount{}, err
		}
	}
	return total.Add(s.TaxAdded)
}

// Item names what was sold: the first line that costs something; an empty line for a sale without lines.
func (s Sale) Item() Line {
	for _, line := range s.Lines {
		if line.Amount.Minor > 0 {
			return line
		}
	}
	return Line{}
}

// Check refuses a breakdown that does not add up to the amount, or whose tax is neither contained in it nor all added.
func (s Sale) Check(amount money.Amount) error {
	total, err := s.Total()
	added := money.Amount{Currency: amount.Currency}
	if s.TaxDetails.Behavior == tax.Exclusive {
		added.Minor = s.Tax.Minor
	}
	lines := money.Amount{Currency: amount.Currency}
	for _, line := range s.Lines {
		lines.Minor += line.Amount.Minor
	}
	switch {
	case err != nil:
		return err
	case total != amount:
		return fmt.Errorf("payment: the sale sums to %d, not %d", total.Minor, amount.Minor)
	case s.TaxAdded.Minor != added.Minor || s.Tax.Minor < 0 || s.Tax.Minor > amount.Minor:
		return fmt.Errorf("payment: %d of %d tax is added to %d", s.TaxAdded.Minor, s.Tax.Minor, amount.Minor)
	case len(s.Lines) > 0 && lines.Minor != s.Subtotal.Minor:
		return fmt.Errorf("payment: the lines of the sale sum to %d, not %d", lines.Minor, s.Subtotal.Minor)
	}
	return nil
}

// Line is one thing on the receipt. Amount is negative for what is taken off.
type Line struct {
	Description string       `json:"description"`
	Amount      money.Amount `json:"amount"`
	// Share is set for a line of a change of plan, whose Description is English.
	Share PlanShare `json:"share,omitzero"`
}

// PlanShare is the part of a period of a plan that a change of plan charges, or credits as unused time.
type PlanShare struct {
	Plan   string `json:"plan"`
	Unused bool   `json:"unused,omitempty"`
	// Left of Days days; both are zero for a whole period.
	Left int64 `json:"left,omitempty"`
	Days int64 `json:"days,omitempty"`
}

// Text describes a share to a reader.
func (s PlanShare) Text(reader locale.Locale) string {
	text := s.Plan
	if s.Unused {
		text = reader.Text("share.unused", text)
	}
	if s.Days > 0 {
		text = reader.Text("share.days", text, s.Left, s.Days)
	}
	return text
}

// Text describes a line to a reader: a change of plan in their language, anything else as the seller named it.
func (l Line) Text(reader locale.Locale) string {
	if l.Share == (PlanShare{}) {
		return l.Description
	}
	return l.Share.Text(reader)
}
