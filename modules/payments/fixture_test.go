package payments_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/core/cardsetup"
	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/identity"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/modules/payments"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	creatorID  = "crt_01h00000000000000000000000"
	customerID = "cus_01h00000000000000000000000"

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
	processor *interruptible
	*payments.Service
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := &fixture{t: t, clock: testdb.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
		w.store = testdb.WithClock(store, w.clock)
		cards := sandboxpay.New(w.store)
		w.processor = &interruptible{Processor: cards}
		w.Service = payments.New(
			payments.Config{BaseURL: "https://pay.example.com", Sandbox: true, Secrets: cardsetup.Secrets{Key: make([]byte, 32)}},
			payments.Deps{Store: w.store, IDs: system.NewIDs(), Bus: w, Processor: w.processor, Cards: cards, Accounts: w})
		test(t, w)
	})
}

// ReadAhead implements ports.Bus.
func (*fixture) ReadAhead(context.Context, ports.Repos, ...event.Event) {}

// Publish implements ports.Bus. It counts each kind of event per subject in the publisher's transaction, so that what is
// rolled back is not counted.
func (w *fixture) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	for _, e := range events {
		if _, err := r.Invoicing.DocumentNumbers.Next(ctx, subjectOf(e), series(e.EventName())); err != nil {
			return err
		}
	}
	return nil
}

// series is an event's name as a series of documents can be called.
func series(name string) document.Series { return document.Series(strings.ReplaceAll(name, ".", " ")) }

func subjectOf(e event.Event) string {
	switch e := e.(type) {
	case payment.Completed:
		return e.ID
	case payment.Failed:
		return e.ID
	case payment.Reversed:
		return e.ID
	case paymentmethod.Saved:
		return e.ID
	case paymentmethod.Removed:
		return e.ID + " for " + e.Next
	}
	return "unexpected"
}

// published counts the events of a name about a subject.
func (w *fixture) published(name, subject string) int64 {
	w.t.Helper()
	var next int64
	undo := errors.New("only reading")
	err := w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		var err error
		if next, err = r.Invoicing.DocumentNumbers.Next(ctx, subject, series(name)); err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) {
		w.t.Fatal(err)
	}
	return next - 1
}

func (w *fixture) SellerName(context.Context, ports.Repos, string) (string, error) { return "Ada", nil }

func (w *fixture) Storefront(context.Context, ports.Repos, string) (identity.Storefront, error) {
	return identity.Storefront{Name: "Ada"}, nil
}

func (w *fixture) Account(context.Context, ports.Repos, string) (name, address string, err error) {
	return "Ada", "ada@example.com", nil
}

// interruptible is the processor with a process that may die around its calls.
type interruptible struct {
	ports.Processor
	mu                               sync.Mutex
	dieBefore, dieAfter, unreachable bool
	charged                          int
}

var errDied = errors.New("the process died")

func (p *interruptible) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	p.mu.Lock()
	before, after, unreachable := p.dieBefore, p.dieAfter, p.unreachable
	p.charged++
	p.mu.Unlock()
	switch {
	case before:
		panic(errDied)
	case unreachable:
		return payment.Outcome{}, ports.ErrProcessorUnavailable
	}
	o, err := p.Processor.Charge(ctx, r)
	if after {
		panic(errDied)
	}
	return o, err
}

// dying runs what the process does not survive.
func (w *fixture) dying(run func()) {
	w.t.Helper()
	defer func() {
		if p := recover(); p != errDied { //nolint:errorlint // a panic value, not an error chain
			w.t.Fatalf("the process should have died, got %v", p)
		}
	}()
	run()
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
		CreatorID: creatorID, Sale: payment.Sale{Subtotal: eur(1000), Discount: eur(0), Tax: eur(0), TaxAdded: eur(0), Credit: eur(0)},
		Subject: payment.Subject{Purpose: payment.ForSubscription, SubjectID: subscriptionID, CustomerID: customerID, PaymentMethodID: cardID},
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
	now, _ := w.clock.Now(w.t.Context(), "")
	task, ok, err := w.store.ClaimNext(w.t.Context(), creatorID, time.Now().AddDate(1, 0, 0), now, time.Minute)
	if errors.Is(err, ports.ErrNotFound) {
		return ports.Task{}, false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return task, ok
}

// work runs every task that is due and returns how many there were.
func (w *fixture) work() int {
	w.t.Helper()
	for ran := range 100 {
		task, ok := w.next()
		if !ok {
			return ran
		}
		if err := w.run(task); err != nil {
			w.t.Fatalf("%s: %v", task.ID, err)
		}
	}
	w.t.Fatal("the tasks never end")
	return 0
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
