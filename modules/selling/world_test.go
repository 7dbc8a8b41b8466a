package selling_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/core/appointment"
	"sundry/core/checkout"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/modules/selling"
	"sundry/ports"
	"sundry/tests/testdb"
)

const creatorID = "crt_01h00000000000000000000000"

// Test cards by what they do (contract §13).
const (
	cardSucceeds   = "4242424242424242"
	cardDeclined   = "4000000000000002"
	cardAsksOnce   = "4000002500003155"
	cardAsksAlways = "4000002760003184"
	cardLost       = "4000000000009003"
	cardStaysOpen  = "4000000000009102"
)

// world is the module over a real store and the real sandbox processor, with a catalog of one offer.
type world struct {
	t         testing.TB
	store     ports.Store
	queue     ports.TaskQueue
	clock     ports.Clock
	processor *interruptible
	offer     plan.Offer
	bookings  bookings
	selling   *selling.Service
}

// onEveryEngine runs the test on a fresh store of each engine.
func onEveryEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) { test(t, newWorld(t, store)) })
}

func newWorld(t testing.TB, store *gormstore.Store) *world {
	t.Helper()
	w := &world{t: t, store: store, queue: store, clock: system.NewClock(store, true)}
	w.offer = plan.Offer{
		CreatorID: creatorID, ListingID: "lst_01h00000000000000000000000", ListingKey: "book", ListingType: "DIGITAL", Title: "A book",
		PlanKey: "default", PriceID: "pri_01h00000000000000000000000", Price: money.Amount{Minor: 1200, Currency: "eur"},
	}
	cards := sandboxpay.New(store)
	w.processor = &interruptible{Processor: cards}
	w.selling = selling.New(
		selling.Config{BaseURL: "https://pay.example.com", Sandbox: true, Secrets: checkout.Secrets{Key: make([]byte, 32)}},
		store, w.clock, system.NewIDs(), w, w.processor, cards, w, &w.bookings, w, w)
	return w
}

// Publish implements ports.Bus. It counts in the publisher's transaction, so that what is rolled back is not counted.
func (w *world) Publish(ctx context.Context, r ports.Repos, events ...event.Event) error {
	for _, e := range events {
		paid, ok := e.(checkout.Paid)
		if !ok {
			return fmt.Errorf("unexpected event %s", e.EventName())
		}
		if _, err := r.DocumentNumbers.Next(ctx, "paid "+paid.CheckoutID); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) ByCatalog(_ context.Context, _ ports.Repos, _, _, _ string, _ period.Interval) (plan.Offer, error) {
	return w.offer, nil
}

func (w *world) ByListing(_ context.Context, _ ports.Repos, _, _, _ string) (plan.Offer, error) {
	return w.offer, nil
}

func (w *world) ByLink(_ context.Context, _ ports.Repos, _ string) (plan.Offer, string, error) {
	return w.offer, "", nil
}

func (w *world) Again(_ context.Context, _ ports.Repos, _ plan.Offer) (plan.Offer, error) {
	return w.offer, nil
}

// bookings stands for the creator's calendar: every time is free, until taken says that somebody else has it.
type bookings struct {
	mu    sync.Mutex
	held  map[string]int // by session
	taken bool
}

func (b *bookings) TakeTurn(context.Context, ports.Hold) func() { return func() {} }

func (b *bookings) Ready(context.Context, ports.Repos, string, string, string) error { return nil }

func (b *bookings) Hold(_ context.Context, _ ports.Repos, h ports.Hold) (claims []appointment.ClaimState, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[string]int{}
	}
	b.held[h.CheckoutID] = len(h.Picks)
	for _, p := range h.Picks {
		claims = append(claims, appointment.ClaimState{StartsAt: p.StartsAt, EndsAt: p.StartsAt.Add(time.Hour), Timezone: p.Timezone, DeliveryMode: p.DeliveryMode})
	}
	return claims, nil
}

