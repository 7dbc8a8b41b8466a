package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/memratelimit"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/adapters/taxtable"
	"sundry/core/appointment"
	core "sundry/core/checkout"
	"sundry/core/discount"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/plan"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/modules/checkout"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

// Test cards, named after their behavior.
const (
	cardSucceeds   = "4242424242424242"
	cardDeclined   = "4000000000000002"
	cardAsksOnce   = "4000002500003155"
	cardAsksAlways = "4000002760003184"
	cardLost       = "4000000000009003"
	cardStaysOpen  = "4000000000009102"
)

// fixture is the module over a real store and the real sandbox processor, with a catalog of one offer.
type fixture struct {
	t         testing.TB
	store     ports.Store
	queue     ports.TaskQueue
	clock     ports.Clock
	bus       fakes.CountingBus
	processor *fakes.Processor
	offer     plan.Offer
	bookings  bookings
	codes     codes
	vat       vatRegister
	taxes     struct{ ports.TaxCalculator } // the table, unless a test puts another here
	checkout  *checkout.Service
	attempts  *fakes.Attempts
}

// forEachEngine runs the test on a fresh store of each engine.
func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) { test(t, newFixture(t, store)) })
}

func newFixture(t testing.TB, store *gormstore.Store) *fixture {
	t.Helper()
	w := &fixture{t: t, store: store, queue: store, clock: system.NewClock(store, true)}
	w.offer = plan.Offer{
		CreatorID: creatorID, ListingID: "lst_01h00000000000000000000000", ListingKey: "book", ListingType: "DIGITAL",
		Title:   "A book",
		PlanKey: "default", PriceID: "pri_01h00000000000000000000000",
		Price: money.Amount{Minor: 1200, Currency: "eur"},
	}
	cards := sandboxpay.New(store)
	w.processor = &fakes.Processor{Processor: cards}
	w.bus.Subject = subjectOf
	table, err := taxtable.New("IE")
	if err != nil {
		t.Fatal(err)
	}
	w.taxes.TaxCalculator = table
	sales := checkout.NewSales(checkout.SaleDeps{
		IDs: system.NewIDs(), Bookings: &w.bookings, Discounts: &w.codes, Access: w,
	})
	w.attempts = fakes.NewAttempts(store, &w.bus, fakes.Providers(w.processor), sales)
	w.checkout = checkout.New(
		checkout.Config{
			BaseURL: "https://pay.example.com", Secrets: core.Secrets{Keys: secret.Fixed(make([]byte, 32)), Lasting: make([]byte, 32)},
			SellerCountry: "IE",
		},
		checkout.Deps{
			Bus:   &w.bus,
			Store: store, Clock: w.clock, IDs: system.NewIDs(), Sales: sales, Charges: w.attempts, Runner: w.attempts,
			Cards: cards, Offers: w,
			Bookings: &w.bookings, Queue: &w.bookings, Access: w, Accounts: fakes.Ada, Discounts: &w.codes,
			Standing: fakes.Standing{}, Rates: fakes.Standing{},
			Taxes: &w.taxes, VAT: &w.vat, Limiter: memratelimit.New(w.clock.Real),
		})
	return w
}

func subjectOf(e event.Event) string {
	switch e := e.(type) {
	case core.Paid:
		return e.CheckoutID
	case payment.Completed: // the sandbox's charges show as well what money has moved
		return e.ID
	case payment.Failed:
		return e.ID
	case core.Opened:
		return e.CheckoutID
	case core.Expired:
		return e.CheckoutID
	case payment.Settled:
		return e.ID
	case payment.Reversed:
		return e.ID
	case refund.Returned:
		return e.ID
	}
	return ""
}

func (w *fixture) ByCatalog(_ context.Context, _ ports.Repos, _ string, _ ports.CatalogChoice) (plan.Offer, error) {
	return w.offer, nil
}

