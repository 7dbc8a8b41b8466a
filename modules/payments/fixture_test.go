package payments_test

import (
	"context"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/memratelimit"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/core/cardsetup"
	"sundry/core/dispute"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creatorID  = "crt_01h00000000000000000000000"
	customerID = "cus_01h00000000000000000000000"
	merchant   = "Sundry Ltd" // the seller of record
	home       = "192.0.2.1/32"
	office     = "198.51.100.0/32"

	cardSucceeds   = "4242424242424242"
	cardDeclined   = "4000000000000002"
	cardAsksAlways = "4000002760003184"
	cardFailsLater = "4000000000000341"
	cardLost       = "4000000000009003"
	cardStaysOpen  = "4000000000009102"
)

// fixture is the module over a real store and the real sandbox processor, with a clock of its own.
type fixture struct {
	t         *testing.T
	store     *testdb.ClockedStore
	clock     *testdb.Clock
	bus       fakes.CountingBus
	processor *fakes.Processor
	*payments.Service
	*payments.Attempts
	saving payments.SavedCardDeps
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, clock: testdb.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
		w.store = testdb.WithClock(store, w.clock)
		cards := sandboxpay.New(w.store)
		w.bus.Subject = subjectOf
		w.processor = &fakes.Processor{Processor: cards}
		buyer := fakes.Customer{ID: customerID, CreatorID: creatorID}
		w.Service = payments.New(
			payments.Config{
				BaseURL: "https://pay.example.com", Merchant: merchant,
				Secrets: cardsetup.Secrets{Keys: secret.Fixed(make([]byte, 32))},
			},
			payments.Deps{
				Store: w.store, IDs: system.NewIDs(), Bus: &w.bus, Accounts: fakes.Ada, Customers: buyer,
				Limiter:  memratelimit.New(w.clock.Real),
				Provider: ports.Provider{Name: fakes.ProviderName, Processor: w.processor, Cards: cards},
			})
		w.saving = payments.SavedCardDeps{
			IDs: system.NewIDs(), Accounts: fakes.Ada, Customers: buyer, Access: buyer, Merchant: merchant,
		}
		w.register(fakes.Providers(w.processor)...)
		test(t, w)
	})
}

// register makes the program know some payment providers, of which the first takes new payments.
func (w *fixture) register(providers ...ports.Provider) {
	w.Attempts = fakes.NewAttempts(w.store, &w.bus, providers, payments.NewSavedCardOutcomes(w.saving))
}

// published counts the committed events of a name about a subject.
func (w *fixture) published(name, subject string) int64 {
	w.t.Helper()
	return w.bus.Count(w.t, w.store, name, subject)
}

func subjectOf(e event.Event) string {
	switch e := e.(type) {
	case payment.Completed:
		return e.ID
	case payment.Failed:
		return e.ID
	case payment.Settled:
		return e.ID
	case payment.Reversed:
		return e.ID
	case refund.Returned:
		return e.ID
	case refund.Failure:
		return e.ID
	case dispute.Opened:
		return e.ID
	case dispute.Closed:
		return e.ID
	case paymentmethod.Saved:
		return e.ID
	case paymentmethod.Removed:
		return e.ID + " for " + e.Next
	}
	return ""
}

// saved saves a test card and returns its id.
func (w *fixture) saved(number string) string {
	w.t.Helper()
	card, err := w.SaveTestCard(w.t.Context(), creatorID, customerID, number)
	if err != nil {
		w.t.Fatal(err)
	}
	return card.ID
}

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

// wish is a charge of €10 for a subscription.
func wish(subscriptionID, cardID string) ports.Charge {
	return ports.Charge{
		CreatorID: creatorID,
		Sale:      payment.Sale{Subtotal: eur(1000), Discount: eur(0), Tax: eur(0), TaxAdded: eur(0), Credit: eur(0)},
		Subject: payment.Subject{
			Purpose: payment.ForSubscription, SubjectID: subscriptionID, CustomerID: customerID,
			PaymentMethodID: cardID,
		},
	}
}

// start starts a charge.
func (w *fixture) start(c ports.Charge) (started payment.State, err error) {
	w.t.Helper()
	err = w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		var err error
		started, err = w.Start(ctx, r, c)
		return err
	})
	return started, err
}

func (w *fixture) mustStart(c ports.Charge) payment.State {
	w.t.Helper()
	started, err := w.start(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return started
}

func (w *fixture) payment(id string) payment.State {
	w.t.Helper()
	p, err := w.store.Read(w.t.Context()).Payments.Payments.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// next claims the task that is due first by the clock of the account.
func (w *fixture) next() (task ports.Task, ok bool) {
	w.t.Helper()
	return fakes.NextTask(w.t, w.store, creatorID, w.clock.Real())
}

// work runs every task that is due and returns how many there were.
func (w *fixture) work() int {
	w.t.Helper()
	return fakes.WorkOf(w.t, w.store, creatorID, w.clock.Real(), w.run)
}

func (w *fixture) run(t ports.Task) error {
	if t.Kind == payments.TaskRefund {
		return w.RefundPayment(w.t.Context(), t)
	}
	return w.Charge(w.t.Context(), t)
}

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}
