package fakes

import (
	"context"
	"sync"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/payment"
	"sundry/ports"
)

// PaymentSubscriber is a module that books what follows from a charge.
type PaymentSubscriber interface {
	OnPaymentCompleted(ctx context.Context, r ports.Repos, e payment.Completed) error
	OnPaymentFailed(ctx context.Context, r ports.Repos, e payment.Failed) error
}

// Charges implements ports.Charges and ports.ChargeRunner over real rows, so that the store's rules hold, with
// outcomes that the test decides.
type Charges struct {
	Store ports.Store
	Clock ports.AccountClock
	IDs   ports.IDs
	// Subscriber learns of each outcome in its transaction.
	Subscriber PaymentSubscriber
	// Cardless refuses every charge because the customer has no card.
	Cardless bool
	// Meanwhile, if set, is called once by the next Start before it writes.
	Meanwhile func()
	// Response is the outcome of charges that Run makes.
	Response payment.Outcome

	mu       sync.Mutex
	refunded []string
}

// Declined returns the outcome of a declined charge.
func Declined(code string) payment.Outcome {
	return payment.Outcome{Status: payment.Declined,
		Decline: payment.DeclineReason{Code: payment.DeclineCode(code), Message: "No."}}
}

// Start implements ports.Charges.
func (c *Charges) Start(ctx context.Context, r ports.Repos, order ports.Charge) (payment.State, error) {
	if c.Cardless {
		return payment.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved payment method.")
	}
	if meanwhile := c.Meanwhile; meanwhile != nil {
		c.Meanwhile = nil
		meanwhile()
	}
	amount, err := order.Sale.Total()
	if err != nil {
		return payment.State{}, err
	}
	at := order.At
	if at.IsZero() {
		if at, err = r.Clock.Now(ctx, order.CreatorID); err != nil {
			return payment.State{}, err
		}
	}
	attempt := payment.NewPending(payment.Intent{
		ID: c.IDs.New(id.Payment), CreatorID: order.CreatorID, Subject: order.Subject, Sale: order.Sale, Amount: amount,
		OffSession: !order.OnSession, Method: order.Method, SaveCard: order.Method != "", Mandate: order.Mandate,
	}, at).State()
	return attempt, r.Payments.Payments.Insert(ctx, attempt)
}

// Begin implements ports.Charges.
func (*Charges) Begin(ctx context.Context, r ports.Repos, i payment.Intent, at time.Time) (payment.State, error) {
	attempt := payment.NewPending(i, at).State()
	return attempt, r.Payments.Payments.Insert(ctx, attempt)
}

// Run implements ports.ChargeRunner.
func (c *Charges) Run(ctx context.Context, attempt payment.State, _ ports.Payer, _ ...ports.Reader) (payment.State,
	error) {
	return c.settle(ctx, attempt.ID, c.Response)
}

// RunUnattended implements ports.ChargeRunner. The test decides the outcome.
func (*Charges) RunUnattended(context.Context, payment.State) error { return nil }

// Cancel implements ports.ChargeRunner.
func (c *Charges) Cancel(ctx context.Context, attempt payment.State, why payment.DeclineReason) (payment.State, error) {
	return c.settle(ctx, attempt.ID, payment.Outcome{Status: payment.Canceled, Decline: why})
}

// Challenge implements ports.ChargeRunner.
func (*Charges) Challenge(_ context.Context, paymentID, _ string) (payment.NextAction, error) {
	return payment.NextAction{RedirectURL: "https://bank.example.com/" + paymentID}, nil
}

// Authenticate implements ports.ChargeRunner.
func (c *Charges) Authenticate(
	ctx context.Context, paymentID string, approve bool, _ string,
) (payment.State, error) {
	if !approve {
		return c.settle(ctx, paymentID, Declined("authentication_failed"))
	}
	return c.settle(ctx, paymentID, payment.Outcome{Status: payment.Succeeded})
}

// Refund implements ports.Charges. It refunds the payment at once.
func (c *Charges) Refund(ctx context.Context, r ports.Repos, paid payment.State, _ string) error {
	p := payment.Restore(paid)
	if err := p.Refund(paid.Amount); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refunded = append(c.refunded, paid.ID)
	return r.Payments.Payments.Update(ctx, p.State())
}

// Refunded returns the payments that Refund was called for, in their order.
func (c *Charges) Refunded() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refunded
}

// Live returns the charges of an account that have no outcome.
func (c *Charges) Live(t testing.TB, creatorID string) []payment.State {
	t.Helper()
	live, err := c.Store.Read(t.Context()).Payments.Payments.ListLive(t.Context(), creatorID, 100)
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// Decide gives the account's only live charge its outcome.
func (c *Charges) Decide(t testing.TB, creatorID string, o payment.Outcome) payment.State {
	t.Helper()
	live := c.Live(t, creatorID)
	if len(live) != 1 {
		t.Fatalf("%d live charges, want one", len(live))
	}
	return c.Finish(t, live[0].ID, o)
}

// Finish gives a charge an outcome.
func (c *Charges) Finish(t testing.TB, paymentID string, o payment.Outcome) payment.State {
	t.Helper()
	settled, err := c.settle(t.Context(), paymentID, o)
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// settle is Settle in a transaction of its own.
func (c *Charges) settle(ctx context.Context, paymentID string, o payment.Outcome) (settled payment.State, err error) {
	err = c.Store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		settled, err = c.Settle(ctx, r, payment.State{ID: paymentID}, o)
		return err
	})
	return settled, err
}

// Settle implements ports.Charges: the subscriber books what follows.
func (c *Charges) Settle(
	ctx context.Context, r ports.Repos, attempt payment.State, o payment.Outcome,
) (payment.State, error) {
	loaded, err := r.Payments.Payments.Get(ctx, attempt.ID)
	if err != nil {
		return payment.State{}, err
	}
	now, err := c.Clock.Now(ctx, loaded.CreatorID)
	if err != nil {
		return payment.State{}, err
	}
	p := payment.Restore(loaded)
	changed, err := p.Apply(o, now)
	settled := p.State()
	if err != nil || !changed {
		return settled, err
	}
	if err := r.Payments.Payments.Update(ctx, settled); err != nil {
		return payment.State{}, err
	}
	switch settled.Status {
	case payment.Succeeded:
		err = c.Subscriber.OnPaymentCompleted(ctx, r, payment.Completed{State: settled})
	case payment.Declined, payment.Canceled:
		err = c.Subscriber.OnPaymentFailed(ctx, r, payment.Failed{State: settled})
	case payment.Pending, payment.RequiresAction, payment.Processing:
	}
	return settled, err
}
