package treasury_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"sundry/core/civil"
	"sundry/core/dispute"
	"sundry/core/fault"
	"sundry/core/ledger"
	"sundry/core/payment"
	"sundry/core/refund"
	"sundry/modules/treasury"
	"sundry/ports"
)

func TestAPaymentIsPostedAsASale(t *testing.T) {
	t.Parallel()
	capped := config
	capped.FeeBasisPoints, capped.FeeFixed = 9000, 200
	for name, c := range map[string]struct {
		cfg                      treasury.Config
		total, tax, processorFee int64
		fee, pending             int64
	}{
		"the fee is a part and a fixed amount":               {config, 10_000, 0, 0, 530, 9470},
		"the fee is of what the buyer paid, tax included":    {config, 12_000, 2000, 0, 630, 9370},
		"the processor's fee is not the creator's":           {config, 10_000, 0, 320, 530, 9470},
		"half a cent of the fee is rounded up":               {config, 1210, 0, 0, 91, 1119},
		"less than half a cent is rounded down":              {config, 1209, 0, 0, 90, 1119},
		"the fee leaves nothing of a small sale":             {config, 25, 0, 0, 25, 0},
		"the fee never takes the tax":                        {capped, 1000, 160, 0, 840, 0},
		"the fee takes exactly what the tax leaves":          {config, 40, 8, 0, 32, 0},
		"one cent more than the fee is the creator's":        {config, 33, 0, 0, 32, 1},
		"a sale that is all tax has nothing for the creator": {config, 100, 100, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, c.cfg, func(t *testing.T, w *fixture) {
				p := w.completed(c.total, c.tax, c.processorFee)
				w.must(w.book(p))
				w.wantBalance(c.pending, 0, 0, 0)
				s := w.sale(p.ID)
				if s.PlatformFee.Minor != c.fee || s.Tax.Minor != c.tax ||
					s.Pending.Minor != c.pending || s.ProcessorFee.Minor != c.processorFee {
					t.Errorf("sale %+v", s)
				}
				if !s.AvailableAt.Equal(noon.Add(7 * day)) {
					t.Errorf("available at %s, want %s", s.AvailableAt, noon.Add(7*day))
				}
				sums := map[ledger.Account]int64{}
				for _, e := range w.entries(p.ID) {
					sums[e.Account] += e.Amount.Minor
				}
				want := map[ledger.Account]int64{
					ledger.ProcessorClearing: c.total - c.processorFee, ledger.ProcessorFee: c.processorFee,
					ledger.TaxPayable:  -c.tax,
					ledger.PlatformFee: -c.fee, ledger.CreatorPending: -c.pending,
				}
				for account, minor := range want {
					if sums[account] != minor {
						t.Errorf("%s is %d, want %d", account, sums[account], minor)
					}
				}
			})
		})
	}
}

func TestAPaymentOfNothingIsNotPosted(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		p := w.completed(0, 0, 0)
		w.must(w.book(p))
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			return w.OnPaymentReversed(ctx, r, reversed(p))
		}))
		if n := len(w.entries("")); n != 0 {
			t.Errorf("%d entries, want none", n)
		}
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			if _, err := w.SaleOf(ctx, r, p.ID); !errors.Is(err, ports.ErrNotFound) {
				t.Errorf("the sale of nothing: %v, want ErrNotFound", err)
			}
			return nil
		}))
		if _, err := w.refund(p.ID, 0); !fault.Is(err, fault.NotRefundable) {
			t.Errorf("refund of nothing: %v, want %s", err, fault.NotRefundable)
		}
		if _, err := w.PreviewRefund(t.Context(), creatorID, p.ID, nil); !fault.Is(err, fault.NotRefundable) {
			t.Errorf("preview of nothing: %v, want %s", err, fault.NotRefundable)
		}
	})
}

func TestAPaymentIsPostedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		p := w.completed(10_000, 0, 0)
		w.must(w.book(p))
		before := len(w.entries(""))
		err := w.do(func(ctx context.Context, r ports.Repos) error {
			return w.OnPaymentCompleted(ctx, r, payment.Completed{State: p})
		})
		if !errors.Is(err, ports.ErrDuplicate) {
			t.Errorf("posted again: %v, want ErrDuplicate", err)
		}
		w.wantBalance(9470, 0, 0, 0)
		if after := len(w.entries("")); after != before {
			t.Errorf("%d entries, want %d", after, before)
		}
	})
}

func TestASaleIsReleasedAfterSevenDays(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(10_000, 0)
		w.clock.Advance(7*day - time.Millisecond)
		if n := w.work(); n != 0 {
			t.Fatalf("%d tasks ran before the seventh day", n)
		}
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, treasury.TaskRelease, sale, creatorID, w.clock.Real())
		}))
		early, _ := w.next()
		w.must(w.Release(t.Context(), early)) // it comes too early: the task waits for the time
		w.wantBalance(9470, 0, 0, 0)
		w.clock.Advance(time.Millisecond)
		task, ok := w.next()
		if !ok || !task.DueAt.Equal(noon.Add(7*day)) {
			t.Fatalf("%+v, %v; want the release, due at the seventh day", task, ok)
		}
		w.must(w.Release(t.Context(), task))
		if err := w.Release(t.Context(), task); !errors.Is(err, ports.ErrFenced) {
			t.Errorf("run again: %v, want ErrFenced", err)
		}
		w.wantBalance(0, 9470, 0, 0)
		if s := w.sale(sale); !s.Released || s.Pending.Minor != 0 {
			t.Errorf("sale %+v", s)
		}
		if n := w.work(); n != 0 {
			t.Errorf("%d tasks are left", n)
		}
	})
}

func TestAReleaseOfNoSaleIsDone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			return r.Tasks.Schedule(ctx, treasury.TaskRelease, "pay_unknown", creatorID, noon)
		}))
		if n := w.work(); n != 1 {
			t.Errorf("%d runs, want one that ends the task", n)
		}
		w.noTasks()
	})
}

func TestTwoWorkersReleaseOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(10_000, 0)
		w.clock.Advance(7 * day)
		task, _ := w.next()
		fenced := 0
		for err := range both(func() error { return w.Release(context.Background(), task) }) {
			if errors.Is(err, ports.ErrFenced) {
				fenced++
			} else if err != nil {
				t.Error(err)
			}
		}
		if fenced != 1 {
			t.Errorf("%d runs were fenced, want one", fenced)
		}
		w.wantBalance(0, 9470, 0, 0)
		if s := w.sale(sale); s.Revision != 2 {
			t.Errorf("the sale has changed %d times, want once", s.Revision-1)
		}
	})
}

// both calls something twice at once and hands over both results.
func both(call func() error) func(yield func(error) bool) {
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- call() }()
	}
	return func(yield func(error) bool) {
		for range 2 {
			yield(<-results)
		}
	}
}

// reversed is the reversal of all of a payment.
func reversed(p payment.State) payment.Reversed {
	return payment.Reversed{State: p, Share: ledger.Share{Amount: p.Amount, Tax: p.Sale.Tax}}
}