func (w *fixture) ByListing(
	_ context.Context, _ ports.Repos, _ string, _ ports.ListingChoice,
) (plan.Offer, error) {
	return w.offer, nil
}

func (w *fixture) ByLink(context.Context, ports.Repos, string, ports.BuyerCountry) (ports.LinkOffer, error) {
	return ports.LinkOffer{Offer: w.offer}, nil
}

func (w *fixture) Again(context.Context, ports.Repos, plan.Offer, string) (plan.Offer, error) {
	return w.offer, nil
}

func (w *fixture) Preview(_ context.Context, _ ports.Repos, listingID string) (plan.Offer, error) {
	if listingID != w.offer.ListingID {
		return plan.Offer{}, fault.NotFound("listing")
	}
	return w.offer, nil
}

// codes replaces the catalog's discount codes: FIFTH takes a fifth off, any other is unknown.
type codes struct {
	mu sync.Mutex
	// exhausted means that the code has been used as often as it may be.
	exhausted bool
	used      map[string]bool // by session
}

func (c *codes) DiscountTerms(
	_ context.Context, _ ports.Repos, _, code string, _ discount.Sale,
) (discount.Terms, error) {
	if code != "FIFTH" {
		return discount.Terms{}, discount.ErrUnknownCode()
	}
	return discount.Terms{DiscountID: "dsc_1", Code: code, PercentOff: 20, Duration: discount.Once}, nil
}

func (c *codes) RedeemDiscount(_ context.Context, _ ports.Repos, _, _, checkoutID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.used[checkoutID]:
		return nil
	case c.exhausted:
		return fault.New(fault.LimitReached, "used up")
	case c.used == nil:
		c.used = map[string]bool{}
	}
	c.used[checkoutID] = true
	return nil
}

func (c *codes) ReleaseDiscount(_ context.Context, _ ports.Repos, _, checkoutID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.used, checkoutID)
	return nil
}

// bookings replaces the creator's calendar: every time is free, until taken means that somebody else has it.
type bookings struct {
	mu    sync.Mutex
	held  map[string]int // by session
	taken bool
}

func (b *bookings) LockSlots(context.Context, ports.Hold) func() { return func() {} }

func (b *bookings) Ready(context.Context, ports.Repos, string, string, string) error { return nil }

func (b *bookings) Hold(
	_ context.Context, _ ports.Repos, h ports.Hold,
) (claims []appointment.ReservationState, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[string]int{}
	}
	b.held[h.CheckoutID] = len(h.Picks)
	for _, p := range h.Picks {
		claims = append(claims, appointment.ReservationState{
			StartsAt: p.StartsAt, EndsAt: p.StartsAt.Add(time.Hour), Timezone: p.Timezone, DeliveryMode: p.DeliveryMode,
		})
	}
	return claims, nil
}

func (b *bookings) Held(
	_ context.Context, _ ports.Repos, _, checkoutID string,
) ([]appointment.ReservationState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	claims := make([]appointment.ReservationState, b.held[checkoutID])
	for i := range claims {
		claims[i].StartsAt = times()[0].StartsAt
	}
	return claims, nil
}

func (b *bookings) Release(_ context.Context, _ ports.Repos, _, checkoutID string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, checkoutID)
	return nil
}

func (b *bookings) Confirm(context.Context, ports.Repos, ports.Confirmation) ([]event.Event, bool, error) {
	return nil, !b.taken, nil
}

func (b *bookings) Booked(_ context.Context, _ ports.Repos, _, checkoutID string) ([]appointment.State, error) {
	return []appointment.State{{CheckoutID: checkoutID}}, nil
}

func (w *fixture) LockAccess(context.Context, ports.Repos, string, string) error { return nil }

func (w *fixture) AccessVersion(context.Context, ports.Repos, string, string) (int64, error) {
	return 1, nil
}

