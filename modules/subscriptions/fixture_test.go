package subscriptions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/adapters/taxtable"
	"sundry/core/checkout"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
	"sundry/tests/testdb"
)

const (
	creatorID  = "crt_01h00000000000000000000000"
	customerID = "cus_01h00000000000000000000000"
	day        = 24 * time.Hour
)

var started = time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func offer(key string, minor int64, interval period.Interval, trialDays int) plan.Offer {
	return plan.Offer{
		CreatorID: creatorID, ListingID: "lst_1", ListingKey: "app", ListingType: "SUBSCRIPTION", Title: "App", PlanKey: key, PlanName: key,
		PriceID: "pri_" + key + string(interval), Interval: interval, IntervalCount: 1, TrialDays: trialDays, Price: eur(minor),
	}
}

var (
	basic  = offer("basic", 1000, period.Month, 0)
	studio = offer("studio", 3100, period.Month, 0)
	yearly = offer("studio", 30000, period.Year, 0)
	trial  = offer("basic", 1000, period.Month, 14)
)

// fixture is the module over a real store, with charges whose outcome the test decides.
type fixture struct {
	t     *testing.T
	store *testdb.ClockedStore
	clock *testdb.Clock
	ids   ports.IDs
	// cardless means that the customer has no card; taxed where they live.
	cardless bool
	taxed    string
	// response is what Run's charges come to.
	response payment.Outcome
	*subscriptions.Service

	mu        sync.Mutex
	published []event.Event
	backed    []string // payments that go back
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		taxes, err := taxtable.New("IE")
		if err != nil {
			t.Fatal(err)
		}
		w := &fixture{t: t, clock: testdb.NewClock(started), ids: system.NewIDs(), response: payment.Outcome{Status: payment.Succeeded}}
		w.store = testdb.WithClock(store, w.clock)
		w.Service = subscriptions.New(subscriptions.Deps{Store: w.store, IDs: w.ids, Bus: w, Charges: w, Offers: w, Taxes: taxes, Customers: w})
		w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Customers.Customers.Insert(ctx, customer.State{ID: customerID, CreatorID: creatorID, ExternalCustomerID: "ada", CreatedAt: started, UpdatedAt: started, Revision: 1})
		})
		test(t, w)
	})
}

// ReadAhead implements ports.Bus.
func (*fixture) ReadAhead(context.Context, ports.Repos, ...event.Event) {}

// Publish implements ports.Bus.
func (w *fixture) Publish(_ context.Context, _ ports.Repos, events ...event.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.published = append(w.published, events...)
	return nil
}

// names are the events since the last call.
func (w *fixture) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, e := range w.published {
		names = append(names, e.EventName())
	}
	w.published = nil
	return names
}

// wantEvents compares the events since the last call.
func (w *fixture) wantEvents(want ...string) {
	w.t.Helper()
	if got := w.names(); !slices.Equal(got, want) {
		w.t.Errorf("events %v, want %v", got, want)
	}
}

// Start implements ports.Charges over real rows, so that the store's own rules hold.
func (w *fixture) Start(ctx context.Context, r ports.Repos, c ports.Charge) (payment.State, error) {
	if w.cardless {
		return payment.State{}, fault.New(fault.PaymentMethodRequired, "The customer has no saved payment method.")
	}
	amount, err := c.Sale.Total()
	if err != nil {
		return payment.State{}, err
	}
	attempt := payment.NewPending(payment.Intent{
		ID: w.ids.New("pay"), CreatorID: c.CreatorID, Subject: c.Subject, Sale: c.Sale, Amount: amount, OffSession: !c.OnSession,
	}, c.At).State()
	return attempt, r.Payments.Payments.Insert(ctx, attempt)
}

// Run implements ports.Charges.
func (w *fixture) Run(ctx context.Context, paymentID string) (payment.State, error) {
	return w.settle(ctx, paymentID, w.response)
}

// Challenge implements ports.Charges.
func (w *fixture) Challenge(context.Context, string) (payment.NextAction, error) {
	return payment.NextAction{}, nil
}

// Authenticate implements ports.Charges.
func (w *fixture) Authenticate(ctx context.Context, paymentID string, approve bool) (payment.State, error) {
	outcome := payment.Outcome{Status: payment.Succeeded}
	if !approve {
		outcome = declined("authentication_failed")
	}
	return w.settle(ctx, paymentID, outcome)
}

// Refund implements ports.Charges.
func (w *fixture) Refund(_ context.Context, _ ports.Repos, paid payment.State) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.backed = append(w.backed, paid.ID)
	return nil
}

