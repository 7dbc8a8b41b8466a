package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sundry/adapters/gormstore"
	"sundry/adapters/system"
	"sundry/core/dispute"
	"sundry/core/document"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/payout"
	"sundry/core/refund"
	"sundry/core/secret"
	"sundry/modules/treasury"
	"sundry/ports"
	"sundry/tests/fakes"
	"sundry/tests/testdb"
)

const (
	creatorID = "crt_01h00000000000000000000000"
	otherID   = "crt_01h00000000000000000000001"
	day       = 24 * time.Hour
)

// noon is on a Sunday.
var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

var config = treasury.Config{
	Live:           true,
	FeeBasisPoints: 500, FeeFixed: 30, PayoutMinimum: 1000, AccountPage: "https://pay.example.com/dashboard/balance",
	Links: document.Links{BaseURL: "https://pay.example.com", Keys: secret.Fixed(make([]byte, 32))},
}

// fixture is the module over a real store, with a rail that the test scripts.
type fixture struct {
	*treasury.Service
	t        testing.TB
	store    *testdb.ClockedStore
	clock    *testdb.Clock
	bus      *fakes.Bus
	ids      ports.IDs
	rail     *rail
	schedule payout.Schedule
	standing fakes.Standing
}

func newFixture(t testing.TB, store *gormstore.Store, cfg treasury.Config) *fixture {
	t.Helper()
	w := &fixture{
		t: t, clock: testdb.NewClock(noon), bus: &fakes.Bus{}, ids: system.NewIDs(), schedule: payout.Manual,
		rail: &rail{
			outcome: ports.PayoutOutcome{Status: payout.Paid}, moved: map[string]int64{},
			accounts: map[string]payout.AccountReport{},
		},
	}
	w.store = testdb.WithClock(store, w.clock)
	w.Service = w.process(cfg, w.store)
	return w
}

// process is another process of the deployment, over a store of its own.
func (w *fixture) process(cfg treasury.Config, store ports.Store) *treasury.Service {
	return treasury.New(cfg, treasury.Deps{
		Store: store, Clock: w.clock, IDs: w.ids, Bus: w.bus, Rail: w.rail, Accounts: w, Creators: fakes.Ada,
		Standing: &w.standing,
	})
}

// forEachEngine runs the test on a fresh store of each engine; afterwards the books must be right.
func forEachEngine(t *testing.T, cfg treasury.Config, test func(t *testing.T, w *fixture)) {
	t.Helper()
	testdb.EachStore(t, func(t *testing.T, store *gormstore.Store) {
		w := newFixture(t, store, cfg)
		test(t, w)
		w.verify()
	})
}

func (w *fixture) verify() {
	w.t.Helper()
	lines, err := w.Verify(context.Background())
	if err != nil || len(lines) > 0 {
		w.t.Errorf("verify: %v, %v", lines, err)
	}
}

// PayoutSchedule implements ports.PayoutSchedules.
func (w *fixture) PayoutSchedule(context.Context, ports.Repos, string) (payout.Schedule, error) {
	return w.schedule, nil
}

// rail moves money as the test specifies.
type rail struct {
	mu      sync.Mutex
	outcome ports.PayoutOutcome
	moved   map[string]int64 // by payout; what is sent again moves nothing more
	calls   int
	// before and after are called around each Send.
	before, after func()
	// sendFails is the error of Send, which moves the money all the same; findFails is the error of Find.
	sendFails, findFails error

	accounts map[string]payout.AccountReport // by the rail's id
	opened   []ports.PayoutAccountRequest
	visits   []ports.PayoutAccountVisit
	// accountFails is the error of every call about an account.
	accountFails error
	// reported is called after the rail has read a report and before the caller has it.
	reported func()
}

// Send implements ports.PayoutRail.
func (r *rail) Send(ctx context.Context, p payout.State) (ports.PayoutOutcome, error) {
	r.mu.Lock()
	r.calls++
	r.mu.Unlock()
	if r.before != nil {
		r.before()
	}
	r.mu.Lock()
	r.moved[p.ID] = p.Amount.Minor
	r.mu.Unlock()
	if r.after != nil {
		r.after()
	}
	return r.outcome, errors.Join(ctx.Err(), r.sendFails)
}

