package usage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/apiformat"
	"sundry/core/customer"
	"sundry/core/event"
	"sundry/core/invoice"
	"sundry/core/money"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/subscription"
	core "sundry/core/usage"
	"sundry/modules/usage"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const creator = "crt_1"

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// fixture is the module over a database of its own, with one subscription that is billed by the day.
type fixture struct {
	*usage.Service
	t     *testing.T
	store *testdb.ClockedStore
	clock *testdb.Clock
	bus   *fakes.Bus
	plan  core.PlanState
	offer core.PlanDraft // by which plan is made
	least int64          // that a card can be charged

	product string

	intake ports.UsageIntake
	engine testdb.Engine
	url    string
}

func forEachEngine(t *testing.T, aggregation core.Aggregation, test func(t *testing.T, f *fixture)) {
	t.Helper()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		f := &fixture{t: t, engine: engine, url: engine.URL(t), clock: testdb.NewClock(noon)}
		f.open()
		f.setUp(aggregation)
		f.bill()
		test(t, f)
	})
}

// open starts the module over the database of the fixture's address.
func (f *fixture) open() {
	f.t.Helper()
	store, err := gormstore.Open(f.t.Context(), f.url)
	f.must(err)
	f.t.Cleanup(func() { _ = store.Close() })
	f.store, f.intake, f.bus = testdb.WithClock(store, f.clock), store, &fakes.Bus{Subscriber: invoiced}
	f.Service = usage.New(usage.Deps{
		Store: f.store, Intake: store, Clock: f.clock, IDs: system.NewIDs(), Bus: f.bus, Rates: fakes.Standing{},
		LeastCharge: func(money.Currency) int64 { return f.least },
	})
}

// invoiced writes the invoice of a closed period, as invoicing does.
func invoiced(ctx context.Context, r ports.Repos, e event.Event) error {
	closed, ok := e.(core.PeriodClosed)
	if !ok {
		return nil
	}
	return r.Invoicing.Invoices.Insert(ctx, invoice.State{
		ID: closed.InvoiceID, CreatorID: closed.Plan.CreatorID, Number: closed.InvoiceID, Currency: closed.Currency,
		Lines:         append(invoice.LinesOf(closed.Lines), invoice.PrepaidLines(closed.Credits)...),
		PeriodStart:   apiformat.Instant(closed.Period.Start),
		BillingPlanID: closed.Plan.ID, CreatedAt: closed.At, FinalizedAt: closed.At, Revision: 1,
	})
}

func (f *fixture) setUp(aggregation core.Aggregation) {
	f.t.Helper()
	ctx := f.t.Context()
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		if _, err := r.Customers.Customers.GetOrInsert(
			ctx,
			customer.State{
				ID: "cus_1", CreatorID: creator, ExternalCustomerID: "ada", CreatedAt: noon, UpdatedAt: noon,
			},
		); err != nil {
			return err
		}
		sub := subscription.New(subscription.Order{
			ID: "sub_1", CreatorID: creator, CustomerID: "cus_1", ExternalCustomerID: "ada", CheckoutID: "cs_1",
			Offer: plan.Offer{
				Interval: period.Month, IntervalCount: 1, Price: money.Amount{Minor: 900, Currency: "eur"},
			},
		}, noon)
		if _, err := sub.Activate(noon); err != nil {
			return err
		}
		return r.Subscriptions.Subscriptions.Insert(ctx, sub.State())
	})
	meter, err := f.CreateMeter(ctx, creator, core.MeterDraft{
		Name: "Calls", EventName: "calls", Aggregation: string(aggregation),
		UniqueProperty: map[core.Aggregation]string{core.Unique: "userId"}[aggregation],
	})
	f.must(err)
	product, err := f.CreateProduct(ctx, creator, core.ProductDraft{Name: "API", Type: "SERVICE"})
	f.must(err)
	f.product = product.ID
	f.offer = core.PlanDraft{
		SubscriptionID: "sub_1", MeterID: meter.ID, PriceID: f.price(1, "eur"), BillingInterval: "day",
	}
}

// price makes a price of a unit.
func (f *fixture) price(minor int64, currency string) (id string) {
	f.t.Helper()
	made, err := f.CreatePrice(f.t.Context(), creator, core.PriceDraft{
		ProductID: f.product, BillingScheme: "TIERED", Currency: currency,
		Recurring: &core.RecurringDraft{Interval: "month"},
		Tiers:     []core.TierDraft{{UnitAmountInCents: &minor}},
	})
	f.must(err)
	return made.ID
}

// bill makes the billing plan.
func (f *fixture) bill() {
	f.t.Helper()
	var err error
	f.plan, err = f.CreateBillingPlan(f.t.Context(), creator, f.offer)
	f.must(err)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) atomically(work func(ctx context.Context, r ports.Repos) error) {
	f.t.Helper()
	f.must(f.store.Atomically(f.t.Context(), work))
}

// draft reports a quantity at a time; the zero time is now.
func draft(key, quantity string, at time.Time) core.ReportDraft {
	number := core.ReportDraft{SubscriptionID: "sub_1", Meter: "calls", IdempotencyKey: key}
	literal := jsonNumber(quantity)
	number.Quantity = &literal
	if !at.IsZero() {
		text := at.Format(time.RFC3339Nano)
		number.Timestamp = &text
	}
	return number
}

// close runs the plan's task as if it were due.
func (f *fixture) close() {
	f.t.Helper()
	task := ports.Task{}
	f.atomically(func(ctx context.Context, r ports.Repos) error {
		return r.Tasks.Schedule(ctx, usage.TaskClose, f.plan.ID, creator, f.clock.Real())
	})
	queue := f.store.Store
	claimed, err := queue.Claim(f.t.Context(), ports.PaymentTasks, f.clock.Real().Add(time.Second), time.Minute, 10)
	f.must(err)
	if len(claimed) == 0 {
		claimed, err = queue.Claim(f.t.Context(), ports.DefaultTasks, f.clock.Real().Add(time.Second), time.Minute, 10)
		f.must(err)
	}
	for _, c := range claimed {
		if c.Kind == usage.TaskClose {
			task = c
		}
	}
	if task.ID == "" {
		f.t.Fatalf("no task to close by among %v", claimed)
	}
	f.must(f.ClosePeriod(f.t.Context(), task))
}

// closed returns what the period that begins at a time contained when it was closed last: a transaction that is run
// again publishes again, under another invoice id.
func (f *fixture) closed(start time.Time) (last core.PeriodClosed) {
	for _, e := range fakes.Published[core.PeriodClosed](f.bus) {
		if e.Period.Start.Equal(start) {
			last = e
		}
	}
	return last
}

// billed is the quantity of the line about a period, on the invoice of another or of its own.
func (f *fixture) billed(invoiceOf, period time.Time) string {
	f.t.Helper()
	for _, line := range f.closed(invoiceOf).Lines {
		if line.PeriodStart.Equal(period) {
			return line.Quantity.String()
		}
	}
	return fmt.Sprintf("no line in %+v", f.closed(invoiceOf))
}

// counted flushes and returns the subscription's use.
func (f *fixture) counted() core.Quantity {
	f.t.Helper()
	f.must(f.Flush(f.t.Context()))
	summary, err := f.Summary(f.t.Context(), creator, "sub_1")
	f.must(err)
	return summary[0].Quantity
}