// settle decides a payment as modules/payments does: what follows is in the same transaction.
func (w *fixture) settle(ctx context.Context, paymentID string, o payment.Outcome) (payment.State, error) {
	var settled payment.State
	err := w.store.Atomically(ctx, func(ctx context.Context, r ports.Repos) error {
		loaded, err := r.Payments.Payments.Get(ctx, paymentID)
		if err != nil {
			return err
		}
		now, _ := w.clock.Now(ctx, creatorID)
		p := payment.Restore(loaded)
		changed, err := p.Apply(o, now)
		if settled = p.State(); err != nil || !changed {
			return err
		}
		if err := r.Payments.Payments.Update(ctx, settled); err != nil {
			return err
		}
		switch settled.Status {
		case payment.Succeeded:
			return w.OnPaymentCompleted(ctx, r, payment.Completed{State: settled})
		case payment.Declined, payment.Canceled:
			return w.OnPaymentFailed(ctx, r, payment.Failed{State: settled})
		case payment.Pending, payment.RequiresAction, payment.Processing:
		}
		return nil
	})
	return settled, err
}

func declined(code string) payment.Outcome {
	return payment.Outcome{Status: payment.Declined, Decline: payment.DeclineReason{Code: code, Message: "No."}}
}

// decide settles the one live charge.
func (w *fixture) decide(o payment.Outcome) payment.State {
	w.t.Helper()
	live := w.live()
	if len(live) != 1 {
		w.t.Fatalf("%d live charges", len(live))
	}
	settled, err := w.settle(w.t.Context(), live[0].ID, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return settled
}

func (w *fixture) live() []payment.State {
	w.t.Helper()
	live, err := w.store.Read(w.t.Context()).Payments.Payments.ListLive(w.t.Context(), creatorID, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return live
}

// ByCatalog implements ports.Offers.
func (w *fixture) ByCatalog(_ context.Context, _ ports.Repos, _ string, c ports.CatalogChoice) (plan.Offer, error) {
	for _, o := range []plan.Offer{trial, studio, yearly} {
		if o.ListingKey == c.Listing && o.PlanKey == c.Plan && o.Interval == c.Interval {
			return o, nil
		}
	}
	return plan.Offer{}, fault.NotFound("plan")
}

func (w *fixture) ByListing(context.Context, ports.Repos, string, string, string) (plan.Offer, error) {
	return plan.Offer{}, errors.ErrUnsupported
}

func (w *fixture) ByLink(context.Context, ports.Repos, string) (plan.Offer, string, error) {
	return plan.Offer{}, "", errors.ErrUnsupported
}

func (w *fixture) Again(context.Context, ports.Repos, plan.Offer) (plan.Offer, error) {
	return plan.Offer{}, errors.ErrUnsupported
}

// Customer implements ports.CustomerReader.
func (w *fixture) Customer(context.Context, ports.Repos, string) (customer.State, error) {
	return customer.State{ID: customerID, CreatorID: creatorID, Details: customer.Details{Country: w.taxed}}, nil
}

// begin starts a subscription by a paid checkout.
func (w *fixture) begin(o plan.Offer) subscription.State {
	w.t.Helper()
	return w.beginWith(o, nil)
}

var subscriptionsMade struct {
	sync.Mutex
	n int
}

func (w *fixture) beginWith(o plan.Offer, terms *discount.Terms) subscription.State {
	w.t.Helper()
	subscriptionsMade.Lock()
	subscriptionsMade.n++
	n := subscriptionsMade.n
	subscriptionsMade.Unlock()
	now, _ := w.clock.Now(w.t.Context(), creatorID)
	paid := checkout.Paid{
		CheckoutID: fmt.Sprintf("cs_%026d", n), CreatorID: creatorID, CustomerID: customerID, ExternalCustomerID: "ada",
		SubscriptionID: fmt.Sprintf("sub_%026d", n), PaymentMethodID: "pm_1", Offer: o, DiscountTerms: terms, At: now,
	}
	w.do(func(ctx context.Context, r ports.Repos) error { return w.OnCheckoutPaid(ctx, r, paid) })
	w.wantEvents("subscription.created")
	return w.get(paid.SubscriptionID)
}

func (w *fixture) do(work func(ctx context.Context, r ports.Repos) error) {
	w.t.Helper()
	if err := w.store.Atomically(w.t.Context(), work); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) get(id string) subscription.State {
	w.t.Helper()
	s, err := w.Get(w.t.Context(), creatorID, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// next claims the task that is due first.
func (w *fixture) next() (task ports.Task, ok bool) {
	w.t.Helper()
	now, _ := w.clock.Now(w.t.Context(), "")
	task, ok, err := w.store.ClaimNext(w.t.Context(), creatorID, started.AddDate(9, 0, 0), now, time.Minute)
	if errors.Is(err, ports.ErrNotFound) {
		return ports.Task{}, false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return task, ok
}

func (w *fixture) run(t ports.Task) error {
	if t.Kind == subscriptions.TaskNotice {
		return w.Notice(w.t.Context(), t)
	}
	return w.Due(w.t.Context(), t)
}

// at moves the clock and does what falls due then; it returns how many tasks that were.
func (w *fixture) at(to time.Time) int {
	w.t.Helper()
	w.clock.Set(to)
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

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}