// Find implements ports.PayoutRail.
func (r *rail) Find(context.Context, payout.State) (ports.PayoutOutcome, error) {
	return r.outcome, r.findFails
}

// OpenAccount implements ports.PayoutRail.
func (r *rail) OpenAccount(_ context.Context, request ports.PayoutAccountRequest) (payout.AccountReport, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accountFails != nil {
		return payout.AccountReport{}, r.accountFails
	}
	r.opened = append(r.opened, request)
	report := payout.AccountReport{
		ID: fmt.Sprint("acct_", len(r.opened)), Country: request.Country, Status: payout.AccountPending,
		RequirementsDue: []string{"iban"},
	}
	r.accounts[report.ID] = report
	return report, nil
}

// FindAccount implements ports.PayoutRail.
func (r *rail) FindAccount(_ context.Context, railID string) (payout.AccountReport, error) {
	r.mu.Lock()
	report, known := r.accounts[railID]
	r.mu.Unlock()
	if r.reported != nil {
		r.reported()
	}
	switch {
	case r.accountFails != nil:
		return payout.AccountReport{}, r.accountFails
	case !known:
		return payout.AccountReport{}, ports.ErrNotFound
	}
	return report, nil
}

// LinkAccount implements ports.PayoutRail.
func (r *rail) LinkAccount(_ context.Context, v ports.PayoutAccountVisit) (ports.PayoutAccountLink, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.visits = append(r.visits, v)
	return ports.PayoutAccountLink{URL: "https://rail.example.com/" + v.RailID}, r.accountFails
}

// report makes the rail report a status of an account.
func (r *rail) report(railID string, status payout.AccountStatus, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accounts[railID] = payout.AccountReport{ID: railID, Status: status, DisabledReason: reason}
}

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "eur"} }

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// do runs work in one transaction.
func (w *fixture) do(work func(ctx context.Context, r ports.Repos) error) error {
	return w.store.Atomically(context.Background(), work)
}

// completed is a payment of eur that has just succeeded.
func (w *fixture) completed(total, tax, processorFee int64) payment.State {
	p := payment.NewPending(payment.Intent{
		ID: w.ids.New(id.Payment), CreatorID: creatorID, Amount: eur(total),
		Subject: payment.Subject{
			Purpose: payment.ForCheckout, SubjectID: w.ids.New(id.CheckoutSession), CustomerID: "cus_1",
		},
		Sale: payment.Sale{Subtotal: eur(total), Discount: eur(0), Tax: eur(tax), TaxAdded: eur(0), Credit: eur(0)},
	}, w.clock.Real())
	_, err := p.Apply(payment.Outcome{Status: payment.Succeeded, Fee: eur(processorFee)}, w.clock.Real())
	w.must(err)
	return p.State()
}

// inCurrency is a payment without tax in another currency.
func inCurrency(p payment.State, currency money.Currency) payment.State {
	none := money.Amount{Currency: currency}
	p.Amount.Currency, p.ProcessorFee.Currency, p.Refunded.Currency = currency, currency, currency
	p.Sale = payment.Sale{Subtotal: p.Amount, Discount: none, Tax: none, TaxAdded: none, Credit: none}
	return p
}

// book writes a payment and posts it, as modules/payments does.
func (w *fixture) book(p payment.State) error {
	return w.do(func(ctx context.Context, r ports.Repos) error {
		if err := r.Payments.Payments.Insert(ctx, p); err != nil {
			return err
		}
		return w.OnPaymentCompleted(ctx, r, payment.Completed{State: p})
	})
}

// pay books a payment and returns its id.
func (w *fixture) pay(total, tax int64) string {
	w.t.Helper()
	p := w.completed(total, tax, 0)
	w.must(w.book(p))
	return p.ID
}

