package treasury_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/ledger"
	"sundry/core/payout"
	"sundry/modules/treasury"
	"sundry/ports"
	"sundry/tests/fakes"
)

func all(currency string) payout.Request { return payout.Request{Currency: currency} }

func some(minor int64, key string) payout.Request {
	return payout.Request{Currency: "eur", Minor: &minor, Key: key}
}

func (w *fixture) payout(payoutID string) payout.State {
	w.t.Helper()
	p, err := w.GetPayout(context.Background(), creatorID, payoutID)
	w.must(err)
	return p
}

func TestAPayoutIsSentAndReportedOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.rail.findFails = ports.ErrNotFound // nobody asks about what is known
		ctx, leave := context.WithCancel(t.Context())
		w.rail.before = leave // and the caller leaves meanwhile
		p, err := w.RequestPayout(ctx, creatorID, some(4000, ""))
		w.rail.before = nil
		if err != nil || p.Status != payout.Paid || p.Amount != eur(4000) ||
			!p.PaidAt.Equal(w.clock.Real()) || p.StatementURL == "" {
			t.Fatalf("%+v, %v", p, err)
		}
		w.wantBalance(0, 5470, 0, 0)
		if w.rail.moved[p.ID] != 4000 || w.rail.calls != 1 {
			t.Errorf("the rail moved %v in %d calls", w.rail.moved, w.rail.calls)
		}
		published := fakes.Published[payout.PaidOut](w.bus)
		if len(published) != 1 || published[0].State != p {
			t.Errorf("published %+v, want the payout as it is returned, once", published)
		}
		rest, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
		if err != nil || rest.Amount != eur(5470) {
			t.Errorf("%+v, %v; want all that is left", rest, err)
		}
		w.wantBalance(0, 0, 0, 0)
		if n := w.work(); n != 0 {
			t.Errorf("%d tasks are left", n)
		}
		if got := w.payout(p.ID); got != p {
			t.Errorf("stored %+v, want %+v", got, p)
		}
	})
}

func TestARefusedPayoutChangesNothing(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.earn(1500)
		for name, c := range map[string]struct {
			cfg  treasury.Config
			req  payout.Request
			code fault.Code
		}{
			"without a currency":            {config, all(""), fault.ValidationFailed},
			"in an unknown currency":        {config, all("xxq"), fault.ValidationFailed},
			"below the minimum":             {config, some(999, ""), fault.ValidationFailed},
			"of more than is available":     {config, some(1501, ""), fault.InsufficientBalance},
			"in a currency without balance": {config, all("usd"), fault.InsufficientBalance},
			"without an account to go to":   {needy(), some(1000, ""), fault.StateConflict},
		} {
			service := w.process(c.cfg, w.store)
			w.unchanged(sale, func() error {
				_, err := service.RequestPayout(t.Context(), creatorID, c.req)
				if check := service.CheckPayout(c.req); (check != nil) != (c.code == fault.ValidationFailed) {
					t.Errorf("%s: the check says %v", name, check)
				}
				return err
			}, c.code)
		}
		w.clock.Advance(time.Hour)
		small, err := w.RequestPayout(t.Context(), creatorID, some(1000, ""))
		if err != nil || small.Status != payout.Paid {
			t.Fatalf("the least amount: %+v, %v", small, err)
		}
		w.unchanged(sale, func() error { // what is left is below the minimum
			_, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
			return err
		}, fault.InsufficientBalance)
		if w.rail.calls != 1 {
			t.Errorf("the rail was called %d times, want once", w.rail.calls)
		}
	})
}

func TestAFailedPayoutIsAvailableAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Failed, Reason: "account_closed"}
		p, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		if err != nil || p.Status != payout.Failed || p.FailureReason != "account_closed" || p.StatementURL != "" {
			t.Fatalf("%+v, %v", p, err)
		}
		w.wantBalance(0, 9470, 0, 0)
		if n := len(fakes.Published[payout.PaidOut](w.bus)); n != 0 || w.work() != 0 {
			t.Errorf("%d payouts are reported as paid, or a task is left", n)
		}
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Paid}
		w.must(w.RefreshPayout(t.Context(), p.ID)) // a late report about what has failed
		if got := w.payout(p.ID); got != p {
			t.Errorf("a late report made it %+v", got)
		}
	})
}

