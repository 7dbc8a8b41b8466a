package subscriptions_test

import (
	"context"
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
	"sundry/core/fault"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	"sundry/modules/subscriptions"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creatorID  = "crt_01h00000000000000000000000"
	customerID = "cus_01h00000000000000000000000"
	day        = 24 * time.Hour
	home       = "192.0.2.1/32"
)

var started = time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func offer(key string, minor int64, interval period.Interval, trialDays int) plan.Offer {
	return plan.Offer{
		CreatorID: creatorID, ListingID: "lst_1", ListingKey: "app", ListingType: "SUBSCRIPTION", Title: "App",
		PlanKey: key, PlanName: key,
		PriceID: "pri_" + key + string(interval), Interval: interval, IntervalCount: 1, TrialDays: trialDays,
		Price: eur(minor),
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
	// taxed is the country where the customer lives.
	taxed   string
	charges *fakes.Charges
	*subscriptions.Service
	fakes.Bus
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		taxes, err := taxtable.New("IE")
		if err != nil {
			t.Fatal(err)
		}
		w := &fixture{t: t, clock: testdb.NewClock(started), ids: system.NewIDs()}
		w.store = testdb.WithClock(store, w.clock)
		w.charges = &fakes.Charges{
			Store: w.store, Clock: w.clock, IDs: w.ids, Subscriber: w,
			Response: payment.Outcome{Status: payment.Succeeded},
		}
		w.Service = subscriptions.New(subscriptions.Deps{
			Store: w.store, IDs: w.ids, Bus: w, Charges: w.charges, Runner: w.charges, Offers: catalog{}, Taxes: taxes,
			Customers: w,
		})
		w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Customers.Customers.Insert(ctx, customer.State{
				ID: customerID, CreatorID: creatorID, ExternalCustomerID: "ada", CreatedAt: started, UpdatedAt: started,
				Revision: 1,
			})
		})
		test(t, w)
	})
}

// wantEvents compares the events since the last call.
func (w *fixture) wantEvents(want ...string) {
	w.t.Helper()
	if got := w.TakeNames(); !slices.Equal(got, want) {
		w.t.Errorf("events %v, want %v", got, want)
	}
}

// decide gives the only live charge its outcome.
func (w *fixture) decide(o payment.Outcome) payment.State {
	w.t.Helper()
	return w.charges.Decide(w.t, creatorID, o)
}

func (w *fixture) live() []payment.State {
	w.t.Helper()
	return w.charges.Live(w.t, creatorID)
}

// catalog sells the plans that subscriptions change to.
type catalog struct{ ports.Offers }

// ByListing implements ports.Offers.
func (catalog) ByListing(_ context.Context, _ ports.Repos, _ string, c ports.ListingChoice) (plan.Offer, error) {
	for _, o := range []plan.Offer{trial, studio, yearly} {
		if o.ListingID == c.ListingID && o.PlanKey == c.Plan && period.Every(o.Interval, o.IntervalCount) == c.Every {
			return o, nil
		}
	}
	return plan.Offer{}, fault.NotFound("plan")
}

// Customer implements ports.CustomerReader.
func (w *fixture) Customer(context.Context, ports.Repos, string) (customer.State, error) {
	return customer.State{ID: customerID, CreatorID: creatorID,
		Details: customer.Details{Address: customer.Address{Country: w.taxed}}}, nil
}

// CustomerForShare implements ports.CustomerReader.
func (w *fixture) CustomerForShare(ctx context.Context, r ports.Repos, id string) (customer.State, error) {
	return w.Customer(ctx, r, id)
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
		PaymentID: "pay_first", SubscriptionID: fmt.Sprintf("sub_%026d", n), PaymentMethodID: "pm_1", Offer: o,
		DiscountTerms: terms, At: now,
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
	return fakes.NextTask(w.t, w.store, creatorID, w.clock.Real())
}

func (w *fixture) run(t ports.Task) error {
	if t.Kind == subscriptions.TaskNotice {
		return w.Notice(w.t.Context(), t)
	}
	return w.RunDue(w.t.Context(), t)
}

// at moves the clock and does what falls due then; it returns how many tasks that were.
func (w *fixture) at(to time.Time) int {
	w.t.Helper()
	w.clock.Set(to)
	return fakes.WorkOf(w.t, w.store, creatorID, to, w.run)
}

func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}