func TestAReversedPaymentGoesBackWhole(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		reverse := func(p payment.State) error {
			return w.do(func(ctx context.Context, r ports.Repos) error {
				err := changePayment(ctx, r, p.ID, func(p *payment.Payment) error { return p.Refund(p.State().Amount) })
				if err != nil {
					return err
				}
				if err := r.Payments.Refunds.Insert(ctx, refund.State{
					ID: refund.AutomaticID(p.ID), CreatorID: p.CreatorID,
					Return:    ledger.Return{PaymentID: p.ID, Share: ledger.Share{Amount: p.Amount, Tax: p.Sale.Tax}},
					Status:    refund.Succeeded,
					CreatedAt: p.CreatedAt, Automatic: true, Full: true, Revision: 1,
				}); err != nil {
					return err
				}
				return w.OnPaymentReversed(ctx, r, reversed(p))
			})
		}
		p := w.completed(12_000, 2000, 0)
		w.must(w.book(p))
		w.must(reverse(p))
		w.wantBalance(0, 0, 0, 0) // the fee went back too
		entries := len(w.entries(""))
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			return w.OnPaymentReversed(ctx, r, reversed(p))
		}))
		if got := len(w.entries("")); got != entries {
			t.Errorf("reversed twice: %d entries, want %d", got, entries)
		}
		if s := w.sale(p.ID); s.Refunded != s.Total || s.ReturnedTax != s.Tax || s.Revision != 2 {
			t.Errorf("sale %+v", s)
		}

		half := w.completed(12_000, 2000, 0)
		w.must(w.book(half))
		f, err := w.refund(half.ID, 6000)
		w.must(err)
		w.settleRefund(&f, true)
		before := w.sale(half.ID)
		if err := reverse(half); err == nil {
			t.Error("a payment that is refunded in part was reversed")
		}
		if got := w.sale(half.ID); got != before {
			t.Errorf("the refusal changed the sale to %+v", got)
		}
	})
}

func TestAReversalWhoseMoneyCameBack(t *testing.T) {
	t.Parallel()
	for name, released := range map[string]bool{"before the release": false, "after the release": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				p := w.completed(12_000, 2000, 0)
				w.must(w.book(p))
				f := refund.NewPending(refund.State{
					ID: refund.AutomaticID(p.ID), CreatorID: p.CreatorID,
					Return:    ledger.Return{PaymentID: p.ID, Share: ledger.Share{Amount: p.Amount, Tax: p.Sale.Tax}},
					Automatic: true,
				}, noon).State()
				w.must(w.do(func(ctx context.Context, r ports.Repos) error { return r.Payments.Refunds.Insert(ctx, f) }))
				w.must(w.reverse(&f))
				if released {
					w.clock.Advance(7 * day)
					w.work()
				}
				w.settleRefund(&f, false)
				if b := w.balance(); b.Pending+b.Available != 10_000 || (b.Available != 0) != released {
					t.Errorf("%+v, want all but the tax", b)
				}
				w.verify()
				again, err := w.refund(p.ID, 0)
				if err != nil || again.Share != f.Share {
					t.Fatalf("%+v, %v; want all of the money", again.Share, err)
				}
				w.settleRefund(&again, true)
				w.wantBalance(0, 0, 0, 0)
			})
		})
	}
}

// reverse books an automatic refund that the processor made.
func (w *fixture) reverse(f *refund.State) error {
	return w.do(func(ctx context.Context, r ports.Repos) error {
		err := changePayment(ctx, r, f.PaymentID, func(p *payment.Payment) error { return p.Refund(f.Share.Amount) })
		if err != nil {
			return err
		}
		made := refund.Restore(*f)
		if _, _, err := made.Succeed("", true, w.clock.Real()); err != nil {
			return err
		}
		*f = made.State()
		if err := r.Payments.Refunds.Update(ctx, *f); err != nil {
			return err
		}
		paid, err := r.Payments.Payments.Get(ctx, f.PaymentID)
		if err != nil {
			return err
		}
		return w.OnPaymentReversed(ctx, r, reversed(paid))
	})
}

func TestARefundGoesThroughItsStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		released           bool
		pending, available int64 // after half of the payment went back
	}{
		"before the release": {false, 9370 - 5000, 0},
		"after the release":  {true, 0, 9370 - 5000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				sale := w.pay(12_000, 2000)
				if c.released {
					w.clock.Advance(7 * day)
					w.work()
				}
				whole := w.balance()
				f, err := w.refund(sale, 6000)
				if err != nil || f.Share != (ledger.Share{Amount: eur(6000), Tax: eur(1000)}) {
					t.Fatalf("%+v, %v; want half with half of the tax", f.Share, err)
				}
				if got := w.balance(); got.Pending != whole.Pending || got.Available+got.Reserved != whole.Available {
					t.Errorf("asking for a refund moved money: %+v", got)
				}
				if full := w.settleRefund(&f, true); full {
					t.Error("half is reported as all")
				}
				w.wantBalance(c.pending, c.available, 0, 0)
				w.settleRefund(&f, false) // the buyer's bank returned the money
				if got := w.balance(); got != whole {
					t.Errorf("after the money came back %+v, want %+v", got, whole)
				}
				given, err := w.refund(sale, 6000)
				w.must(err)
				w.settleRefund(&given, false) // the processor refused it
				if got := w.balance(); got != whole {
					t.Errorf("after a refused refund %+v, want %+v", got, whole)
				}
				all, err := w.refund(sale, 0)
				if err != nil || all.Share != (ledger.Share{Amount: eur(12_000), Tax: eur(2000)}) {
					t.Fatalf("%+v, %v; want all that is left", all.Share, err)
				}
				if full := w.settleRefund(&all, true); !full {
					t.Error("all is not reported as such")
				}
				if s := w.sale(sale); s.Refunded != s.Total || s.ReturnedTax != s.Tax {
					t.Errorf("sale %+v", s)
				}
				if b := w.balance(); b.Pending+b.Available != -630 {
					t.Errorf("%+v, want the fee alone: the platform keeps it", b)
				}
			})
		})
	}
}

func TestARefusedRefundChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(12_000, 2000)
		try := func(minor int64) func() error {
			return func() error {
				_, err := w.refund(sale, minor)
				return err
			}
		}
		w.unchanged(sale, try(12_001), fault.NotRefundable)
		w.unchanged(sale, try(-1), fault.Internal)
		first, err := w.refund(sale, 8000)
		w.must(err)
		w.unchanged(sale, try(4001), fault.NotRefundable) // a refund under way counts
		d, err := w.dispute(sale, 1000)
		w.must(err)
		w.unchanged(sale, try(1), fault.NotRefundable)
		w.must(w.decide(d, dispute.Won))
		w.settleRefund(&first, true)
		rest, err := w.refund(sale, 0)
		w.must(err)
		w.settleRefund(&rest, true)
		w.unchanged(sale, try(0), fault.NotRefundable)
	})
}

func TestRefundsAtOnceTakeTheMoneyOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(12_000, 2000)
		failed := 0
		for err := range both(func() error { _, err := w.refund(sale, 0); return err }) {
			if fault.Is(err, fault.NotRefundable) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if s := w.sale(sale); failed != 1 || s.Returned != s.Total || s.ReturnedTax != s.Tax {
			t.Errorf("%d were refused, want one; sale %+v", failed, s)
		}
	})
}

func TestADisputeHoldsTheCreatorsShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   dispute.Status
		released bool
		want     ledger.Balance
	}{
		"won while pending":  {dispute.Won, false, ledger.Balance{Currency: "eur", Pending: 9370}},
		"lost while pending": {dispute.Lost, false, ledger.Balance{Currency: "eur", Pending: -630}},
		"won when released":  {dispute.Won, true, ledger.Balance{Currency: "eur", Available: 9370}},
		"lost when released": {dispute.Lost, true, ledger.Balance{Currency: "eur", Available: -630}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				sale := w.pay(12_000, 2000)
				if c.released {
					w.clock.Advance(7 * day)
					w.work()
				}
				d, err := w.dispute(sale, 99_999) // more than was paid
				if err != nil || d.Share != (ledger.Share{Amount: eur(12_000), Tax: eur(2000)}) {
					t.Fatalf("%+v, %v; want at most what was paid", d.Share, err)
				}
				if b := w.balance(); b.Reserved != 10_000 || b.Pending+b.Available != -630 {
					t.Errorf("%+v, want the net amount reserved", b)
				}
				w.unchanged(sale, func() error { _, err := w.dispute(sale, 1); return err }, fault.StateConflict)
				other := d
				other.ID, other.Status = "dsp_01h00000000000000000000009", c.status
				w.unchanged(sale, func() error {
					return w.do(func(ctx context.Context, r ports.Repos) error {
						_, err := w.CloseDispute(ctx, r, other, eur(99_999))
						return err
					})
				}, fault.Internal)
				w.must(w.decide(d, c.status))
				if b := w.balance(); b != c.want {
					t.Errorf("balance is %+v, want %+v", b, c.want)
				}
				w.unchanged(sale, func() error { return w.decide(d, c.status) }, fault.Internal) // a late repetition
			})
		})
	}
}

func TestALostDisputeTakesARefundThatFailedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, comesBack := range map[string]bool{"it was refused": false, "it came back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				sale := w.pay(12_000, 2000)
				part, err := w.refund(sale, 4000)
				w.must(err)
				if comesBack {
					w.settleRefund(&part, true)
				}
				d, err := w.dispute(sale, 12_000)
				if err != nil || d.Share.Amount != eur(8000) {
					t.Fatalf("%+v, %v; want what the refund left", d.Share, err)
				}
				w.settleRefund(&part, false)
				w.must(w.decideClaim(d, 12_000, dispute.Lost))
				if b := w.balance(); b.Pending+b.Available != -630 || b.Reserved != 0 {
					t.Errorf("%+v, want to have lost all but the fee", b)
				}
				w.verify()
			})
		})
	}
}

func TestTheRestOfALostDisputeIsAFullRefund(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(12_000, 2000)
		d, err := w.dispute(sale, 5000)
		w.must(err)
		w.must(w.decide(d, dispute.Lost))
		rest, err := w.refund(sale, 0)
		if err != nil || rest.Share.Amount != eur(7000) {
			t.Fatalf("%+v, %v; want what the dispute left", rest.Share, err)
		}
		if full := w.settleRefund(&rest, true); !full {
			t.Error("nothing is left, and the refund is not reported as full")
		}
	})
}

func TestAPartThatComesBackLeavesTheRefundsLessThanFull(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(12_000, 2000)
		var parts [3]refund.State
		for i := range parts {
			part, err := w.refund(sale, 4000)
			w.must(err)
			if full := w.settleRefund(&part, true); full != (i == 2) {
				t.Errorf("after part %d the payment is refunded in full: %v", i+1, full)
			}
			parts[i] = part
		}
		for i := range 2 {
			if full := w.settleRefund(&parts[i], false); full != (i == 0) {
				t.Errorf("until part %d came back the payment was refunded in full: %v", i+1, full)
			}
		}
	})
}

func TestAPreviewIsTheRefundThatFollows(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.pay(1001, 167)
		for _, minor := range []int64{1, 333, 334, 0} {
			amount := &minor
			if minor == 0 {
				amount = nil
			}
			before := w.sale(sale)
			p, err := w.PreviewRefund(t.Context(), creatorID, sale, amount)
			w.must(err)
			if got := w.sale(sale); got != before {
				t.Errorf("the preview changed the sale to %+v", got)
			}
			f, err := w.refund(sale, minor)
			if err != nil || f.Share != p.Share || p.Left.Amount != before.Refundable() {
				t.Errorf("preview %+v, refund %+v, %v", p, f.Share, err)
			}
			w.settleRefund(&f, true)
		}
		for name, c := range map[string]struct {
			creator, payment string
			minor            int64
			code             fault.Code
		}{
			"of nothing that is left":     {creatorID, sale, 1, fault.NotRefundable},
			"of another account":          {otherID, sale, 1, fault.NotFoundCode},
			"of a payment that is no one": {creatorID, "pay_unknown", 1, fault.NotRefundable},
		} {
			if _, err := w.PreviewRefund(t.Context(), c.creator, c.payment, &c.minor); !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		for total, tax := range map[int64]int64{700: 100, 1: 1} {
			full, err := w.PreviewRefund(t.Context(), creatorID, w.pay(total, tax), nil)
			if want := (ledger.Share{Amount: eur(total), Tax: eur(tax)}); err != nil || full.Left != want || full.Share != want {
				t.Errorf("%+v, %v; want all with its tax", full, err)
			}
		}
	})
}