func TestAPaidPayoutMayComeBack(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		p, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
		w.must(err)
		for _, known := range []payout.Status{payout.Paid, payout.Pending} { // doubled, and older than what is known
			w.rail.outcome = ports.PayoutOutcome{Status: known}
			w.must(w.RefreshPayout(t.Context(), p.ID))
			if got := w.payout(p.ID); got != p || len(fakes.Published[payout.PaidOut](w.bus)) != 1 {
				t.Errorf("a report that it is %s made it %+v", known, got)
			}
		}
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Paid, Returned: true}
		if err := w.RefreshPayout(t.Context(), p.ID); err == nil || w.payout(p.ID) != p {
			t.Errorf("nobody learns that a part came back: %v", err)
		}
		w.clock.Advance(day)
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Failed, Reason: "returned"}
		for range 2 { // doubled
			w.must(w.RefreshPayout(t.Context(), p.ID))
		}
		w.wantBalance(0, 9470, 0, 0)
		got := w.payout(p.ID)
		if got.Status != payout.Failed || !got.FailedAt.Equal(w.clock.Real()) ||
			!got.PaidAt.Equal(p.PaidAt) || got.StatementURL != p.StatementURL {
			t.Errorf("%+v", got)
		}
		w.must(w.RefreshPayout(t.Context(), "po_unknown"))
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Paid}
		second, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
		w.must(err)
		w.rail.findFails = ports.ErrProcessorUnavailable
		if err := w.RefreshPayout(t.Context(), second.ID); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Errorf("the rail is down: %v", err)
		}
		if got := w.payout(second.ID); got != second {
			t.Errorf("a rail that is down made it %+v", got)
		}
	})
}

func TestARefundOnItsWayIsNotPaidOut(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		sale := w.earn(10_000)
		first, err := w.refund(sale, 4000)
		w.must(err)
		w.wantBalance(0, 6000, 4000, 0)
		w.unchanged(sale, func() error {
			_, err := w.RequestPayout(t.Context(), creatorID, some(6001, ""))
			return err
		}, fault.InsufficientBalance)
		if p, err := w.RequestPayout(t.Context(), creatorID, all("eur")); err != nil || p.Amount.Minor != 6000 {
			t.Errorf("paid out %+v, %v; want 6000", p, err)
		}
		w.settleRefund(&first, true)
		w.wantBalance(0, 0, 0, 0)
	})
}

func TestARefundThatFailsIsAvailableAgain(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		refunded, err := w.refund(w.earn(10_000), 4000)
		w.must(err)
		w.settleRefund(&refunded, false)
		w.wantBalance(0, 10_000, 0, 0)
		pending := w.pay(5000, 0)
		if _, err := w.refund(pending, 1000); err != nil { // is taken from what is pending
			t.Fatal(err)
		}
		w.wantBalance(w.sale(pending).Pending.Minor, 10_000, 0, 0)
	})
}

func TestAPayoutIsAskedForOncePerKey(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		first, err := w.RequestPayout(t.Context(), creatorID, some(1000, "k1"))
		w.must(err)
		w.clock.Advance(day - time.Millisecond)
		again, err := w.RequestPayout(t.Context(), creatorID, some(1000, "k1"))
		if err != nil || again != first {
			t.Errorf("asked again: %+v, %v; want %+v", again, err, first)
		}
		if _, err := w.RequestPayout(t.Context(), creatorID, some(1001, "k1")); !fault.Is(err, fault.IdempotencyKeyMismatch) {
			t.Errorf("another amount: %v, want IDEMPOTENCY_KEY_MISMATCH", err)
		}
		other, err := w.RequestPayout(t.Context(), creatorID, some(1000, "k2"))
		if err != nil || other.ID == first.ID {
			t.Errorf("another key: %+v, %v", other, err)
		}
		w.clock.Advance(2 * time.Millisecond)
		later, err := w.RequestPayout(t.Context(), creatorID, some(1000, "k1"))
		if err != nil || later.ID == first.ID {
			t.Errorf("after a day: %+v, %v; want another payout", later, err)
		}
		w.wantBalance(0, 6470, 0, 0)
	})
}

