package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"sundry/tests/harness"
	"sundry/tests/testdb"
)

const week = 7 * 24 * 3600

// book is a published DIGITAL listing at the given price.
func (w *fixture) book(t *testing.T, minor int64) harness.Listing {
	t.Helper()
	return w.Published(t, harness.JSON{"priceInCents": minor})
}

// sell sells a listing to a new buyer and returns the session and the receipt.
func (w *fixture) sell(
	t *testing.T, listing harness.Listing, card string, over harness.JSON,
) (harness.Session, harness.JSON) {
	t.Helper()
	session := w.NewSession(t, listing, "default", harness.Unique("user"), over)
	w.Pay(t, session, card).Want(t, 200)
	return session, w.Receipt(t, session)
}

// startOver makes the fixture that of a new account, whose clock can be moved by weeks with nothing else falling due.
func (w *fixture) startOver(t *testing.T) *fixture {
	t.Helper()
	*w = *newFixture(t, w.App)
	return w
}

// paid is a sale that can be paid out.
func (w *fixture) paid(t *testing.T) (payoutID string) {
	t.Helper()
	w.sell(t, w.book(t, 20000), harness.CardSucceeds, nil)
	w.advance(t, week)
	var made struct{ ID string }
	w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 1000}).Want(t, 201).Into(t, &made)
	return made.ID
}

func (w *fixture) advance(t *testing.T, seconds int64) {
	t.Helper()
	w.AsBackend(t, post, "/v1/sandbox/clock/advance", harness.JSON{"seconds": seconds}).Want(t, 200)
}

// balance is the account's balance in euro: pending, available, reserved, in transit.
func (w *fixture) balance(t *testing.T) [4]int64 {
	t.Helper()
	var got struct {
		Data []struct {
			Currency                                                            string
			PendingInCents, AvailableInCents, ReservedInCents, InTransitInCents int64
		}
	}
	w.AsBackend(t, get, "/v1/balance", nil).Want(t, 200).Into(t, &got)
	for _, b := range got.Data {
		if b.Currency == "eur" {
			return [4]int64{b.PendingInCents, b.AvailableInCents, b.ReservedInCents, b.InTransitInCents}
		}
	}
	return [4]int64{}
}

func (w *fixture) wantBalance(t *testing.T, when string, pending, available, reserved, inTransit int64) {
	t.Helper()
	if got := w.balance(t); got != [4]int64{pending, available, reserved, inTransit} {
		t.Errorf("%s the balance is %v, want %v", when, got, [4]int64{pending, available, reserved, inTransit})
	}
}

// posted sums the entries of a source by kind and account, and checks that each posting balances.
func (w *fixture) posted(t *testing.T, sourceID string) map[string]int64 {
	t.Helper()
	var got struct {
		Data []struct {
			PostingID, Kind, Account, SourceID string
			AmountInCents                      int64
		}
	}
	w.AsBackend(t, get, "/v1/ledger/entries?limit=100&sourceId="+sourceID, nil).Want(t, 200).Into(t, &got)
	legs, sums := map[string]int64{}, map[string]int64{}
	for _, e := range got.Data {
		if e.SourceID != sourceID {
			t.Errorf("an entry of %s among those of %s", e.SourceID, sourceID)
		}
		legs[e.Kind+" "+e.Account] += e.AmountInCents
		sums[e.PostingID] += e.AmountInCents
	}
	for posting, sum := range sums {
		if sum != 0 {
			t.Errorf("posting %s sums to %d", posting, sum)
		}
	}
	return legs
}

func wantLegs(t *testing.T, got, want map[string]int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("posted %v, want %v", got, want)
		return
	}
	for leg, amount := range want {
		if got[leg] != amount {
			t.Errorf("posted %v, want %v", got, want)
			return
		}
	}
}

func TestASaleIsReleasedAfterSevenDaysAndPaidOut(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.wantBalance(t, "before any sale", 0, 0, 0, 0)
		_, receipt := w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		paymentID, _ := receipt["paymentId"].(string)
		sale := map[string]int64{
			"sale processor_clearing": 10000, "sale platform_fee": -500, "sale creator_pending": -9500,
			"processor_fee processor_fee": 175, "processor_fee processor_clearing": -175,
		}
		wantLegs(t, w.posted(t, paymentID), sale)
		w.wantBalance(t, "after the sale", 9500, 0, 0, 0)
		w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur"}).Refuses(t, 409, "INSUFFICIENT_BALANCE")
		w.advance(t, week-60)
		w.wantBalance(t, "just before seven days", 9500, 0, 0, 0)
		w.advance(t, 120)
		w.wantBalance(t, "after seven days", 0, 9500, 0, 0)
		sale["release creator_pending"], sale["release creator_available"] = 9500, -9500
		wantLegs(t, w.posted(t, paymentID), sale)

		w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 9501}).Refuses(
			t, 409, "INSUFFICIENT_BALANCE",
		)
		w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 999}).Refuses(t, 400,
			"VALIDATION_FAILED")
		w.wantBalance(t, "after refused payouts", 0, 9500, 0, 0)
		first := w.Once(t, "payout-1", post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 5000}).
			Want(t, 201).Map(t)
		if first["status"] != "paid" {
			t.Errorf("payout %v", first)
		}
		again := w.Once(t, "payout-1", post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 5000}).
			Want(t, 201).Map(t)
		if again["id"] != first["id"] {
			t.Errorf("the same key made %v and %v", first["id"], again["id"])
		}
		w.wantBalance(t, "after a payout", 0, 4500, 0, 0)
		failed := w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 1313}).
			Want(t, 201).Map(t)
		if failed["status"] != "failed" || failed["failureReason"] != "account_closed" {
			t.Errorf("payout %v", failed)
		}
		w.wantBalance(t, "after a failed payout", 0, 4500, 0, 0)
		rest := w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur"}).Want(t, 201).Map(t)
		w.wantBalance(t, "after everything was paid out", 0, 0, 0, 0)

		restID, _ := rest["id"].(string)
		statement := string(w.AsBackend(t, get, "/v1/payouts/"+restID+"/statement", nil).Want(t, 200).Body)
		lines := strings.Split(strings.TrimSpace(statement), "\n")
		if !strings.HasSuffix(lines[len(lines)-1], ",-4500,0,eur") || !strings.Contains(lines[len(lines)-1], restID) {
			t.Errorf("statement:\n%s", statement)
		}
		other := newFixture(t, app)
		other.AsBackend(t, get, "/v1/payouts/"+restID, nil).Refuses(t, 404, "NOT_FOUND")
		other.AsBackend(t, get, "/v1/payouts/"+restID+"/statement", nil).Refuses(t, 404, "NOT_FOUND")
		if legs := other.posted(t, paymentID); len(legs) != 0 {
			t.Errorf("another account sees %v", legs)
		}
	})
}

