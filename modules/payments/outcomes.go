package payments

import (
	"context"
	"fmt"
	"time"

	"sundry/core/customer"
	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/ports"
)

// SavedCardDeps holds the dependencies of the outcomes of saved-card charges.
type SavedCardDeps struct {
	IDs       ports.IDs
	Accounts  ports.AccountReader
	Customers ports.CustomerReader
	Access    ports.AccessVersions
	// Merchant is the seller of record, who charges the cards.
	Merchant string
}

// SavedCardOutcomes follows charges for subscriptions and invoices: it numbers the receipt of a subscription's
// payment and saves a card that was given with one. The areas themselves subscribe to the events.
type SavedCardOutcomes struct{ deps SavedCardDeps }

var _ ports.ChargeOutcomes = (*SavedCardOutcomes)(nil)

// NewSavedCardOutcomes returns the outcomes.
func NewSavedCardOutcomes(d SavedCardDeps) *SavedCardOutcomes { return &SavedCardOutcomes{d} }

// Paid implements ports.ChargeOutcomes.
func (s *SavedCardOutcomes) Paid(
	ctx context.Context, r ports.Repos, attempt *payment.Payment, o payment.Outcome, now time.Time,
) (f ports.Followed, err error) {
	paid := attempt.State()
	if paid.SaveCard {
		if f.Events, err = s.saveChargedCard(ctx, r, paid, o, now); err != nil {
			return ports.Followed{}, err
		}
	}
	if paid.Purpose == payment.ForSubscription {
		err = s.assignReceiptNumber(ctx, r, attempt)
	}
	return f, err
}

// Unpaid implements ports.ChargeOutcomes.
func (s *SavedCardOutcomes) Unpaid(context.Context, ports.Repos, payment.State) error { return nil }

// saveChargedCard stores the card of a payment that has just succeeded, unless its customer was erased.
func (s *SavedCardOutcomes) saveChargedCard(
	ctx context.Context, r ports.Repos, paid payment.State, o payment.Outcome, now time.Time,
) ([]event.Event, error) {
	owner, err := s.deps.Customers.Customer(ctx, r, paid.CustomerID)
	if err != nil || !owner.ErasedAt.IsZero() {
		return nil, err
	}
	text, err := mandate(ctx, r, s.deps.Accounts, s.deps.Merchant, paid.CreatorID, paid.Mandate)
	if err != nil {
		return nil, fmt.Errorf("save card: %w", err)
	}
	card := paymentmethod.New(s.deps.IDs.New(id.PaymentMethod), paid.CreatorID, paid.CustomerID,
		paymentmethod.Card{
			Provider: paid.Provider, Token: paid.Method, Brand: paid.Brand, Last4: paid.Last4,
			ExpMonth: o.ExpMonth, ExpYear: o.ExpYear, Country: o.CardCountry,
		},
		paymentmethod.Mandate{Text: text, AcceptedAt: now, Source: paid.SubjectID}, now).State()
	return []event.Event{paymentmethod.Saved{State: card}}, r.Payments.PaymentMethods.Insert(ctx, card)
}

// assignReceiptNumber numbers the receipt of a subscription payment; invoices carry their own number. All customers
// of the account wait for the number's row, so it comes after the lock of the customer's own access.
func (s *SavedCardOutcomes) assignReceiptNumber(ctx context.Context, r ports.Repos, attempt *payment.Payment) error {
	paid := attempt.State()
	buyer, err := s.deps.Customers.Customer(ctx, r, paid.CustomerID)
	if err != nil {
		return err
	}
	if err := s.deps.Access.LockAccess(
		ctx, r, paid.CreatorID, customer.AccessKey(buyer.ExternalCustomerID, buyer.ID),
	); err != nil {
		return err
	}
	number, err := ports.NextNumber(ctx, r.Invoicing.DocumentNumbers, paid.CreatorID, document.Receipts)
	if err != nil {
		return err
	}
	return attempt.Document(paid.CustomerID, number)
}