// open makes a session, with an external customer and an e-mail address.
func (w *fixture) open() core.State {
	w.t.Helper()
	session, err := w.checkout.Create(context.Background(), creatorID, checkout.NewSession{
		Catalog:            &core.CatalogReference{Listing: "book", Plan: "default"},
		ExternalCustomerID: "user-1", Email: "ada@example.com", SuccessURL: "https://shop.example.com/thanks",
	})
	if err != nil {
		w.t.Fatalf("create session: %v", err)
	}
	return session
}

func (w *fixture) pay(id, card string) (core.State, error) {
	receipt, err := w.checkout.PayInSandbox(context.Background(), creatorID, id, checkout.Payment{
		Card: ports.CardInput{Number: card},
	})
	return receipt.Session, err
}

// payAndDie pays in a process that dies on the way.
func (w *fixture) payAndDie(id string) {
	w.t.Helper()
	fakes.Dying(w.t, func() { _, _ = w.pay(id, cardSucceeds) })
}

func (w *fixture) session(id string) core.State {
	w.t.Helper()
	s, err := w.store.Read(context.Background()).Checkout.Sessions.Get(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// advance moves the account's clock without running anything.
func (w *fixture) advance(by time.Duration) {
	w.t.Helper()
	err := w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		offset, err := r.Sandbox.ClockOffsets.Get(ctx, creatorID)
		if err != nil {
			return err
		}
		return r.Sandbox.ClockOffsets.Advance(ctx, creatorID, offset+by)
	})
	if err == nil {
		err = w.queue.Retime(context.Background(), creatorID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// runDue looks for interrupted attempts and runs every task that is due, as workers would, and reports how many of these
// there were.
func (w *fixture) runDue() int {
	w.t.Helper()
	if err := w.attempts.Recover(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return fakes.Work(w.t, w.queue, w.clock.Real(), w.run)
}

func (w *fixture) run(t ports.Task) error {
	switch t.Kind {
	case checkout.TaskExpire:
		return w.checkout.ExpireDue(context.Background(), t)
	case fakes.TaskCharge:
		return w.attempts.Charge(context.Background(), t)
	case ports.TaskRefundPayment:
		return w.attempts.RefundPayment(context.Background(), t)
	}
	return fmt.Errorf("unknown task kind %s", t.Kind)
}

// paidEvents counts how often the session was announced as paid.
func (w *fixture) paidEvents(id string) int64 {
	w.t.Helper()
	return w.bus.Count(w.t, w.store, "checkout.paid", id)
}

// mustBeClean fails when the module's part of `+"`sundry verify`"+` finds anything.
func (w *fixture) mustBeClean() {
	w.t.Helper()
	violations, err := w.checkout.Verify(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range violations {
		w.t.Error(v)
	}
}

func asFault(err error, into **fault.Error) bool { return errors.As(err, into) }

// settle applies an outcome to a payment, and returns its session as it is then.
func (w *fixture) settle(paymentID string, o payment.Outcome) (session core.State, err error) {
	w.t.Helper()
	err = w.store.Atomically(w.t.Context(), func(ctx context.Context, r ports.Repos) error {
		attempt, err := w.attempts.Settle(ctx, r, payment.State{ID: paymentID}, o)
		if err != nil {
			return err
		}
		session, err = r.Checkout.Sessions.Get(ctx, attempt.CheckoutID())
		return err
	})
	return session, err
}

// wantRefund checks that all of a payment is listed as on its way back, and why.
func (w *fixture) wantRefund(paymentID, reason string) {
	w.t.Helper()
	r := w.store.Read(w.t.Context())
	paid, err := r.Payments.Payments.Get(w.t.Context(), paymentID)
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := r.Payments.Refunds.List(w.t.Context(), paid.CreatorID, paymentID, ports.Page{Limit: 10})
	if err != nil || len(list.Items) != 1 || list.Items[0].Reason != reason || list.Items[0].Status != refund.Pending ||
		list.Items[0].Share.Amount != paid.Amount {
		w.t.Errorf("refunds %+v, %v; want %s", list.Items, err, reason)
	}
}