func TestRevenueIsByDay(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.pay(1000, 100)
		w.clock.Advance(day)
		second := w.pay(3000, 0)
		w.pay(2000, 0)
		w.clock.Advance(day)
		f, err := w.refund(second, 500)
		w.must(err)
		w.settleRefund(&f, true)
		today := civil.DateIn(time.UTC, noon.Add(2*day))
		all := []ledger.DayFigures{
			{Day: today - 2, Currency: "eur", Figures: ledger.Figures{Sales: 1, Gross: 1000, Tax: 100, Fees: 80}},
			{Day: today - 1, Currency: "eur", Figures: ledger.Figures{Sales: 2, Gross: 5000, Fees: 310}},
			{Day: today, Currency: "eur", Figures: ledger.Figures{Refunds: 500}},
		}
		for name, c := range map[string]struct {
			query    civil.Days
			from, to civil.Date
			want     []ledger.DayFigures
		}{
			"the last 30 days": {civil.Days{}, today - 29, today, all},
			"from a day on":    {civil.Days{From: today - 1}, today - 1, today, all[1:]},
			"up to a day":      {civil.Days{To: today - 1}, today - 30, today - 1, all[:2]},
			"of one day":       {civil.Days{From: today - 1, To: today - 1}, today - 1, today - 1, all[1:2]},
			"to come":          {civil.Days{From: today + 5}, today + 5, today + 5, nil},
			"of two years":     {civil.Days{From: today - 730}, today - 730, today, all},
		} {
			got, err := w.Revenue(t.Context(), creatorID, c.query)
			if err != nil || got.From != c.from || got.To != c.to || !got.CompleteThrough.Equal(noon.Add(2*day)) ||
				!slices.Equal(got.Figures, c.want) {
				t.Errorf("%s: %+v, %v; want %+v of %s to %s", name, got, err, c.want, c.from, c.to)
			}
		}
		for name, query := range map[string]civil.Days{
			"of a day more than two years": {From: today - 731}, "backwards": {From: today, To: today - 1},
		} {
			if _, err := w.Revenue(t.Context(), creatorID, query); !fault.Is(err, fault.ValidationFailed) {
				t.Errorf("%s: %v, want it refused", name, err)
			}
		}
		if other, err := w.Revenue(t.Context(), otherID, civil.Days{}); err != nil || len(other.Figures) != 0 {
			t.Errorf("another account sold %+v, %v", other, err)
		}
	})
}

func TestEntriesAreReadPageByPage(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		first, second := w.pay(1000, 0), w.pay(2000, 100)
		all := w.entries("")
		var read []ledger.Entry
		page := ports.Page{Limit: 2}
		for {
			list, err := w.Entries(t.Context(), creatorID, "", page)
			w.must(err)
			read = append(read, list.Items...)
			if list.Next == (ports.Cursor{}) {
				break
			}
			page.After = list.Next
		}
		if len(read) != 7 || len(all) != 7 {
			t.Fatalf("%d entries by page, %d at once, want 7", len(read), len(all))
		}
		for i := range all {
			if read[i] != all[i] {
				t.Errorf("entry %d is %+v, want %+v", i, read[i], all[i])
			}
		}
		if n := len(w.entries(first)); n != 3 || all[0].SourceID != second {
			t.Errorf("%d of the first, newest %s; want 3, and the second first", n, all[0].SourceID)
		}
		if list, err := w.Entries(t.Context(), otherID, first, page); err != nil || len(list.Items) != 0 {
			t.Errorf("another account sees %v, %v", list.Items, err)
		}
		if balances, err := w.Balance(t.Context(), otherID); err != nil || len(balances) != 0 {
			t.Errorf("another account has %v, %v", balances, err)
		}
	})
}
