package invoicing_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/system"
	"sundry/adapters/taxtable"
	"sundry/core/customer"
	"sundry/core/document"
	"sundry/core/event"
	"sundry/core/fault"
	"sundry/core/invoice"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/payout"
	"sundry/core/secret"
	"sundry/modules/invoicing"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creatorID  = "crt_01h00000000000000000000000"
	otherID    = "crt_01h00000000000000000000001"
	customerID = "cus_01h00000000000000000000000"
	day        = 24 * time.Hour
	home       = "192.0.2.1/32"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

// fixture is the module over a real store, with one customer who has a card, and charges whose outcome the test
// decides.
type fixture struct {
	*invoicing.Service
	config       invoicing.Config
	deps         invoicing.Deps
	documents    *invoicing.Documents
	documentDeps invoicing.DocumentDeps
	t            testing.TB
	store        *testdb.ClockedStore
	clock        *testdb.Clock
	bus          *fakes.Bus
	charges      *fakes.Charges
	tries        *fakes.CardTries
	statement    ledger.Statement
	// disputed and disputeLost are what is known of each subscription.
	disputed, disputeLost bool
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := newFixture(t, store)
		test(t, w)
		w.verify()
	})
}

// documentLinks are the addresses of documents.
var documentLinks = document.Links{BaseURL: "https://pay.example.com", Keys: secret.Fixed(make([]byte, 32))}

func newFixture(t testing.TB, store *gormstore.Store) *fixture {
	t.Helper()
	taxes, err := taxtable.New("IE")
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, clock: testdb.NewClock(noon)}
	w.store = testdb.WithClock(store, w.clock)
	w.bus = &fakes.Bus{Subscriber: func(ctx context.Context, r ports.Repos, e event.Event) error {
		if e, ok := e.(invoice.Finalized); ok {
			return w.documents.OnInvoiceFinalized(ctx, r, e)
		}
		return nil
	}}
	ids := system.NewIDs()
	w.charges = &fakes.Charges{
		Store: w.store, Clock: w.clock, IDs: ids, Subscriber: w, Response: payment.Outcome{Status: payment.Succeeded},
	}
	w.documentDeps = invoicing.DocumentDeps{
		Store: w.store, Accounts: fakes.Ada, Payouts: w, Renderer: w, Links: documentLinks,
		Seller: document.Party{Name: "Sundry Ltd", Country: "IE"},
	}
	w.documents = invoicing.NewDocuments(w.documentDeps)
	w.config = invoicing.Config{
		Pages:    invoice.Pages{BaseURL: "https://pay.example.com", Keys: secret.Fixed(make([]byte, 32))},
		Merchant: "Sundry Ltd",
	}
	w.tries = &fakes.CardTries{Left: 20}
	w.deps = invoicing.Deps{
		Store: w.store, IDs: ids, Bus: w.bus, Charges: w.charges, Runner: w.charges, Accounts: fakes.Ada,
		Taxes: taxes, Disputed: w,
		Cards: sandboxpay.New(w.store), Tries: w.tries,
	}
	w.Service = invoicing.New(w.config, w.deps)
	w.do(func(ctx context.Context, r ports.Repos) error {
		card := paymentmethod.New("pm_1", creatorID, customerID, paymentmethod.Card{
			Token: "tok", Brand: "visa", Last4: "4242", ExpMonth: 1, ExpYear: 2030,
		}, paymentmethod.Mandate{Text: "yes", AcceptedAt: noon}, noon)
		if err := r.Payments.PaymentMethods.Insert(ctx, card.State()); err != nil {
			return err
		}
		return r.Customers.Customers.Insert(ctx, customer.State{
			ID: customerID, CreatorID: creatorID, ExternalCustomerID: "ada", Email: "grace@example.com",
			DisplayName: "Grace",
			Details:     customer.Details{Address: customer.Address{Country: "DE", PostalCode: "10115"}}, CreatedAt: noon,
			UpdatedAt: noon,
			Revision:  1,
		})
	})
	return w
}

// StatementOf implements ports.PayoutStatements.
func (w *fixture) StatementOf(context.Context, ports.Repos, payout.State) (ledger.Statement, error) {
	return w.statement, nil
}

// PDF implements ports.Documents.
func (*fixture) PDF(d ports.Document) ([]byte, error) { return []byte("PDF of " + d.Number), nil }

// DisputeOf implements ports.DisputedSubscriptions.
func (w *fixture) DisputeOf(context.Context, ports.Repos, string) (open, lost bool, err error) {
	return w.disputed, w.disputeLost, nil
}

func (w *fixture) verify() {
	w.t.Helper()
	lines, err := w.Verify(context.Background())
	if err != nil || len(lines) > 0 {
		w.t.Errorf("verify: %v, %v", lines, err)
	}
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// do runs work in one transaction, which must succeed.
func (w *fixture) do(work func(ctx context.Context, r ports.Repos) error) {
	w.t.Helper()
	w.must(w.store.Atomically(context.Background(), work))
}

// draft is an invoice of some amounts.
func draft(key string, amounts ...int64) invoice.Draft {
	d := invoice.Draft{CustomerID: customerID, Currency: "eur", IdempotencyKey: key}
	for i, amount := range amounts {
		d.LineItems = append(d.LineItems, invoice.LineDraft{
			Description: fmt.Sprint("Item ", i+1), AmountInCents: &amount,
		})
	}
	return d
}

// push makes an invoice whose charge has the outcome that the test has set, which may refuse it.
func (w *fixture) push(key string, amounts ...int64) invoice.State {
	w.t.Helper()
	state, err := w.Push(context.Background(), creatorID, draft(key, amounts...))
	if err != nil && !fault.Is(err, fault.CardDeclined) && !fault.Is(err, fault.AuthenticationRequired) {
		w.t.Fatal(err)
	}
	return state
}

// failing makes an invoice whose first charge was declined.
func (w *fixture) failing() invoice.State {
	w.t.Helper()
	w.charges.Response = fakes.Declined("insufficient_funds")
	state := w.push("failing", 5000)
	w.charges.Response = payment.Outcome{Status: payment.Succeeded}
	if state.Status != invoice.Failed {
		w.t.Fatalf("%+v, want it failed", state)
	}
	w.bus.Take()
	return state
}

// link is the secret part of an invoice's address.
func link(state invoice.State) string { return state.Links.Page[len("https://pay.example.com/i/"):] }

func (w *fixture) get(invoiceID string) invoice.State {
	w.t.Helper()
	state, err := w.Invoice(context.Background(), creatorID, invoiceID)
	w.must(err)
	return state
}

// all are the account's invoices, newest first.
func (w *fixture) all() []invoice.State {
	w.t.Helper()
	list, err := w.Invoices(context.Background(), creatorID, ports.InvoiceSearch{}, ports.Page{Limit: 100})
	w.must(err)
	return list.Items
}

// wantEvents compares the events since the last call.
func (w *fixture) wantEvents(want ...string) {
	w.t.Helper()
	if got := w.bus.TakeNames(); !slices.Equal(got, want) {
		w.t.Errorf("events %v, want %v", got, want)
	}
}

// next claims the task that is due first.
func (w *fixture) next() (ports.Task, bool) {
	w.t.Helper()
	return fakes.NextTask(w.t, w.store, creatorID, w.clock.Real())
}

// at moves the clock and runs what is due then; it returns how many tasks that were.
func (w *fixture) at(to time.Time) int {
	w.t.Helper()
	w.clock.Set(to)
	return fakes.WorkOf(
		w.t, w.store, creatorID, to, func(t ports.Task) error { return w.Retry(context.Background(), t) },
	)
}

func refused(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}