// earn makes an amount available, by a sale that is larger by its fee.
func (w *fixture) earn(net int64) (paymentID string) {
	w.t.Helper()
	total := net
	for total-(total*500+5000)/10_000-30 < net {
		total++
	}
	before := w.balance().Available
	paymentID = w.pay(total, 0)
	w.clock.Advance(7 * day)
	w.work()
	if got := w.balance().Available - before; got != net {
		w.t.Fatalf("%d became available, want %d", got, net)
	}
	return paymentID
}

// changePayment books on the payment's row what modules/payments books there.
func changePayment(ctx context.Context, r ports.Repos, paymentID string, change func(p *payment.Payment) error) error {
	loaded, err := r.Payments.Payments.Get(ctx, paymentID)
	if err != nil {
		return err
	}
	p := payment.Restore(loaded)
	if err := change(p); err != nil {
		return err
	}
	return r.Payments.Payments.Update(ctx, p.State())
}

// refund sets an amount aside (0 = all that is left) and writes the refund, as modules/payments does.
func (w *fixture) refund(paymentID string, minor int64) (f refund.State, err error) {
	amount := &minor
	if minor == 0 {
		amount = nil
	}
	err = w.do(func(ctx context.Context, r ports.Repos) error {
		share, err := w.ReserveRefund(ctx, r, paymentID, amount)
		if err != nil {
			return err
		}
		f = refund.NewPending(refund.State{
			ID: w.ids.New(id.Refund), CreatorID: creatorID,
			Return: ledger.Return{PaymentID: paymentID, Share: share},
			Reason: "asked",
		}, w.clock.Real()).State()
		return r.Payments.Refunds.Insert(ctx, f)
	})
	return f, err
}

// settleRefund books what the processor made of a refund. full reports whether nothing of the payment is left, or was
// left before the money came back.
func (w *fixture) settleRefund(f *refund.State, made bool) (full bool) {
	w.t.Helper()
	w.must(w.do(func(ctx context.Context, r ports.Repos) (err error) {
		next, was := refund.Restore(*f), f.Status
		if made {
			if full, err = w.CompleteRefund(ctx, r, *f); err != nil {
				return err
			}
			if _, _, err = next.Succeed("", full, w.clock.Real()); err != nil {
				return err
			}
			err = changePayment(ctx, r, f.PaymentID, func(p *payment.Payment) error { return p.Refund(f.Share.Amount) })
			if err != nil {
				return err
			}
		} else {
			if full, err = w.undoRefund(ctx, r, *f, was == refund.Succeeded); err != nil {
				return err
			}
			next.Fail("closed", w.clock.Real())
		}
		settled := next.State()
		if err := r.Payments.Refunds.Update(ctx, settled); err != nil {
			return err
		}
		*f = settled
		return nil
	}))
	return full
}

// undoRefund books that a refund was refused, or came back after it was made.
func (w *fixture) undoRefund(ctx context.Context, r ports.Repos, f refund.State, made bool) (full bool, err error) {
	if !made {
		return false, w.AbandonRefund(ctx, r, f)
	}
	if full, err = w.ReverseRefund(ctx, r, f); err != nil {
		return false, err
	}
	return full, changePayment(ctx, r, f.PaymentID, func(p *payment.Payment) error {
		return p.ReverseRefund(f.Share.Amount)
	})
}

// dispute opens a dispute of a claim and writes it.
func (w *fixture) dispute(paymentID string, claim int64) (d dispute.State, err error) {
	disputeID := w.ids.New(id.Dispute)
	err = w.do(func(ctx context.Context, r ports.Repos) error {
		share, err := w.OpenDispute(ctx, r, paymentID, disputeID, eur(claim))
		if err != nil {
			return err
		}
		opened, _ := dispute.Open(dispute.State{
			ID: disputeID, CreatorID: creatorID,
			Return:      ledger.Return{PaymentID: paymentID, Share: share},
			ProcessorID: "dp_" + disputeID,
			Reason:      "fraudulent",
		}, w.clock.Real())
		d = opened.State()
		return r.Payments.Disputes.Insert(ctx, d)
	})
	return d, err
}

// decide closes a dispute of a claim that was held.
func (w *fixture) decide(d dispute.State, status dispute.Status) error {
	return w.decideClaim(d, d.Share.Amount.Minor, status)
}