// TestAPayoutSurvivesItsProcess ends the process around the call of the rail: the intent is committed, and the task
// finishes it.
func TestAPayoutSurvivesItsProcess(t *testing.T) {
	t.Parallel()
	for name, die := range map[string]func(r *rail, how func()){
		"before the rail has the request": func(r *rail, how func()) { r.before = how },
		"after the rail moved the money":  func(r *rail, how func()) { r.after = how },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachEngine(t, config, func(t *testing.T, w *fixture) {
				w.earn(9470)
				die(w.rail, fakes.Die)
				fakes.Dying(t, func() { _, _ = w.RequestPayout(context.Background(), creatorID, some(4000, "k1")) })
				die(w.rail, nil)
				w.wantBalance(0, 5470, 0, 4000)
				again, err := w.RequestPayout(t.Context(), creatorID, some(4000, "k1")) // the caller has no response
				if err != nil || again.Status != payout.Paid {
					t.Fatalf("asked again: %+v, %v", again, err)
				}
				w.clock.Advance(time.Minute)
				if n := w.work(); n != 0 {
					t.Errorf("%d tasks are left of what is settled", n)
				}
				w.wantBalance(0, 5470, 0, 0)
				if len(w.rail.moved) != 1 || len(w.payouts()) != 1 || len(fakes.Published[payout.PaidOut](w.bus)) != 1 {
					t.Errorf("the rail moved %v, %d payouts", w.rail.moved, len(w.payouts()))
				}
			})
		})
	}
}

func TestATaskFinishesALostPayout(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.rail.sendFails, w.rail.findFails = ports.ErrOutcomeUnknown, ports.ErrProcessorUnavailable
		p, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		if err != nil || p.Status != payout.Pending {
			t.Fatalf("%+v, %v; want it pending, because nobody knows", p, err)
		}
		w.wantBalance(0, 5470, 0, 4000)
		w.clock.Advance(24 * time.Second)
		if n := w.work(); n != 0 {
			t.Fatalf("%d tasks ran while the first call may still be under way", n)
		}
		w.clock.Advance(time.Second)
		task, ok := w.next()
		if !ok {
			t.Fatal("nothing finishes the payout")
		}
		if err := w.Payout(t.Context(), task); !errors.Is(err, ports.ErrProcessorUnavailable) {
			t.Errorf("the rail is down: %v", err)
		}
		w.wantBalance(0, 5470, 0, 4000)
		w.rail.findFails = nil // the response to Send is lost again, but Find responds
		w.must(w.Payout(t.Context(), task))
		w.wantBalance(0, 5470, 0, 0)
		err = w.do(func(ctx context.Context, r ports.Repos) error { return r.Tasks.Done(ctx, task) })
		if !errors.Is(err, ports.ErrFenced) {
			t.Errorf("the task is still there: %v", err)
		}
		if n := len(fakes.Published[payout.PaidOut](w.bus)); n != 1 || w.rail.calls != 3 {
			t.Errorf("reported %d times after %d calls", n, w.rail.calls)
		}
	})
}

func TestAPendingPayoutIsAskedAboutLessOften(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Pending}
		p, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		w.must(err)
		asked := w.clock.Real()
		w.clock.Advance(25 * time.Second)
		for _, after := range []time.Duration{37500 * time.Millisecond, 56250 * time.Millisecond} {
			if n := w.work(); n != 1 {
				t.Fatalf("%d tasks ran, want one", n)
			}
			w.clock.Set(asked.Add(after - time.Millisecond))
			if n := w.work(); n != 0 {
				t.Fatalf("asked before %s", after)
			}
			w.clock.Set(asked.Add(after))
		}
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Paid}
		if n := w.work(); n != 1 || w.payout(p.ID).Status != payout.Paid {
			t.Errorf("%d tasks ran; %+v", n, w.payout(p.ID))
		}
	})
}

func TestTwoWorkersFinishAPayoutOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Pending}
		p, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		w.must(err)
		w.clock.Advance(time.Minute)
		task, _ := w.next()
		w.rail.outcome = ports.PayoutOutcome{Status: payout.Paid}
		fenced := 0
		for err := range both(func() error { return w.Payout(context.Background(), task) }) {
			if errors.Is(err, ports.ErrFenced) {
				fenced++
			} else if err != nil {
				t.Error(err)
			}
		}
		if fenced != 1 {
			t.Errorf("%d runs were fenced, want one", fenced)
		}
		w.wantBalance(0, 5470, 0, 0)
		if got := w.payout(p.ID); got.Revision != 2 || len(w.entries(p.ID)) != 4 {
			t.Errorf("%+v with %d entries, want one settlement", got, len(w.entries(p.ID)))
		}
	})
}

func TestATaskOfASettledPayoutIsDone(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		p, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		w.must(err)
		for _, subject := range []string{p.ID, "po_unknown"} {
			w.must(w.do(func(ctx context.Context, r ports.Repos) error {
				return r.Tasks.Schedule(ctx, treasury.TaskPayout, subject, creatorID, w.clock.Real())
			}))
		}
		if n := w.work(); n != 2 || w.rail.calls != 1 {
			t.Errorf("%d tasks ran, the rail was called %d times; want 2 and once", n, w.rail.calls)
		}
		if got := w.payout(p.ID); got != p {
			t.Errorf("changed to %+v", got)
		}
	})
}

func TestPayoutsAtOnceSpendTheBalanceOnce(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		failed := 0
		ask := func() error { _, err := w.RequestPayout(context.Background(), creatorID, some(9000, "")); return err }
		for err := range both(ask) {
			if fault.Is(err, fault.InsufficientBalance) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != 1 || len(w.rail.moved) != 1 {
			t.Errorf("%d were refused, the rail moved %v; want one each", failed, w.rail.moved)
		}
		w.wantBalance(0, 470, 0, 0)
	})
}

func TestPayoutsAreTheirAccountsOwn(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		w.earn(9470)
		var made []string
		for range 3 {
			p, err := w.RequestPayout(t.Context(), creatorID, some(1000, ""))
			w.must(err)
			made = append(made, p.ID)
		}
		var read []string
		page := ports.Page{Limit: 2}
		for range 2 {
			list, err := w.ListPayouts(t.Context(), creatorID, "", page)
			w.must(err)
			for _, p := range list.Items {
				read = append(read, p.ID)
				if p.StatementURL == "" {
					t.Errorf("%s has no statement", p.ID)
				}
			}
			page.After = list.Next
		}
		slices.Reverse(made)
		if !slices.Equal(read, made) || page.After != (ports.Cursor{}) {
			t.Errorf("read %v, want %v", read, made)
		}
		_, err := w.GetPayout(t.Context(), otherID, made[0])
		refused(t, err, fault.NotFoundCode)
		_, err = w.GetPayout(t.Context(), creatorID, "po_unknown")
		refused(t, err, fault.NotFoundCode)
		_, _, err = w.Statement(t.Context(), otherID, made[0])
		refused(t, err, fault.NotFoundCode)
		if list, err := w.ListPayouts(t.Context(), otherID, "", ports.Page{Limit: 9}); err != nil ||
			len(list.Items) != 0 {
			t.Errorf("another account sees %v, %v", list.Items, err)
		}
	})
}

