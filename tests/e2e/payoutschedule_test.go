package e2e_test

import (
	"testing"
	"time"

	"sundry/tests/harness"
)

// listedPayout is a payout as the list shows it.
type listedPayout struct {
	Status, Currency string
	AmountInCents    int64
	CreatedAt        time.Time
}

func (w *fixture) payouts(t *testing.T) []listedPayout {
	t.Helper()
	var list struct{ Data []listedPayout }
	w.AsBackend(t, get, "/v1/payouts?limit=100", nil).Want(t, 200).Into(t, &list)
	return list.Data
}

func TestAScheduleOfPayoutsPaysEachDayOnce(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		if creator := w.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t); creator["payoutSchedule"] != "manual" {
			t.Errorf("at first: %v", creator["payoutSchedule"])
		}
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "yearly"}).Refuses(
			t, 400, "VALIDATION_FAILED", "payoutSchedule",
		)
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": nil}).Refuses(
			t, 400, "VALIDATION_FAILED", "payoutSchedule",
		)
		if set := w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "daily"}).
			Want(t, 200).Map(t); set["payoutSchedule"] != "daily" {
			t.Errorf("set: %v", set["payoutSchedule"])
		}

		_, dear := w.sell(t, w.book(t, 20000), harness.CardSucceeds, nil)
		w.advance(t, week-3600)
		if got := w.payouts(t); len(got) != 0 {
			t.Fatalf("paid out while pending: %+v", got)
		}
		w.advance(t, 2*24*3600)
		got := w.payouts(t)
		if len(got) != 1 || got[0].AmountInCents != 19000 || got[0].Status != "paid" || got[0].CreatedAt.Hour() != 0 ||
			got[0].CreatedAt.Minute() != 0 {
			t.Fatalf("%+v", got)
		}
		w.wantBalance(t, "after the payout", 0, 0, 0, 0)
		if n := w.events(t, "payout.paid"); n != 1 {
			t.Errorf("%d payout.paid", n)
		}

		w.sell(t, w.book(t, 1000), harness.CardSucceeds, nil) // below the minimum once the fee is off
		w.advance(t, 9*24*3600)
		if got := w.payouts(t); len(got) != 1 {
			t.Errorf("below the minimum: %+v", got)
		}
		w.refund(t, text(t, dear["paymentId"]), 0).Want(t, 201) // now the balance is negative
		w.advance(t, 2*24*3600)
		if got := w.payouts(t); len(got) != 1 {
			t.Errorf("below zero: %+v", got)
		}

		w.sell(t, w.book(t, 40000), harness.CardSucceeds, nil)
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "manual"}).Want(t, 200)
		w.advance(t, 9*24*3600)
		if got := w.payouts(t); len(got) != 1 {
			t.Errorf("on request only: %+v", got)
		}
		w.AsCreator(t, patch, "/v1/creator", JSON{"payoutSchedule": "weekly"}).Want(t, 200)
		w.advance(t, week)
		if got := w.payouts(t); len(got) != 2 || got[0].CreatedAt.Weekday() != time.Monday ||
			got[0].AmountInCents != 40000-2000+950-20000 {
			t.Errorf("weekly: %+v", got)
		}
		verified(t, app)
	})
}

func TestTheScheduleOfPayoutsIsChosenInTheDashboard(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		a := app.NewAccount(t)
		v := a.Visit(t)
		v.Open(t, "/dashboard/balance")
		if page := v.Send(t, "/dashboard/balance/schedule", "payoutSchedule", "monthly"); page.Status != 200 {
			t.Errorf("%d: %s", page.Status, page.Body)
		}
		if creator := a.AsCreator(t, get, "/v1/creator", nil).Want(t, 200).Map(t); creator["payoutSchedule"] != "monthly" {
			t.Errorf("%v", creator["payoutSchedule"])
		}
	})
}
