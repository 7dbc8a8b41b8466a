package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/ports"
)

// Open opens bank transfers as a payment provider. It implements ports.OpenProvider.
func Open(h ports.ProviderHost) (ports.Provider, error) {
	p := provider{Transfers{filepath.Join(h.DataDir, folder)}}
	return ports.Provider{
		Name: "bank_transfer", Label: "Bank transfer", Processor: p, Cards: p, PayoutRail: rail(p),
		Form: ports.PaymentForm{Text: "You transfer the money to our account. Your order is ready once it has arrived."},
	}, nil
}

// provider implements ports.Processor and ports.CardForm. Sundry asks again by itself until a transfer is decided.
type provider struct{ transfers Transfers }

// method is the payment method of everybody.
const method = "transfer"

// Method implements ports.CardForm. The buyer enters nothing.
func (provider) Method(in ports.CardInput, f *fault.Violations) string {
	f.Check(in == ports.CardInput{}, "cardNumber", fault.DetailNotAllowed, "Cards are not taken here.")
	return method
}

// Charge implements ports.Processor.
func (p provider) Charge(_ context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	if r.Amount.Minor == 0 { // there is no card to check
		return payment.Outcome{Status: payment.Succeeded, Method: method, Brand: method}, nil
	}
	return outcome(p.transfers.Order(r.PaymentID, r.Amount))
}

// Find implements ports.Processor.
func (p provider) Find(_ context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	return outcome(p.transfers.State(r.PaymentID))
}

// Authenticate implements ports.Processor. No bank asks anything, so nothing changes.
func (p provider) Authenticate(ctx context.Context, r ports.ChargeRequest, _ bool) (payment.Outcome, error) {
	return p.Find(ctx, r)
}

// Cancel implements ports.Processor. Money may be on its way once a transfer was ordered, so only its arrival or a
// rejection by hand ends that.
func (p provider) Cancel(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	found, err := p.Find(ctx, r)
	if err == nil {
		return found, nil
	}
	if err := p.transfers.Reject(r.PaymentID); err != nil {
		return payment.Outcome{}, err
	}
	return p.Find(ctx, r)
}

// outcome is a transfer's state in the words of payments.
func outcome(state State, err error) (payment.Outcome, error) {
	status := map[State]payment.Status{
		Awaited: payment.Processing, Arrived: payment.Succeeded, Rejected: payment.Canceled,
	}[state]
	return payment.Outcome{Status: status, Method: method, Brand: method}, err
}

// Refund implements ports.Processor. Somebody transfers the money back and confirms that.
func (p provider) Refund(_ context.Context, r ports.RefundRequest) (refund.Outcome, error) {
	charged, err := p.transfers.State(r.PaymentID)
	if err != nil {
		return refund.Outcome{}, err
	}
	if charged != Arrived {
		return refund.Outcome{}, fmt.Errorf("payment %s is %s: nothing can go back", r.PaymentID, charged)
	}
	state, err := p.transfers.Order(r.RefundID, r.Amount)
	status := map[State]refund.Status{Awaited: refund.Pending, Arrived: refund.Succeeded, Rejected: refund.Failed}[state]
	return refund.Outcome{Status: status}, err
}

// rail implements ports.PayoutRail: somebody transfers what creators have earned, and confirms that.
type rail struct{ transfers Transfers }

// accountPrefix begins the ids of creators' accounts.
const accountPrefix = "bank_"

// Send implements ports.PayoutRail.
func (r rail) Send(_ context.Context, p payout.State) (ports.PayoutOutcome, error) {
	return payoutOutcome(r.transfers.Order(p.ID, p.Amount))
}

// Find implements ports.PayoutRail.
func (r rail) Find(_ context.Context, p payout.State) (ports.PayoutOutcome, error) {
	return payoutOutcome(r.transfers.State(p.ID))
}

func payoutOutcome(state State, err error) (ports.PayoutOutcome, error) {
	status := map[State]payout.Status{Awaited: payout.Pending, Arrived: payout.Paid, Rejected: payout.Failed}[state]
	return ports.PayoutOutcome{Status: status}, err
}

// OpenAccount implements ports.PayoutRail. Creators tell us their bank account by mail.
func (rail) OpenAccount(_ context.Context, r ports.PayoutAccountRequest) (payout.AccountReport, error) {
	return payout.AccountReport{
		ID: accountPrefix + id.Body(r.CreatorID), Country: r.Country, Status: payout.AccountReady,
	}, nil
}

// FindAccount implements ports.PayoutRail.
func (rail) FindAccount(_ context.Context, railID string) (payout.AccountReport, error) {
	if !strings.HasPrefix(railID, accountPrefix) {
		return payout.AccountReport{}, fmt.Errorf("bank account %s: %w", railID, ports.ErrNotFound)
	}
	return payout.AccountReport{ID: railID, Status: payout.AccountReady}, nil
}

// LinkAccount implements ports.PayoutRail. There is nothing to fill in, so the link leads back at once.
func (rail) LinkAccount(_ context.Context, v ports.PayoutAccountVisit) (ports.PayoutAccountLink, error) {
	return ports.PayoutAccountLink{URL: v.ReturnURL}, nil
}