func TestAStatementRunsFromPayoutToPayout(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		first := w.pay(12_000, 2000)
		half, err := w.refund(first, 6000)
		w.must(err)
		w.settleRefund(&half, true) // 5000 less of what is released
		w.clock.Advance(7 * day)
		w.work()
		before, err := w.RequestPayout(t.Context(), creatorID, some(4000, ""))
		w.must(err)
		w.earn(9470)
		rest, err := w.refund(first, 0)
		w.must(err)
		w.settleRefund(&rest, true)
		p, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
		w.must(err)

		for _, c := range []struct {
			payout           payout.State
			opening, closing string
			kinds            []string
		}{
			{before, "0", "370", []string{"release", "payout_requested"}},
			{p, "370", "0", []string{"release", "refund", "payout_requested"}},
		} {
			name, text, err := w.Statement(t.Context(), creatorID, c.payout.ID)
			w.must(err)
			rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			if err != nil || name != "statement-"+c.payout.ID+".csv" || len(rows) != 2+len(c.kinds) {
				t.Fatalf("%s: %v, %v", name, rows, err)
			}
			if rows[1][1] != "opening_balance" || rows[1][9] != c.opening || rows[len(rows)-1][9] != c.closing {
				t.Errorf("opening %v, last %v", rows[1], rows[len(rows)-1])
			}
			for i, kind := range c.kinds {
				if rows[2+i][1] != kind || rows[2+i][10] != "eur" {
					t.Errorf("row %d is %v, want %s", i, rows[2+i], kind)
				}
			}
			if last := rows[len(rows)-1]; last[3] != c.payout.ID || last[8] != "-"+strconv.FormatInt(c.payout.Amount.Minor, 10) {
				t.Errorf("the last row is %v", last)
			}
		}
		_, text, err := w.Statement(t.Context(), creatorID, before.ID)
		w.must(err)
		explained := ",release,payment," + first + ",12000,2000,630,5000,4370,4370,eur\n"
		if !strings.Contains(string(text), explained) {
			t.Errorf("the statement does not explain the sale:\n%s", text)
		}
		for id, want := range map[string]ledger.Statement{
			before.ID: {Opening: eur(0), Closing: eur(370), Lines: []ledger.StatementLine{
				{Key: "sales", Count: 1, Amount: eur(12_000)}, {Key: "sales_tax", Amount: eur(-2000)},
				{Key: "sales_fee", Amount: eur(-630)},
				{Key: "sales_returned", Amount: eur(-5000)},
			}},
			p.ID: {Opening: eur(370), Closing: eur(0), Lines: []ledger.StatementLine{
				{Key: "sales", Count: 1, Amount: eur(10_000)}, {Key: "sales_fee", Amount: eur(-530)},
				{Key: "refund", Count: 1, Amount: eur(-5000)},
			}},
		} {
			var got ledger.Statement
			w.must(w.do(func(ctx context.Context, r ports.Repos) (err error) {
				got, err = w.StatementOf(ctx, r, w.payout(id))
				return err
			}))
			if got.Opening != want.Opening || got.Closing != want.Closing || !slices.Equal(got.Lines, want.Lines) {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	})
}

// TestAStatementHasEveryEntry has more entries than are read at a time.
func TestAStatementHasEveryEntry(t *testing.T) {
	t.Parallel()
	forEachEngine(t, config, func(t *testing.T, w *fixture) {
		const entries = 501
		w.must(w.do(func(ctx context.Context, r ports.Repos) error {
			var all []ledger.Posting
			for n := range entries {
				p := ledger.NewPosting(ledger.SourceRefund, fmt.Sprint("ref_", n), ledger.KindRefundFailed,
					ledger.Debit(ledger.ProcessorClearing, eur(10)), ledger.Credit(ledger.CreatorAvailable, eur(10)))
				all = append(all, p.Booked(w.ids.New(id.LedgerEntry), creatorID, noon))
			}
			return r.Treasury.Ledger.Insert(ctx, all)
		}))
		p, err := w.RequestPayout(t.Context(), creatorID, all("eur"))
		w.must(err)
		_, text, err := w.Statement(t.Context(), creatorID, p.ID)
		w.must(err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if want := 2 + entries + 1; len(lines) != want || !strings.Contains(lines[want-2], ",5010,eur") {
			t.Errorf("%d lines, want %d; the last movement is %q", len(lines), want, lines[len(lines)-2])
		}
	})
}