func TestParallelPayoutsNeverTakeMoreThanIsAvailable(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		w.advance(t, week)
		statuses := make(chan int, 12)
		for range cap(statuses) {
			go func() {
				statuses <- w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur", "amountInCents": 3000}).Status
			}()
		}
		paid := 0
		for range cap(statuses) {
			if <-statuses == 201 {
				paid++
			}
		}
		if paid != 3 {
			t.Errorf("%d payouts of 3000 came out of 9500", paid)
		}
		w.wantBalance(t, "afterwards", 0, 500, 0, 0)
	})
}

func TestLedgerEntriesPageNewestFirst(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		for range 3 {
			w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		}
		var all []string
		for query := "?limit=4"; query != ""; {
			var p page
			w.AsBackend(t, get, "/v1/ledger/entries"+query, nil).Want(t, 200).Into(t, &p)
			for _, entry := range p.Data {
				all = append(all, entry.ID)
			}
			if query = ""; p.NextCursor != nil {
				query = "?limit=4&cursor=" + *p.NextCursor
			}
		}
		if len(all) != 15 || !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%d entries: %v", len(all), all)
		}
	})
}

// The platform fee is as configured, and never more than the sale.
func TestThePlatformFeeIsConfiguredAndBounded(t *testing.T) {
	t.Parallel()
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		w := newFixture(t, harness.New(t, engine, map[string]string{
			"PLATFORM_FEE_BASIS_POINTS": "250", "PLATFORM_FEE_FIXED": "50",
		}))
		_, large := w.sell(t, w.book(t, 10000), harness.CardSucceeds, nil)
		_, small := w.sell(t, w.book(t, 40), harness.CardSucceeds, nil)
		if fee := w.posted(t, text(t, large["paymentId"]))["sale platform_fee"]; fee != -300 {
			t.Errorf("the fee of 100.00 is %d", fee)
		}
		if fee := w.posted(t, text(t, small["paymentId"]))["sale platform_fee"]; fee != -40 {
			t.Errorf("the fee of 0.40 is %d", fee)
		}
		verified(t, w.App)
	})
}

// A sale's line in a statement explains its amount, also when a part of it was returned before it became available.
func TestAStatementExplainsEachAmount(t *testing.T) {
	t.Parallel()
	harness.Each(t, func(t *testing.T, app *harness.App) {
		w := newFixture(t, app)
		_, receipt := w.sell(t, w.book(t, 11900), harness.CardSucceeds, harness.JSON{
			"customer": harness.JSON{"country": "DE"},
		})
		paymentID := text(t, receipt["paymentId"])
		w.refund(t, paymentID, 2380).Want(t, 201)
		w.advance(t, week+1)
		payoutID := text(
			t, w.AsBackend(t, post, "/v1/payouts", harness.JSON{"currency": "eur"}).Want(t, 201).Map(t)["id"],
		)
		lines := strings.Split(
			string(w.AsBackend(t, get, "/v1/payouts/"+payoutID+"/statement", nil).Want(t, 200).Body), "\n",
		)
		if !strings.HasSuffix(lines[0], ",saleTotalInCents,saleTaxInCents,platformFeeInCents,returnedInCents,amountInCents,balanceInCents,currency") || lines[1] != ",opening_balance,,,,,,,,0,eur" {
			t.Errorf("%q", lines[:2])
		}
		// 119.00 with 19.00 of tax and a fee of 5.95; of the 23.80 that went back, 3.80 were tax.
		if !strings.HasSuffix(lines[2], ",release,payment,"+paymentID+",11900,1900,595,2000,7405,7405,eur") {
			t.Errorf("%q", lines[2])
		}
		if !strings.HasSuffix(lines[3], ",payout_requested,payout,"+payoutID+",,,,,-7405,0,eur") {
			t.Errorf("%q", lines[3])
		}
	})
}