func (b *bookings) Held(_ context.Context, _ ports.Repos, _, checkoutID string) ([]appointment.ClaimState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	claims := make([]appointment.ClaimState, b.held[checkoutID])
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

func (w *world) AccessVersion(context.Context, ports.Repos, string, string) (int64, error) {
	return 1, nil
}

func (w *world) SellerName(context.Context, ports.Repos, string) (string, error) { return "Ada", nil }

// interruptible is the processor with a process that may die around its call.
type interruptible struct {
	ports.Processor
	mu          sync.Mutex
	dieBefore   bool // the request never leaves
	dieAfter    bool // the answer never arrives
	unreachable bool // the processor is certainly not reached
}

var errDied = errors.New("the process died")

func (p *interruptible) Charge(ctx context.Context, r ports.ChargeRequest) (payment.Outcome, error) {
	p.mu.Lock()
	before, after, unreachable := p.dieBefore, p.dieAfter, p.unreachable
	p.mu.Unlock()
	if before {
		panic(errDied)
	}
	if unreachable {
		return payment.Outcome{}, ports.ErrProcessorUnavailable
	}
	o, err := p.Processor.Charge(ctx, r)
	if after {
		panic(errDied)
	}
	return o, err
}

// open makes a session, with an external customer and an e-mail address.
func (w *world) open() checkout.State {
	w.t.Helper()
	session, err := w.selling.Create(context.Background(), creatorID, selling.NewSession{
		Catalog:            &checkout.CatalogReference{Listing: "book", Plan: "default"},
		ExternalCustomerID: "user-1", Email: "ada@example.com", SuccessURL: "https://shop.example.com/thanks",
	})
	if err != nil {
		w.t.Fatalf("create session: %v", err)
	}
	return session
}

func (w *world) pay(id, card string) (checkout.State, error) {
	return w.selling.PayInSandbox(context.Background(), creatorID, id, selling.Payment{CardNumber: card})
}

// payAndDie pays in a process that dies on the way.
func (w *world) payAndDie(id string) {
	w.t.Helper()
	defer func() {
		if p := recover(); p != errDied { //nolint:errorlint // a panic value, not an error chain
			w.t.Fatalf("the process should have died, got %v", p)
		}
	}()
	_, _ = w.pay(id, cardSucceeds)
}

func (w *world) session(id string) checkout.State {
	w.t.Helper()
	s, err := w.store.Read(context.Background()).Sessions.Get(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// advance moves the account's clock without running anything.
func (w *world) advance(by time.Duration) {
	w.t.Helper()
	err := w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		offset, err := r.ClockOffsets.Offset(ctx, creatorID)
		if err != nil {
			return err
		}
		return r.ClockOffsets.Advance(ctx, creatorID, offset+by)
	})
	if err == nil {
		err = w.queue.Retime(context.Background(), creatorID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// runDue runs every task that is due, as a worker would, and reports how many there were.
func (w *world) runDue() int {
	w.t.Helper()
	ran := 0
	for range 100 {
		tasks, err := w.queue.Claim(context.Background(), ports.OtherTasks, w.clock.Real(), time.Minute, 10)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(tasks) == 0 {
			return ran
		}
		for _, task := range tasks {
			ran++
			if err := w.run(task); err != nil && !errors.Is(err, ports.ErrFenced) {
				w.t.Fatalf("task %s: %v", task.ID, err)
			}
		}
	}
	w.t.Fatal("tasks never end")
	return ran
}

func (w *world) run(t ports.Task) error {
	switch t.Kind {
	case selling.TaskExpire:
		return w.selling.ExpireDue(context.Background(), t)
	case selling.TaskReconcile:
		return w.selling.Reconcile(context.Background(), t)
	case selling.TaskGiveBack:
		return w.selling.ReturnMoney(context.Background(), t)
	}
	return fmt.Errorf("unknown task kind %s", t.Kind)
}

// paidEvents counts how often the session was announced as paid.
func (w *world) paidEvents(id string) int64 {
	w.t.Helper()
	var next int64
	undo := errors.New("only looking")
	err := w.store.Atomically(context.Background(), func(ctx context.Context, r ports.Repos) error {
		var err error
		if next, err = r.DocumentNumbers.Next(ctx, "paid "+id); err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) {
		w.t.Fatal(err)
	}
	return next - 1
}

// mustBeClean fails when the module's part of `+"`sundry verify`"+` finds anything.
func (w *world) mustBeClean() {
	w.t.Helper()
	violations, err := w.selling.Verify(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range violations {
		w.t.Error(v)
	}
}

func asFault(err error, into **fault.Error) bool { return errors.As(err, into) }