// decideClaim closes a dispute of a claim.
func (w *fixture) decideClaim(d dispute.State, claim int64, status dispute.Status) error {
	return w.do(func(ctx context.Context, r ports.Repos) error {
		decided := dispute.Restore(d)
		if _, _, err := decided.Apply(status, w.clock.Real()); err != nil {
			return err
		}
		lost, err := w.CloseDispute(ctx, r, decided.State(), eur(claim))
		if err != nil {
			return err
		}
		if status == dispute.Lost {
			decided.Lose(lost)
		}
		return r.Payments.Disputes.Update(ctx, decided.State())
	})
}

// balance is the creator's in eur.
func (w *fixture) balance() ledger.Balance {
	w.t.Helper()
	balances, err := w.Balance(context.Background(), creatorID)
	w.must(err)
	for _, b := range balances {
		if b.Currency == "eur" {
			return b
		}
	}
	return ledger.Balance{Currency: "eur"}
}

func (w *fixture) wantBalance(pending, available, reserved, inTransit int64) {
	w.t.Helper()
	want := ledger.Balance{
		Currency: "eur", Pending: pending, Available: available, Reserved: reserved, InTransit: inTransit,
	}
	if got := w.balance(); got != want {
		w.t.Errorf("balance is %+v, want %+v", got, want)
	}
}

// entries are the account's, newest first.
func (w *fixture) entries(sourceID string) []ledger.Entry {
	w.t.Helper()
	list, err := w.Entries(context.Background(), creatorID, sourceID, ports.Page{Limit: 100})
	w.must(err)
	return list.Items
}

// sale reads the ledger's state of a payment.
func (w *fixture) sale(paymentID string) (sale ledger.SaleState) {
	w.t.Helper()
	w.must(w.do(func(ctx context.Context, r ports.Repos) (err error) {
		sale, err = w.SaleOf(ctx, r, paymentID)
		return err
	}))
	return sale
}

// unchanged runs what must be refused, and fails when the ledger, a sale or a payout is another afterwards.
func (w *fixture) unchanged(paymentID string, refused func() error, code fault.Code) {
	w.t.Helper()
	sale, entries, payouts := w.sale(paymentID), len(w.entries("")), len(w.payouts())
	if err := refused(); fault.CodeOf(err) != code {
		w.t.Errorf("%v, want %q", err, code)
	}
	if got := w.sale(paymentID); got != sale || len(w.entries("")) != entries || len(w.payouts()) != payouts {
		w.t.Errorf("the refusal changed something: the sale from %+v to %+v", sale, got)
	}
}

func (w *fixture) payouts() []payout.State {
	w.t.Helper()
	list, err := w.ListPayouts(context.Background(), creatorID, "", ports.Page{Limit: 100})
	w.must(err)
	return list.Items
}

// next claims the task that is due first.
func (w *fixture) next() (ports.Task, bool) {
	w.t.Helper()
	return fakes.NextTask(w.t, w.store, creatorID, w.clock.Real())
}

// work runs every task that is due and returns how many there were.
func (w *fixture) work() int {
	w.t.Helper()
	return fakes.WorkOf(w.t, w.store, creatorID, w.clock.Real(), func(t ports.Task) error { return run(w.Service, t) })
}

// noTasks fails when the account has any task, due or not.
func (w *fixture) noTasks() {
	w.t.Helper()
	left, err := w.store.Read(context.Background()).TaskAdmin.List(context.Background(), creatorID, "", noon,
		ports.Page{Limit: 9})
	if err != nil || len(left.Items) > 0 {
		w.t.Errorf("tasks are left: %+v, %v", left.Items, err)
	}
}

func run(s *treasury.Service, t ports.Task) error {
	switch t.Kind {
	case treasury.TaskRelease:
		return s.Release(context.Background(), t)
	case treasury.TaskPayout:
		return s.Payout(context.Background(), t)
	case treasury.TaskScheduledPayouts:
		return s.ScheduledPayouts(context.Background(), t)
	}
	return errors.New("unknown kind " + t.Kind)
}

func refused(t testing.TB, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%v, want %s", err, code)
	}
}
